// KernelSpans: the kernels of a record file, in the order of their begin; for checks that look at single kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

struct KernelSpan {
  std::string name;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// Kernels without times are left out. Throws InputError like read_record_file.
[[nodiscard]] std::vector<KernelSpan> kernel_spans(const std::string& record_file);

// The largest number that divides every begin and end, counted from the first: the steps of the GPU's clock. 0: fewer
// than two times.
[[nodiscard]] Nanoseconds granularity(const std::vector<KernelSpan>& spans);

// From the end of each kernel to the begin of the next, where both have this name; sorted. A kernel of another name
// between them interrupts.
[[nodiscard]] std::vector<Nanoseconds> gaps(const std::vector<KernelSpan>& spans, const std::string& name);

}  // namespace debubble
