// Activities: a Program as a graph whose nodes start when all they wait for has happened, for runs in the order of
// events. Internal to sim/engine; the walk (walk.hpp) needs no such graph, for it goes in program order.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/schedule.hpp"
#include "sim/core/step_work.hpp"
#include "sim/engine/program.hpp"

namespace debubble {

struct Activities {
  static constexpr std::int32_t kAtOnce = -1;   // an Edge's `channel`: the end counts at once
  static constexpr std::int32_t kGathers = -2;  // a barrier follows it

  struct Edge {
    std::int32_t target = 0;         // node
    std::int32_t channel = kAtOnce;  // how its output travels there, overlapping compute
    std::int32_t input = -1;         // of what travels: number of the input, see `inputs`
  };

  std::vector<std::int32_t> first_edge;  // by node, one more: its part of edges
  std::vector<Edge> edges;               // from a node's end
  std::vector<std::int32_t> unmet;       // by node: how much it waits for
  // Nodes that wait for a node to begin (copies back), sorted by it.
  struct AfterBegin {
    std::int32_t node = 0;
    std::int32_t target = 0;
  };
  std::vector<AfterBegin> after_begin;
  // Things that travel are numbered by their user: its node for the first input, nodes + the number of the ExtraInput.
  std::int32_t inputs = 0;
};

// `copy_engines`: copies out and copies back of a device overlap; each copy back still waits for its own
// copy out.
[[nodiscard]] Activities make_activities(const Program& program, const Schedule& schedule, bool copy_engines);

// By model replica, then stage: the node of its last B, I or W, and that of its first F; -1: none.
struct StageNodes {
  std::vector<std::int32_t> last_backward;
  std::vector<std::int32_t> first_forward;
  int stages = 0;

  [[nodiscard]] std::size_t index(const StageName& name) const {
    return static_cast<std::size_t>(name.replica) * static_cast<std::size_t>(stages) +
           static_cast<std::size_t>(name.stage);
  }
};
[[nodiscard]] StageNodes find_stage_nodes(const Program& program, const Schedule& schedule);

// The ops of each node, from the schedule that was lowered: calls `visit(node, first, second)`, `second` null where the
// cell holds one op. Not of transfers and copies.
template <typename Visit>
void for_each_cell(const Program& program, const Schedule& schedule, const Visit& visit) {
  std::vector<std::size_t> position(schedule.rows.size(), 0);
  for (std::size_t k = 0; k < program.nodes.size(); ++k) {
    const Program::Node& node = program.nodes[k];
    if (node.is_transfer() || program.cells[node.cell()].is_copy) continue;
    const Program::Cell& cell = program.cells[node.cell()];
    const auto device = static_cast<std::size_t>(cell.device);
    const Op& first = schedule.rows.at(device).at(position[device]++);
    const Op* second = cell.paired ? &schedule.rows[device].at(position[device]++) : nullptr;
    visit(k, first, second);
  }
}

}  // namespace debubble
