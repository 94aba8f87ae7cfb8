// The range of a modelled step time in words, with what it comes from.
#pragma once

#include <string>

#include "sim/analysis/report.hpp"

namespace debubble {

// "2.380 to 2.660 s in 80 of 100 runs, by what measurements scatter: products in bf16 61 % of the step x 4.1 %, ...".
// `report` must have a range.
[[nodiscard]] std::string range_words(const Report& report);

}  // namespace debubble
