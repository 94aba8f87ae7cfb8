// Spelling help: the known name closest to what someone typed.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace debubble {

// The candidate with the fewest edits from `typed`, or "" when none is close enough to be what was meant.
[[nodiscard]] std::string closest_name(std::string_view typed, std::span<const std::string> candidates);

}  // namespace debubble
