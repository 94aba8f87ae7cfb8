// How the coverage of ranges is shown: below the accuracy's text, as a section of its page, in its JSON.
#pragma once

#include <string>

#include "formats/json/json.hpp"
#include "studies/accuracy/ranges.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// "" without records.
[[nodiscard]] std::string ranges_text(const JudgedRanges& ranges, const ViewStyle& style);
[[nodiscard]] std::string ranges_section(const JudgedRanges& ranges);
[[nodiscard]] Json ranges_json_of(const JudgedRanges& ranges);

}  // namespace debubble
