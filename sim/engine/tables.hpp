// What a Program's cells and channels cost under given StageCosts and Topology. Internal to sim/engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/stage_costs.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/program.hpp"

namespace debubble {

struct CellCost {
  Nanoseconds duration = 0;
  Nanoseconds input_delay = 0;  // of its (first) input from another device, where transfers overlap
  Bytes at_begin = 0;           // activations allocated
  Bytes at_end = 0;             // change of activations and of what is held for W: newly held less freed
  Bytes workspace = 0;          // while the cell runs
  Bytes moved = 0;              // of a copy: what leaves the device or comes back
  std::int32_t device = 0;      // its lane: of a copy device + devices
};

struct Tables {
  std::vector<CellCost> cells;         // by cell
  std::vector<TransferTime> channels;  // by channel
  std::vector<Bytes> channel_bytes;    // by channel
  std::vector<Bytes> static_bytes;     // by device: weights, gradients, optimizer state, buffers
  Nanoseconds barrier = 0;             // after what several nodes gather
  // True when memory has parts that do not follow the compute lane alone (received tensors, workspace, copies), so that
  // peaks need the arrival times too.
  bool has_arrivals_or_workspace = false;
};

// Throws InputError when the whole run could exceed a 64-bit count.
[[nodiscard]] Tables make_tables(const Program& program, const StageCosts& costs, const TransferTimes& transfers);
[[nodiscard]] Tables make_tables(const Program& program, const StageCosts& costs, const Topology& topology);

// The first of the tables alone: what cells cost without any transfer.
[[nodiscard]] std::vector<CellCost> cell_costs(const Program& program, const StageCosts& costs);

// What the ops of a cell would take by themselves; `second` is 0 where it holds one.
struct MemberDurations {
  Nanoseconds first = 0;
  Nanoseconds second = 0;
};
[[nodiscard]] std::vector<MemberDurations> member_durations(const Program& program, const StageCosts& costs);

// Throws InputError when so many nanoseconds of work, of varied ops, could exceed what a run may take.
void check_total_time(double nanoseconds);

// Reports add up times over devices: throws InputError when `devices` times the makespan could exceed a 64-bit count.
void check_device_time(Nanoseconds makespan, int devices);

}  // namespace debubble
