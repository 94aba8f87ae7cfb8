// PlanRow: the runs that a plan lists, and what sets each apart from the best.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "studies/plan/evaluation.hpp"

namespace debubble {

struct PlanRow {
  PlannedRun run;
  // By how much the slower of it and the best must be slower to be told apart, as a share; nothing: it is the best, or
  // no range is known.
  std::optional<double> needed;
  std::string unrecorded;  // unrecorded_part

  // Whether measured runs may rank the two the other way round.
  [[nodiscard]] bool is_close_to(const PlannedRun& best) const;
};

// One that is faster than the best, and not the best.
struct PassedOver {
  PlannedRun run;
  std::string why;
};

// What of it no published or recorded run has that the model is compared with (docs/accuracy.md): "zb-v", "ZeRO-3 with
// a pipeline"; empty: each part of it is in one.
[[nodiscard]] std::string unrecorded_part(const PlanChoice& choice);

// Of runs, best first, those that a person would choose between, at most so many: beside those above it each is another
// split over the GPUs or ZeRO stage, takes a tenth less memory, or is simpler to set up.
[[nodiscard]] std::vector<PlannedRun> runs_to_list(const std::vector<PlannedRun>& runs, std::size_t most);

}  // namespace debubble
