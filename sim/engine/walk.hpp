// The walk over a Program's nodes that every entrance of `simulate` shares. Internal to sim/engine.
//
// One pass in program order computes each node's end from its lane and its input. A Recorder sees every node as it
// happens; the empty one costs nothing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/engine/tables.hpp"
#include "sim/engine/transfer_rule.hpp"

namespace debubble {

struct Lane {
  Nanoseconds free = 0;          // end of whatever held the lane last
  Nanoseconds posted = 0;        // end of the last cell: a coupled exchange follows the last of a slot
  Nanoseconds first_begin = -1;  // of its first cell
  Nanoseconds busy = 0;          // compute only
  Bytes activation = 0;          // activations and what is held for W
  Bytes peak_activation = 0;
};

struct NoRecorder {
  void cell(std::size_t, Nanoseconds, Nanoseconds) {}
  void transfer(std::size_t, Nanoseconds, Nanoseconds) {}
};

// Which ends a walk keeps: of every node, or only as far back as any node looks. The latter stays in the cache however
// long the run is.
enum class Ends { kAll, kInReach };

// Every node takes what its cell costs.
struct CellDurations {
  [[nodiscard]] static Nanoseconds of(std::size_t, const CellCost& cost) { return cost.duration; }
};

template <typename Durations>
class BasicWalk {
 public:
  BasicWalk(const Program& program, const Tables& tables, Ends keep, const Durations& durations = {})
      : program_(program), tables_(tables), durations_(durations) {
    const std::size_t reach = std::bit_ceil(static_cast<std::size_t>(program.reach) + 1);
    const bool all = keep == Ends::kAll || reach >= program.nodes.size();
    mask_ = all ? ~std::size_t{0} : reach - 1;
    none_ = all ? program.nodes.size() : reach;
    ends_ = std::make_unique_for_overwrite<Nanoseconds[]>(none_ + 1);
    ends_[none_] = 0;
    lanes_.resize(static_cast<std::size_t>(program.lanes));
  }

  template <typename Recorder>
  void run(Recorder& recorder) {
    if (holds_both_lanes(program_.p2p)) {
      run_held(recorder);
    } else if (program_.p2p == P2p::kOverlapped) {
      run_overlapped(recorder);
    } else {
      run_posted(recorder);
    }
  }

  [[nodiscard]] std::vector<Lane>& lanes() { return lanes_; }
  // With Ends::kAll, of any node that has run.
  [[nodiscard]] Nanoseconds end(std::int32_t node) const { return ends_[static_cast<std::size_t>(node) & mask_]; }
  // When a cell's input is there: where transfers are nodes, `input` is the transfer itself.
  [[nodiscard]] Nanoseconds arrival(std::int32_t input, std::int32_t channel) const {
    const bool overlapped = program_.p2p == P2p::kOverlapped;
    return end(input) + (overlapped ? at(tables_.channels, channel).total() : 0);
  }
  // When what a node waits for in addition to its lane and first input is there.
  [[nodiscard]] Nanoseconds arrival(const Program::ExtraInput& extra) const {
    using Wait = Program::ExtraInput::Wait;
    switch (extra.wait) {
      case Wait::kArrival:
        return arrival(extra.input, extra.what);
      case Wait::kEnd:
        return end(extra.input);
      case Wait::kBegin:
        return begin(extra.input);
      case Wait::kGathered:
        return end(extra.input) + tables_.barrier;
    }
    return 0;
  }
  // Of a cell.
  [[nodiscard]] Nanoseconds begin(std::int32_t node) const {
    const auto k = static_cast<std::size_t>(node);
    return end(node) - durations_.of(k, tables_.cells[program_.nodes[k].cell()]);
  }

 private:
  template <typename Recorder>
  void run_overlapped(Recorder& recorder) {
    auto extra = program_.extra_inputs.begin();
    const auto last_extra = program_.extra_inputs.end();
    std::int32_t next_extra = extra == last_extra ? -1 : extra->node;
    const std::size_t count = program_.nodes.size();
    for (std::size_t k = 0; k < count; ++k) {
      const Program::Node& node = program_.nodes[k];
      const CellCost& cost = tables_.cells[node.cell()];
      Lane& lane = at(lanes_, cost.device);
      const std::size_t input = node.input < 0 ? none_ : static_cast<std::size_t>(node.input) & mask_;
      const Nanoseconds delay = node.input < 0 ? 0 : cost.input_delay;
      Nanoseconds begin = std::max(lane.free, ends_[input] + delay);
      while (static_cast<std::int32_t>(k) == next_extra) {
        begin = std::max(begin, arrival(*extra));
        next_extra = ++extra == last_extra ? -1 : extra->node;
      }
      finish_cell(k, cost, lane, begin, recorder);
    }
  }

  // Every transfer is a node of its own and comes before the cell that needs it, so lanes alone give a cell's start. A
  // transfer may wait for another one, too.
  template <typename Recorder>
  void run_held(Recorder& recorder) {
    const bool after_cell = transfer_after(program_.p2p) == TransferAfter::kCell;
    auto extra = program_.extra_inputs.begin();
    for (std::size_t k = 0; k < program_.nodes.size(); ++k) {
      const Program::Node& node = program_.nodes[k];
      if (!node.is_transfer()) {
        const CellCost& cost = tables_.cells[node.cell()];
        Lane& lane = at(lanes_, cost.device);
        finish_cell(k, cost, lane, lane.free, recorder);
        continue;
      }
      const Program::Channel& channel = program_.channels[node.channel()];
      Lane& lane = at(lanes_, channel.from_device);
      Lane& other = at(lanes_, channel.to_device);
      Nanoseconds begin = after_cell ? std::max(lane.posted, other.posted) : std::max(lane.free, other.free);
      while (extra != program_.extra_inputs.end() && to_index(extra->node) < k)
        ++extra;  // of cells: their lanes say it
      if (extra != program_.extra_inputs.end() && to_index(extra->node) == k)
        begin = std::max(begin, end(extra->input));
      const Nanoseconds until = finish_transfer(k, begin, recorder);
      lane.free = std::max(lane.free, until);
      other.free = std::max(other.free, until);
    }
  }

  // Transfers are nodes that hold no lane. Each node waits for its inputs, a cell for its lane, too.
  template <typename Recorder>
  void run_posted(Recorder& recorder) {
    auto extra = program_.extra_inputs.begin();
    for (std::size_t k = 0; k < program_.nodes.size(); ++k) {
      const Program::Node& node = program_.nodes[k];
      Nanoseconds begin = node.input < 0 ? 0 : end(node.input);
      for (; extra != program_.extra_inputs.end() && to_index(extra->node) == k; ++extra) {
        begin = std::max(begin, end(extra->input));
      }
      if (node.is_transfer()) {
        finish_transfer(k, begin, recorder);
        continue;
      }
      const CellCost& cost = tables_.cells[node.cell()];
      Lane& lane = at(lanes_, cost.device);
      finish_cell(k, cost, lane, std::max(begin, lane.free), recorder);
    }
  }

  template <typename Recorder>
  Nanoseconds finish_transfer(std::size_t k, Nanoseconds begin, Recorder& recorder) {
    const Nanoseconds end = begin + tables_.channels[program_.nodes[k].channel()].total();
    recorder.transfer(k, begin, end);
    ends_[k & mask_] = end;
    return end;
  }

  template <typename Recorder>
  void finish_cell(std::size_t k, const CellCost& cost, Lane& lane, Nanoseconds begin, Recorder& recorder) {
    const Nanoseconds duration = durations_.of(k, cost);
    const Nanoseconds end = begin + duration;
    recorder.cell(k, begin, end);
    ends_[k & mask_] = end;
    if (lane.first_begin < 0) lane.first_begin = begin;
    lane.free = end;
    lane.posted = end;
    lane.busy += duration;
    lane.activation += cost.at_begin;
    lane.peak_activation = std::max(lane.peak_activation, lane.activation);
    lane.activation += cost.at_end;
  }

  const Program& program_;
  const Tables& tables_;
  Durations durations_;
  std::unique_ptr<Nanoseconds[]> ends_;  // by node, or by node modulo a power of two; the last entry means "no input"
  std::size_t mask_ = 0;
  std::size_t none_ = 0;
  std::vector<Lane> lanes_;
};

using Walk = BasicWalk<CellDurations>;

}  // namespace debubble
