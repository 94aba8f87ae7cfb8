// Findings as sentences and as JSON.
#pragma once

#include <string>

#include "formats/json/json.hpp"
#include "sim/analysis/finding.hpp"
#include "sim/analysis/report.hpp"

namespace debubble {

// What to do about it; empty where nothing is known. The finding is one of the report's, which has facts of some.
[[nodiscard]] std::string finding_help(const Finding& finding, const Report& report);
// What was found, one sentence without full stop, and the help: "message; help".
[[nodiscard]] std::string finding_text(const Finding& finding, const Report& report);

// {"severity": "error", "code": "X020", "message": "...; help", "arguments": {"device": 0, "peak_bytes": 1024, ...}}
[[nodiscard]] Json finding_json(const Finding& finding, const Report& report);

}  // namespace debubble
