// vocabulary-parallel: the output layer is cut along the vocabulary over all devices. Every device runs two passes of
// its shard per microbatch, S (logits, local maximum and sum) and T (gradients), between barriers over all devices.
//
//     1f1b, p = 2, one barrier       0F0 0F1 0F2 0S0 0T0 0B0 ...       the last stage's B0 waits for S0 of both
//     devices,
//                                    1F0 1S0 1F1 1B0 1S1 1T0 ...       so every device holds one microbatch more
//
// Yeung, Qi, Lin, Wan, Balancing Pipeline Parallelism with Vocabulary Parallelism, arXiv 2411.05288.
#pragma once

#include "schedules/transforms/contract.hpp"

namespace debubble {

[[nodiscard]] const TransformEntry& vocabulary_parallel_entry();

}  // namespace debubble
