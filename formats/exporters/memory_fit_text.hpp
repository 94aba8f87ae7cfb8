// The verdict on memory in words.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/report.hpp"

namespace debubble {

// "fits with 4.10 GiB to spare: d0 takes 74.9 GiB of 79.0 GiB (72.3 GiB allocated), most by 0F3 at 12.00 ms", or "out
// of memory: ...". The report has a memory_fit.
[[nodiscard]] std::string memory_fit_words(const Report& report);

// "12.0 GiB to spare, the step takes 20.1 % longer".
[[nodiscard]] std::string remedy_words(const MemoryFit& fit, Nanoseconds makespan, Nanoseconds before);

// "what would make it fit: ...; ...", or that nothing that was tried does.
[[nodiscard]] std::string remedies_words(const std::vector<std::string>& remedies);

}  // namespace debubble
