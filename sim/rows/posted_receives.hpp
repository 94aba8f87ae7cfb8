// Where in its device's row the receive of each op's input from another device is posted, where transfers are late.
//
// As PyTorch's multi-stage runtime has it: turn by turn each device appends what comes next in its row when its inputs
// are there; what it sends is received at the end of what the receiver has appended by then, often long before its use.
// Gathering a stage's weights, giving them back and summing its gradients are turns of their own. For GPipe and
// LoopedBFS a message begins no earlier than if it were received directly before its op, as they do.
//
//     device 0  0F0  0F1  0B0  0B1        the receive of 0B0 is posted before 0F1 if device 1 ran 1B0 by then, else
//     device 1       1F0  1B0  1F1  1B1   before 0B0 itself
//
// After `_add_send_recv` of torch/distributed/pipelining/schedules.py (2.13 to 2.15).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/timeline.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble {

// By id of an op: the id of the op (the first of its cell) before which the receive of its input is posted, at most the
// op's own cell; its own id where nothing comes from another device. Schedule::receives where the schedule says it,
// which must have an entry for each op. Of a schedule that deadlocks, ops that never run have their own.
[[nodiscard]] std::vector<std::int32_t> posted_receives(const OpIndex& ops);

// By transfer of a run of that schedule: the span after which its receive is posted; -1: nothing runs before.
[[nodiscard]] std::vector<std::int32_t> spans_in_front(const OpIndex& ops, const Timeline& timeline);

}  // namespace debubble
