// Where one rank ran forwards and backwards, by its host's ranges.
//
// By name where ranges name them (range_words.hpp). Otherwise by autograd: host ops that made a node of its graph, in a
// row, are a forward; nodes at work, in a row, are a backward. A send, a receive, the optimizer or an op of the other
// kind ends a row. Which ops made nodes is known by sequence numbers, or, where the recording has none, by their names:
// aten::addmm makes AddmmBackward0. An op carries the number of the next node of its thread, whether it makes it or not
// (aten::div_ of a gradient does not): the last one with a number made the node.
#pragma once

#include <vector>

#include "formats/importers/recovery/rank_events.hpp"
#include "sim/core/op.hpp"

namespace debubble {

struct FoundOp {
  OpKind kind = OpKind::kForward;  // or kBackward
  Nanoseconds begin = 0;           // on the host, by the file's clock
  Nanoseconds end = 0;
  std::int32_t microbatch = -1;  // by its name; later, by split_iterations
  std::int32_t of_forward = -1;  // of a backward: the forward whose nodes ran, as place in `ops`; -1: unknown
  std::int32_t step = -1;        // by split_iterations; -1: of no whole iteration
  std::uint32_t lane = 0;        // thread
  bool named = false;            // by a range
  Nanoseconds held_until = 0;    // as in ThreadOp
};

struct FoundOps {
  std::vector<FoundOp> ops;  // by begin
  bool forward_named = false;
  bool backward_named = false;
  bool by_sequence = false;  // where autograd was used: else by names of ops
};

// No ops where nothing tells them.
[[nodiscard]] FoundOps find_ops(const RankEvents& events);

}  // namespace debubble
