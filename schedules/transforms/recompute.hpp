// recompute (activation checkpointing): a stage keeps only the input of a microbatch and runs its forward again, R,
// before the backward.
//
//     1f1b, p = 2, device 0          0F0 0F1 0B0 0F2 0B1 0B2
//     when=late                      0F0 0F1 (0R0;0B0) 0F2 (0R1;0B1) (0R2;0B2)      R waits for the gradient, as B does
//     when=early                     0F0 0F1 0R0 0B0 0F2 0R1 0B1 0R2 0B2            R runs while the device would wait
//
// Chen et al., Training Deep Nets with Sublinear Memory Cost, arXiv 1604.06174; early R as in GPipe, arXiv 1811.06965;
// the window of microbatches as Megatron-LM has it.
#pragma once

#include "schedules/transforms/contract.hpp"

namespace debubble {

[[nodiscard]] const TransformEntry& recompute_entry();

}  // namespace debubble
