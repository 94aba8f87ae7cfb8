// Where none of the compared runs fits: which lacks least, and what would make it fit.
#pragma once

#include <optional>
#include <vector>

#include "studies/compare/contender.hpp"

namespace debubble {

// The index of the run that lacks least memory, or is least beyond the limit, among those that take at most twice as
// long as the fastest (one microbatch at a time nearly always needs least). None where a run has no error, or none
// lacks memory.
[[nodiscard]] std::optional<std::size_t> nearest_to_fit(const std::vector<Contender>& contenders);

// What would make it fit, each simulated, in its report. Nothing is tried for a limit that the user set, and on other
// terms than equal devices.
void try_remedies(const Scenario& scenario, const Terms& terms, Contender& contender, Progress& progress);

}  // namespace debubble
