// What PyTorch's runtime makes of a compute-only table: the table with communication that it runs.
//
//     0F0,0F1,0B0,0B1    ->  0UNSHARD,0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1,0REDUCE_GRAD,0RESHARD
//     1F0,1B0,1F1,1B1        1UNSHARD,1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1,1REDUCE_GRAD,1RESHARD
//
// After torch/distributed/pipelining/schedules.py of 2.13, the same in 2.14; 2.15 adds waits. A receive is placed where
// the sender ran, often long before its use: the runtime starts it there and waits for it at its consumer. Devices are
// the ranks, rows their orders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/exchange/compute_table_cells.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

enum class TorchRelease : std::uint8_t { k2_13, k2_15 };
inline constexpr TorchRelease kNewestTorch = TorchRelease::k2_15;

// The rows of a schedule, cell by cell, without idle cells.
[[nodiscard]] ActionTable action_table(const Schedule& schedule);

// The device of each stage. Throws InputError T054 when a stage is on several: PyTorch keeps each on one rank. `place`
// is the error's.
[[nodiscard]] std::vector<std::int32_t> devices_of_stages(const Schedule& schedule, const std::string& place);

// The loader's passes, in their order. The first drops idle cells.
//
// Weights: ahead of each cell the next stages to come, three at most, are gathered, and those that are not among them
// given back, lower stages first; since 2.15 in the order in which they were gathered.
[[nodiscard]] ActionTable add_unshard_reshard(const ActionTable& table, TorchRelease release);
// Gradients of a stage: summed over its replicas after its last B or W, the `microbatches`-th, and since 2.15 waited
// for at once.
[[nodiscard]] ActionTable add_reduce_grad(const ActionTable& table, int microbatches, TorchRelease release);
// Transfers: turn by turn each device appends its next cell, when its inputs are there; what it sends comes after it
// and, in the same moment, at the end of the receiver's row. An idle cell takes a turn, so it moves receives. Numbers
// must be in range. Throws InputError T011 when no device can go on: the order deadlocks.
[[nodiscard]] ActionTable add_send_receive(const ActionTable& table, const std::vector<std::int32_t>& device_of);

// Since 2.15: each send of a forward is waited for after that stage's backward of it, others at the end.
[[nodiscard]] ActionTable add_send_waits(const ActionTable& table);

// All of a release. `place` is that of errors: T054, T011.
[[nodiscard]] ActionTable lower_as_pytorch(const Schedule& schedule, const std::string& place,
                                           TorchRelease release = kNewestTorch);

// Where a table with transfers posts the receive of each op's input: Schedule::receives of the schedule that is its
// compute.
[[nodiscard]] std::vector<std::vector<std::int32_t>> receives_of(const ActionTable& table, const Schedule& schedule);

// I directly followed by W of the same microbatch becomes B. PyTorch applies it before writing a table, not on loading.
// Drops idle cells.
[[nodiscard]] ActionTable merge_backward_halves(const ActionTable& table);

// How many steps PyTorch's dry run (`_simulate_comms_compute`) of a table with transfers takes when each action takes
// one. Idle cells do not count. Throws InputError T011 when it cannot end, and T054 for what the dry run does not
// know: UNSHARD, RESHARD, REDUCE_GRAD and overlapped pairs.
[[nodiscard]] int dry_run_steps(const ActionTable& table, const std::vector<std::int32_t>& device_of);

}  // namespace debubble
