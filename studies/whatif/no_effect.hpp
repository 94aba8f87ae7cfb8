// Why a change made no difference: said in words, instead of two tables that are the same.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/report.hpp"
#include "studies/whatif/changes.hpp"

namespace debubble {

// Whether two runs are the same in all that is shown: step, memory, and what each device does and waits for.
[[nodiscard]] bool same_result(const Report& base, const Report& changed);

// One reason for each change of a run that stayed the same. `prepared` is the base, not simulated; `base` its report.
[[nodiscard]] std::vector<std::string> why_no_effect(const std::vector<NamedChange>& changes, const Scenario& scenario,
                                                     const Job& prepared, const Report& base);

}  // namespace debubble
