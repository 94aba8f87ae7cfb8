// The range of a modelled step time in words, with what it comes from.
#pragma once

#include <string>

#include "sim/analysis/report.hpp"

namespace debubble {

// "2.380 to 2.660 s for 80 of 100 measured steps, by scatter: products in bf16 61 % of the step x 4.1 %, ...".
// `report` must have a range.
[[nodiscard]] std::string range_words(const Report& report);

}  // namespace debubble
