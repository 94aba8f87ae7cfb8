// The rules of all frameworks: import, --runs-in, plan and export refuse by them (run_rules.hpp), and `debubble explain
// framework NAME` prints them.
#pragma once

#include <string_view>
#include <vector>

#include "formats/rules/framework_rule.hpp"

namespace debubble {

// By name.
[[nodiscard]] const std::vector<FrameworkRules>& framework_rules();
// Nothing of that name: null.
[[nodiscard]] const FrameworkRules* rules_of_framework(std::string_view name);
// "Megatron-LM".
[[nodiscard]] const FrameworkRules* rules_titled(std::string_view title);

}  // namespace debubble
