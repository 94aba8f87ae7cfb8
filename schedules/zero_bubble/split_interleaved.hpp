// The order that PyTorch's interleaved zero bubble and GIS share: interleaved 1F1B with a split backward and the
// shortest warm-up.
//
//     groups of g microbatches pass through chunk 0, chunk 1, ...; device d warms up with (v-1)g + p-1-d forwards, then
//     F I, F I, ...; each I is followed by the oldest W that has waited for `delay` more I's
//
// Where g does not divide m, the order is that of the next multiple of g, without the microbatches beyond m.
#pragma once

#include <vector>

#include "sim/core/op.hpp"

namespace debubble {

struct SplitInterleaved {
  int devices = 1;
  int chunks = 2;
  int microbatches = 1;
  int group = 1;
};

// The row of `device`; it holds back `delay` weight gradients until its last I.
[[nodiscard]] std::vector<Op> split_interleaved_row(const SplitInterleaved& shape, int device, int delay);

}  // namespace debubble
