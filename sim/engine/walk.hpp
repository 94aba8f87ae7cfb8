// The walk over a Program's nodes that every entrance of `simulate` shares. Internal to sim/engine.
//
// One pass in program order computes each node's end from its lane and its input. A Recorder sees every node as it
// happens; the empty one costs nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/tables.hpp"

namespace debubble {

struct Lane {
  Nanoseconds free = 0;    // end of whatever held the lane last
  Nanoseconds posted = 0;  // end of the last cell: when a coupled exchange is posted
  Nanoseconds busy = 0;    // compute only
  Bytes activation = 0;    // activations and what is held for W
  Bytes peak_activation = 0;
};

struct NoRecorder {
  void cell(std::size_t, Nanoseconds, Nanoseconds) {}
  void transfer(std::size_t, Nanoseconds, Nanoseconds) {}
};

// `ends` gets nodes + 1 entries: ends[k + 1] is the end of node k, ends[0] stands for "no input" and stays 0.
// `delays` is channels + 1 entries, shifted in the same way.
class Walk {
 public:
  Walk(const Program& program, const Tables& tables) : program_(program), tables_(tables) {
    ends_.assign(program.nodes.size() + 1, 0);
    delays_.assign(program.channels.size() + 1, 0);
    for (std::size_t k = 0; k < program.channels.size(); ++k) delays_[k + 1] = tables.channels[k].total();
    lanes_.resize(static_cast<std::size_t>(program.devices));
  }

  template <typename Recorder>
  void run(Recorder& recorder) {
    switch (program_.p2p) {
      case P2p::kOverlapped:
        run_overlapped(recorder);
        break;
      case P2p::kBlocking:
      case P2p::kCoupled:
        run_held(recorder);
        break;
    }
  }

  [[nodiscard]] std::vector<Lane>& lanes() { return lanes_; }
  [[nodiscard]] Nanoseconds end(std::int32_t node) const { return ends_[static_cast<std::size_t>(node) + 1]; }
  // When a node's input through `channel` is there.
  [[nodiscard]] Nanoseconds arrival(std::int32_t input, std::int32_t channel) const {
    return ends_[static_cast<std::size_t>(input + 1)] + delays_[static_cast<std::size_t>(channel + 1)];
  }

 private:
  template <typename Recorder>
  void run_overlapped(Recorder& recorder) {
    auto second = program_.second_inputs.begin();
    const auto last_second = program_.second_inputs.end();
    std::int32_t next_second = second == last_second ? -1 : second->node;
    const std::size_t count = program_.nodes.size();
    for (std::size_t k = 0; k < count; ++k) {
      const Program::Node& node = program_.nodes[k];
      Lane& lane = lanes_[static_cast<std::size_t>(node.device)];
      Nanoseconds begin = std::max(lane.free, arrival(node.input, node.channel));
      if (static_cast<std::int32_t>(k) == next_second) {
        begin = std::max(begin, arrival(second->input, second->channel));
        next_second = ++second == last_second ? -1 : second->node;
      }
      finish_cell(k, node, lane, begin, recorder);
    }
  }

  // Every transfer is a node of its own and stands before the cell that needs it, so lanes alone give a cell's start.
  template <typename Recorder>
  void run_held(Recorder& recorder) {
    const bool coupled = program_.p2p == P2p::kCoupled;
    for (std::size_t k = 0; k < program_.nodes.size(); ++k) {
      const Program::Node& node = program_.nodes[k];
      Lane& lane = lanes_[static_cast<std::size_t>(node.device)];
      if (node.cell != Program::kTransfer) {
        finish_cell(k, node, lane, lane.free, recorder);
        lane.posted = lane.free;
        continue;
      }
      const auto channel = static_cast<std::size_t>(node.channel);
      Lane& other = lanes_[static_cast<std::size_t>(program_.channels[channel].to_device)];
      const Nanoseconds begin = coupled ? std::max(lane.posted, other.posted) : std::max(lane.free, other.free);
      const Nanoseconds end = begin + delays_[channel + 1];
      recorder.transfer(k, begin, end);
      ends_[k + 1] = end;
      lane.free = std::max(lane.free, end);
      other.free = std::max(other.free, end);
    }
  }

  template <typename Recorder>
  void finish_cell(std::size_t k, const Program::Node& node, Lane& lane, Nanoseconds begin, Recorder& recorder) {
    const CellCost& cost = tables_.cells[node.cell];
    const Nanoseconds end = begin + cost.duration;
    recorder.cell(k, begin, end);
    ends_[k + 1] = end;
    lane.free = end;
    lane.busy += cost.duration;
    lane.activation += cost.at_begin;
    lane.peak_activation = std::max(lane.peak_activation, lane.activation);
    lane.activation += cost.at_end;
  }

  const Program& program_;
  const Tables& tables_;
  std::vector<Nanoseconds> ends_;
  std::vector<Nanoseconds> delays_;
  std::vector<Lane> lanes_;
};

}  // namespace debubble
