// Rows and names of what every framework may refuse of a run: schedules, parameters, recomputation by stages, orders of
// ranks.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/rules/framework_rule.hpp"

namespace debubble {

inline constexpr const char* kUnknownSchedule = "UNKNOWN_SCHEDULE";

// These rows are about runs, and no file has words for them.
void mark_of_run(std::vector<FrameworkRule>& rows, std::size_t from);
void add_run_rules(std::vector<FrameworkRule>& rows);
void add_run_facts(std::vector<RuleFact>& facts);

}  // namespace debubble
