#include "sim/engine/critical_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "sim/core/at.hpp"
#include "sim/engine/tables.hpp"
#include "sim/engine/transfer_rule.hpp"

namespace debubble {

// Two passes over the program. Forwards: the times of walk.hpp, by the same rules, with all that each node may have
// waited for. Backwards: from the last ends along waits without slack, which is what makes a node critical. Only those
// nodes and waits stay in the graph: usually few, and `derivative` is asked for every cost.
class CriticalGraph::Builder {
 public:
  Builder(const Program& program, const StageCosts& costs, const Topology& topology,
          const std::vector<Nanoseconds>& durations)
      : program_(program),
        tables_(make_tables(program, costs, topology)),
        durations_(durations),
        begin_(program.nodes.size(), 0),
        end_(program.nodes.size(), 0),
        waits_end_(program.nodes.size(), 0),
        lanes_(static_cast<std::size_t>(program.lanes)) {}

  void run(CriticalGraph& graph) {
    walk();
    graph.makespan_ = end_.empty() ? 0 : *std::max_element(end_.begin(), end_.end());
    for (const Program::Node& node : program_.nodes) {
      graph.channel_of_.push_back(node.is_transfer() ? static_cast<std::int32_t>(node.channel()) : -1);
    }
    trace_back(graph);
  }

 private:
  using Wait = Program::ExtraInput::Wait;

  // What a lane's next cell waits for: transfers that are nodes hold the lane after its last cell, and any of them may
  // end last.
  struct LaneState {
    std::int32_t cell = -1;               // the last one
    std::vector<std::int32_t> transfers;  // since then
  };

  void walk() {
    std::size_t extra = 0;
    for (std::size_t k = 0; k < program_.nodes.size(); ++k) {
      const Program::Node& node = program_.nodes[k];
      if (node.is_transfer()) {
        wait_as_transfer(k, node, extra);
      } else {
        wait_as_cell(k, node, extra);
      }
      const auto number = static_cast<std::int32_t>(k);
      for (std::size_t w = k == 0 ? 0 : waits_end_[k - 1]; w < waits_.size(); ++w) {
        begin_[k] = std::max(begin_[k], release(waits_[w]));
      }
      waits_end_[k] = waits_.size();
      end_[k] = begin_[k] + (node.is_transfer() ? tables_.channels[node.channel()].total() : durations_[k]);
      if (node.is_transfer()) {
        const Program::Channel& channel = program_.channels[node.channel()];
        if (!holds_both_lanes(program_.p2p)) continue;
        at(lanes_, channel.from_device).transfers.push_back(number);
        at(lanes_, channel.to_device).transfers.push_back(number);
      } else {
        LaneState& lane = at(lanes_, tables_.cells[node.cell()].device);
        lane.cell = number;
        lane.transfers.clear();
      }
    }
  }

  void wait(std::int32_t from, std::int32_t channel = -1, bool gathered = false, bool begin_only = false) {
    if (from >= 0) waits_.push_back({from, channel, gathered, begin_only});
  }

  void wait_for_lane(const LaneState& lane) {
    wait(lane.cell);
    for (const std::int32_t transfer : lane.transfers) wait(transfer);
  }

  void wait_as_transfer(std::size_t k, const Program::Node& node, std::size_t& extra) {
    if (!holds_both_lanes(program_.p2p)) return wait_for_inputs(k, node, -1, extra);
    const Program::Channel& channel = program_.channels[node.channel()];
    for (const std::int32_t device : {channel.from_device, channel.to_device}) {
      if (transfer_after(program_.p2p) == TransferAfter::kCell) {
        wait(at(lanes_, device).cell);
      } else {
        wait_for_lane(at(lanes_, device));
      }
    }
    for_each_extra(k, extra, [&](const Program::ExtraInput& more) { wait(more.input); });
  }

  template <typename Visit>
  void for_each_extra(std::size_t k, std::size_t& extra, const Visit& visit) const {
    for (; extra < program_.extra_inputs.size() && to_index(program_.extra_inputs[extra].node) <= k; ++extra) {
      if (to_index(program_.extra_inputs[extra].node) == k) visit(program_.extra_inputs[extra]);
    }
  }

  void wait_as_cell(std::size_t k, const Program::Node& node, std::size_t& extra) {
    const CellCost& cost = tables_.cells[node.cell()];
    wait_for_lane(at(lanes_, cost.device));
    if (holds_both_lanes(program_.p2p)) return;  // lanes alone give its start
    const bool travels = program_.p2p == P2p::kOverlapped;
    wait_for_inputs(k, node, travels ? program_.cells[node.cell()].input_channel : -1, extra);
  }

  // `channel`: how the first input travels, where that is no node.
  void wait_for_inputs(std::size_t k, const Program::Node& node, std::int32_t channel, std::size_t& extra) {
    wait(node.input, channel);
    for_each_extra(k, extra, [&](const Program::ExtraInput& more) {
      wait(more.input, more.wait == Wait::kArrival ? more.what : -1, more.wait == Wait::kGathered,
           more.wait == Wait::kBegin);
    });
  }

  [[nodiscard]] Nanoseconds release(const Edge& edge) const {
    const Nanoseconds from = edge.begin_only ? at(begin_, edge.from) : at(end_, edge.from);
    return from + (edge.channel >= 0 ? at(tables_.channels, edge.channel).total() : 0) +
           (edge.gathered ? tables_.barrier : 0);
  }

  // From the last ends back, along what had no slack. Program order is topological, so one pass backwards has seen all
  // users of a node before the node itself; the pass forwards then stores edges in the order `extreme` adds them up.
  void trace_back(CriticalGraph& graph) const {
    std::vector<bool> critical(end_.size(), false);
    for (std::size_t k = 0; k < end_.size(); ++k) critical[k] = end_[k] == graph.makespan_;
    for (std::size_t k = end_.size(); k-- > 0;) {
      if (!critical[k]) continue;
      for (std::size_t w = first_wait(k); w < waits_end_[k]; ++w) {
        if (release(waits_[w]) == begin_[k]) at(critical, waits_[w].from) = true;
      }
    }
    for (std::size_t k = 0; k < end_.size(); ++k) {
      if (!critical[k]) continue;
      for (std::size_t w = first_wait(k); w < waits_end_[k]; ++w) {
        if (release(waits_[w]) == begin_[k]) graph.edges_.push_back(waits_[w]);
      }
      graph.nodes_.push_back(
          {static_cast<std::int32_t>(k), graph.edges_.size(), begin_[k] == 0, end_[k] == graph.makespan_});
    }
  }

  [[nodiscard]] std::size_t first_wait(std::size_t k) const { return k == 0 ? 0 : waits_end_[k - 1]; }

  const Program& program_;
  Tables tables_;
  const std::vector<Nanoseconds>& durations_;
  std::vector<Nanoseconds> begin_;
  std::vector<Nanoseconds> end_;
  std::vector<Edge> waits_;
  std::vector<std::size_t> waits_end_;  // by node
  std::vector<LaneState> lanes_;
};

CriticalGraph::CriticalGraph(const Program& program, const StageCosts& costs, const Topology& topology,
                             const std::vector<Nanoseconds>& durations) {
  Builder(program, costs, topology, durations).run(*this);
}

// The longest (most) or shortest path by these weights over the critical nodes, from any that starts at 0 to any that
// ends last. All of them take the same time; a cost that grows a little lengthens the step by its part on the path that
// holds most of it, which becomes the only critical one.
double CriticalGraph::extreme(const std::vector<double>& node, const std::vector<double>& channel, double barrier,
                              bool most) const {
  const auto weight = [](const std::vector<double>& weights, std::int32_t index) {
    return weights.empty() || index < 0 ? 0.0 : at(weights, index);
  };
  // What no path reaches: worse than all, so that max and min skip it.
  const double none = most ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const auto better = [&](double a, double b) { return most ? std::max(a, b) : std::min(a, b); };
  std::vector<double> until_begin(channel_of_.size(), none);
  std::vector<double> until_end(channel_of_.size(), none);
  double result = none;
  std::size_t edge = 0;
  for (const Critical& critical : nodes_) {
    double sum = critical.starts ? 0 : none;
    for (; edge < critical.edges_end; ++edge) {
      const Edge& from = edges_[edge];
      const double before = from.begin_only ? at(until_begin, from.from) : at(until_end, from.from);
      sum = better(sum, before + weight(channel, from.channel) + (from.gathered ? barrier : 0));
    }
    const std::int32_t sent = at(channel_of_, critical.node);
    at(until_begin, critical.node) = sum;
    at(until_end, critical.node) = sum + (sent >= 0 ? weight(channel, sent) : weight(node, critical.node));
    if (critical.ends) result = better(result, at(until_end, critical.node));
  }
  return nodes_.empty() ? 0 : result;
}

OneSided CriticalGraph::derivative(const PartWeights& weights) const {
  return {extreme(weights.node_most, weights.channel_most, weights.barrier, true),
          extreme(weights.node_least, weights.channel_least, weights.barrier, false)};
}

}  // namespace debubble
