// How plans against published layouts are shown: as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "studies/accuracy/published_plans.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string plans_text(const std::vector<PlannedSource>& sources, const ViewStyle& style);
[[nodiscard]] std::string plans_json(const std::vector<PlannedSource>& sources, const std::string& command_line);

}  // namespace debubble
