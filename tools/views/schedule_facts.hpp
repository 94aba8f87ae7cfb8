// What the catalog says of a schedule, as labelled lines for people: the same facts in `list`, `explain` and the
// manual.
//
//     needs      splits the backward
//     makespan   m(f + i + w) + (p - 1)(f + i - w)
//     certainty  reproduced: the paper's orders and rates
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "schedules/common/contract.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// Label and text, in the order in which people ask. Facts that a schedule lacks (no closed form) are left out.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> schedule_facts(const ScheduleEntry& entry);

// The facts as a table under the name, for a terminal.
[[nodiscard]] std::string schedule_facts_text(const ScheduleEntry& entry, const ViewStyle& style);

// The letters that formulas and constraints use, one line: "p devices, m microbatches, ...".
[[nodiscard]] std::string formula_letters();

}  // namespace debubble
