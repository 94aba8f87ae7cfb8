// The explanation table: which rule put which kernels into which layer and phase.
//
//     share        time  count  layer    phase  rule     kernel
//     41.2 %  812.40 ms  19200  block.3  F      forward  ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_...
#pragma once

#include <span>
#include <string>

#include "profiler/attribution/attribution.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// One line per explanation, the longest time first; a kernel's name is cut where the line ends. Ends with the sum,
// which is all GPU time there was.
[[nodiscard]] std::string explanation_view(std::span<const Explanation> explanations, const ViewStyle& style,
                                           bool on_cpu = false);

// The same, whole names, as {"explanations": [{"layer", "phase", "rule", "kernel", "count", "total_ns"}], "total_ns"}.
[[nodiscard]] std::string explanation_json(std::span<const Explanation> explanations);

}  // namespace debubble
