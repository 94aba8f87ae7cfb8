// A diff for programs: docs/diff.schema.json, and a table of its numbers.
#pragma once

#include <string>

#include "formats/exporters/report_json.hpp"
#include "studies/diff/diff.hpp"

namespace debubble {

[[nodiscard]] std::string diff_json(const Diff& diff, const ToolFacts& tool);

// "quantity,device,unit,predicted,measured,gap,p10,p90": the figures, then what explains the gap.
[[nodiscard]] std::string diff_csv(const Diff& diff);

}  // namespace debubble
