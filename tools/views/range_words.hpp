// The range of a modelled step time in words, with what it comes from.
#pragma once

#include <string>

#include "sim/analysis/report.hpp"

namespace debubble {

// "2.380 to 2.660 s for 80 of 100 measured steps"
[[nodiscard]] std::string range_interval(const StepRange& range);

// "scatter of products in bf16 61 % of the step x 4.1 %, ..., runs 2.8 %; ends from 149 published records"
[[nodiscard]] std::string range_reason(const StepRange& range);

}  // namespace debubble
