// Posting: what transfers and cells wait for beside makers and inputs, where transfers hold no lanes but are not posted
// at once: late and joined (sim/core/p2p.hpp).
//
// Late: as PyTorch's multi-stage runtime has it. Turn by turn each device appends what comes next in its row when its
// inputs are there; what it sends is received at the end of what the receiver has appended by then, often long before
// its use. Gathering a stage's weights, giving them back and summing its gradients are turns of their own. For GPipe
// and LoopedBFS a message begins no earlier than if it were received directly before its op, as they do.
//
//     device 0  0F0  0F1  0B0  0B1        the receive of 0B0 is posted before 0F1 if device 1 ran 1B0 by then, else
//     device 1       1F0  1B0  1F1  1B1   before 0B0 itself
//
// After `_add_send_recv` of torch/distributed/pipelining/schedules.py (2.13 to 2.15).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/p2p.hpp"
#include "sim/core/timeline.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble {

struct Posting {
  // By id of an op: the id of the op (the first of its cell) before which the receive of its input is posted, at most
  // the op's own cell; its own id where nothing comes from another device.
  std::vector<std::int32_t> posted;
  // By id of an op, the first of its cell: the ops whose outputs' transfers the cell waits for in addition to its own
  // inputs. Empty: none does.
  std::vector<std::vector<std::int32_t>> awaited;
};

// Late. Schedule::receives where the schedule says it, which must have an entry for each op. Of a schedule that
// deadlocks, ops that never run have their own ids.
[[nodiscard]] std::vector<std::int32_t> posted_receives(const OpIndex& ops);

// Of late or joined transfers. Throws InputError X013 where transfers are joined and the order is none that has such
// exchanges (joined_exchanges.hpp).
[[nodiscard]] Posting posting_of(const OpIndex& ops, P2p p2p);

// The same in the numbers of a run of that schedule.
struct SpanPosting {
  std::vector<std::int32_t> in_front;  // by transfer: the span after which its receive is posted; -1: nothing is
  std::vector<std::pair<std::int32_t, std::int32_t>> awaited;  // a span, and a transfer that it waits for
};
[[nodiscard]] SpanPosting span_posting(const OpIndex& ops, P2p p2p, const Timeline& timeline);

}  // namespace debubble
