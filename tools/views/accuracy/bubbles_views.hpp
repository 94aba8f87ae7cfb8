// How measured bubbles and their predictions are shown: as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "studies/accuracy/bubbles.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string bubbles_text(const std::vector<JudgedRun>& runs, const MeasuredList& list,
                                       const ViewStyle& style);
// `debubble.bubbles/1`.
[[nodiscard]] std::string bubbles_json(const std::vector<JudgedRun>& runs, const MeasuredList& list,
                                       const std::string& command_line);

}  // namespace debubble
