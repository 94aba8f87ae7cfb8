// How the coverage of ranges is shown: below the accuracy's text, and in its JSON.
#pragma once

#include <string>

#include "formats/json/json.hpp"
#include "studies/accuracy/ranges.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// "" without records.
[[nodiscard]] std::string ranges_text(const JudgedRanges& ranges, const ViewStyle& style);
[[nodiscard]] Json ranges_json_of(const JudgedRanges& ranges);

}  // namespace debubble
