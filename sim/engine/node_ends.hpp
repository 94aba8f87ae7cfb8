// NodeEnds: when every node of a run ends and which comes before it on its lane: 12 bytes a node, from which all else
// about a plain run follows. For runs too large to keep a span for each (sim/engine/simulate.hpp): the same times to
// the nanosecond, and the same reasons for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/program.hpp"
#include "sim/engine/tables.hpp"

namespace debubble {

class NodeEnds {
 public:
  // Whether it knows the program: overlapped transfers, no more than one input from another device for each node, no
  // copies, barriers or unequal pieces.
  [[nodiscard]] static bool knows(const Program& program);

  // The program must stay.
  NodeEnds(const Program& program, const StageCosts& costs, const Topology& topology);

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] Nanoseconds begin(std::size_t node) const {
    return ends_[node] - tables_.cells[program_.nodes[node].cell()].duration;
  }
  [[nodiscard]] Nanoseconds end(std::size_t node) const { return ends_[node]; }
  [[nodiscard]] std::int32_t device(std::size_t node) const {
    return tables_.cells[program_.nodes[node].cell()].device;
  }
  // The node before it on its lane; -1: none.
  [[nodiscard]] std::int32_t before(std::size_t node) const { return before_[node]; }
  // The node whose output it takes from another device, -1: none; how long and large that transfer is.
  [[nodiscard]] std::int32_t maker(std::size_t node) const { return program_.nodes[node].input; }
  [[nodiscard]] TransferTime transfer(std::size_t node) const { return tables_.channels[channel(node)]; }
  [[nodiscard]] Bytes transferred(std::size_t node) const { return tables_.channel_bytes[channel(node)]; }
  // What it waited for last: kSpan and a node, or kTransfer and its own number: the transfer to it.
  [[nodiscard]] Gate gate(std::size_t node) const;

 private:
  [[nodiscard]] std::size_t channel(std::size_t node) const {
    return to_index(program_.cells[program_.nodes[node].cell()].input_channel);
  }

  const Program& program_;
  Tables tables_;
  std::vector<Nanoseconds> ends_;     // by node
  std::vector<std::int32_t> before_;  // by node
};

}  // namespace debubble
