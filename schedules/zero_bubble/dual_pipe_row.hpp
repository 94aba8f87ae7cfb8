// The row that DualPipe and DualPipeV share: eight phases over two stages of one device, a and b.
//
//     1 F of a alone   2 F of both   3 I W of b, F of b   4 [F a & B b] [F b & B a]   5 B b, [F b & B a]
//     6 B of both, from the middle on only I   7 W, I of a   8 the weight gradients that are left
//
// [X & Y] is an overlapped pair: one cell of its own duration. `rank` counts from the end where a's microbatches enter.
// Frameworks without such cells run the two in turn.
#pragma once

#include <vector>

#include "sim/core/op.hpp"

namespace debubble {

struct DualPipeShape {
  int half = 1;          // devices that a's microbatches pass before they turn, or meet the other direction
  int microbatches = 2;  // of each of the two stages; at least 2 * half
};

// What frameworks make of the eight phases.
struct DualPipeWays {
  bool split = true;            // some backwards as I and W; else all whole
  bool overlapped = true;       // pairs are cells of two
  bool backward_first = false;  // of a pair in turn; and of the weight gradients that wait the youngest runs first
};

// A stage of the device, and the number of its first microbatch.
struct DualPipeStage {
  int stage = 0;
  int first_microbatch = 0;
};

[[nodiscard]] std::vector<Op> dual_pipe_row(const DualPipeShape& shape, int rank, const DualPipeStage& a,
                                            const DualPipeStage& b, const DualPipeWays& ways = {});

}  // namespace debubble
