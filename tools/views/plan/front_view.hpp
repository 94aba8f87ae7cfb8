// The front of step time against memory: a chart, and what each step along it changes.
//
//     memory
//     70.2 GiB |a
//              |  b
//              |      c          d
//     8.31 GiB |                       e
//              +-------------------------
//               47.69 s            90.11 s
#pragma once

#include <cstddef>
#include <string>

#include "studies/plan/plan.hpp"

namespace debubble {

// How it stands with the proof: "whatever is not on it ...".
[[nodiscard]] std::string front_certainty(const PlanFront& front);

// Chart and table, each line ended; a front with points.
[[nodiscard]] std::string front_view(const PlanFront& front, std::size_t width);

// The columns of plan_csv and whether the point is proven, one line for each; none where nothing was found.
[[nodiscard]] std::string front_csv(const Plan& plan);

}  // namespace debubble
