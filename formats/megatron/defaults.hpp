// What Megatron-LM takes where an argument is not given (its release: formats/rules/megatron.rules).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace debubble {

// By name without dashes.
[[nodiscard]] const std::vector<std::pair<std::string_view, std::string>>& megatron_defaults();
// Of one of those names.
[[nodiscard]] const std::string& megatron_default(std::string_view name);

}  // namespace debubble
