// What the gate found as JSON, the contract of `debubble check --format json`: docs/check.schema.json.
#pragma once

#include <string>

#include "formats/exporters/report_json.hpp"
#include "studies/check/result.hpp"

namespace debubble {

[[nodiscard]] std::string check_json(const CheckResult& result, const ToolFacts& tool);

}  // namespace debubble
