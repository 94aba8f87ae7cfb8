// What the lint of traces found, file by file.
#pragma once

#include <string>
#include <vector>

#include "formats/exporters/report_json.hpp"
#include "formats/lint/trace_lint.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string trace_lint_text(const std::vector<TraceLint>& lints, const ViewStyle& style);
[[nodiscard]] std::string trace_lint_json(const std::vector<TraceLint>& lints, const ToolFacts& tool);

}  // namespace debubble
