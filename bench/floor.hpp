// The floor: the least any simulator of a fixed order must do, to measure ours against.
//
// A bare longest-path loop over precomputed dependency indexes. Per op: one dependency load, one max, one add, and an
// activation counter with its peak. No costs to look up, no transfers, no kinds of memory, no checks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/program.hpp"

namespace debubble::bench {

struct Floor {
  struct Op {
    std::int32_t input = 0;  // 0: none, else 1 + the op it waits for
    std::int16_t device = 0;
    std::int16_t activation = 0;  // +1 forward, -1 backward
    std::int32_t duration = 0;
  };
  struct Lane {
    std::int64_t free = 0;
    std::int32_t active = 0;
    std::int32_t peak = 0;
  };
  std::vector<Op> ops;
  std::size_t devices = 0;
};

// The same ops in the same order as the lowered program.
inline Floor make_floor(const Program& program) {
  Floor floor;
  floor.devices = static_cast<std::size_t>(program.devices);
  for (const Program::Node& node : program.nodes) {
    const bool forward = program.cells[node.cell()].kind == OpKind::kForward;
    floor.ops.push_back({node.input + 1, static_cast<std::int16_t>(program.device_of(node)),
                         static_cast<std::int16_t>(forward ? 1 : -1), forward ? 1'000'000 : 2'000'000});
  }
  return floor;
}

// Returns the makespan; `lanes` and `ends` come out filled.
inline std::int64_t run_floor(const Floor& floor, std::vector<std::int64_t>& ends, std::vector<Floor::Lane>& lanes) {
  ends.assign(floor.ops.size() + 1, 0);
  lanes.assign(floor.devices, {});
  for (std::size_t k = 0; k < floor.ops.size(); ++k) {
    const Floor::Op& op = floor.ops[k];
    Floor::Lane& lane = lanes[static_cast<std::size_t>(op.device)];
    const std::int64_t end = std::max(lane.free, ends[static_cast<std::size_t>(op.input)]) + op.duration;
    ends[k + 1] = end;
    lane.free = end;
    lane.active += op.activation;
    lane.peak = std::max(lane.peak, lane.active);
  }
  std::int64_t makespan = 0;
  for (const Floor::Lane& lane : lanes) makespan = std::max(makespan, lane.free);
  return makespan;
}

}  // namespace debubble::bench
