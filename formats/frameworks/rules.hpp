// The rules of all frameworks: import refuses by them, and `debubble explain framework NAME` prints them.
#pragma once

#include <string_view>
#include <vector>

#include "formats/rules/framework_rule.hpp"

namespace debubble {

// By name.
[[nodiscard]] const std::vector<FrameworkRules>& framework_rules();
// Nothing of that name: null.
[[nodiscard]] const FrameworkRules* rules_of_framework(std::string_view name);

}  // namespace debubble
