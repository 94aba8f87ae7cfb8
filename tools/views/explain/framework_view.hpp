// The rules of a framework, as `debubble explain framework NAME` prints them.
#pragma once

#include <string>

#include "formats/rules/framework_rules.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string framework_text(const FrameworkRules& rules, const ViewStyle& style);

}  // namespace debubble
