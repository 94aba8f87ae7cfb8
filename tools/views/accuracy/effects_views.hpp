// How each effect switched off alone is shown: as text, as the page docs/accuracy-effects.md, as `debubble.effects/1`.
#pragma once

#include <string>

#include "studies/accuracy/effects.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string effects_text(const JudgedEffects& judged, const ViewStyle& style);
[[nodiscard]] std::string effects_markdown(const JudgedEffects& judged);
[[nodiscard]] std::string effects_json(const JudgedEffects& judged, const std::string& command_line);

}  // namespace debubble
