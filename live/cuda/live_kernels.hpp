// The executor's own kernels (live/cuda/kernels/live.inc) as CUDA C++ text for NVRTC: stamps of the GPU's clock, chain
// values, payload checksums, and the gate.
#pragma once

#include <string>
#include <string_view>

namespace debubble::live {

[[nodiscard]] std::string_view live_kernel_text();  // as in the file
[[nodiscard]] std::string live_kernel_source();     // with CUDA's words before it

}  // namespace debubble::live
