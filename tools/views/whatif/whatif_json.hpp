// What-ifs as JSON (docs/whatif.schema.json) and CSV.
//
//     { "schema_version": 1, "tool": {...}, "command_line": "...", "changes": ["..."], "base": {report},
//       "changed": {report}, "difference": {...}, "alone": [...], "seeds": {...}, "sensitivity": {...},
//       "candidates": [...] }
//
// CSV has one table for everything: which part a row belongs to is in its first field.
#pragma once

#include <string>

#include "formats/exporters/report_json.hpp"
#include "studies/whatif/result.hpp"

namespace debubble {

[[nodiscard]] std::string whatif_json(const WhatIfResult& result, const ToolFacts& tool);
[[nodiscard]] std::string whatif_csv(const WhatIfResult& result);

}  // namespace debubble
