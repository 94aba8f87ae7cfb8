#include "sim/engine/activities.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/engine/transfer_rule.hpp"

namespace debubble {

namespace {

using ActivityEdge = Activities::Edge;

// Every wait of the program, as (from node, edge); in the same order each time.
class Waits {
 public:
  Waits(const Program& program, const Schedule& schedule, bool copy_engines)
      : program_(program), schedule_(schedule), copy_engines_(copy_engines && !program.copies.empty()) {}

  template <typename Visit>
  void for_each(const Visit& visit) const {
    if (holds_both_lanes(program_.p2p)) return held(visit);
    lanes(visit);
    inputs(visit);
    if (copy_engines_) returns(visit);
  }

 private:
  using Wait = Program::ExtraInput::Wait;

  // Each lane in order. With engines of their own, copies back have a third lane of the device.
  template <typename Visit>
  void lanes(const Visit& visit) const {
    std::vector<std::int32_t> last(to_index(program_.lanes + program_.devices), -1);
    for (std::size_t k = 0; k < program_.nodes.size(); ++k) {
      if (program_.nodes[k].is_transfer()) continue;
      const Program::Cell& cell = program_.cells[program_.nodes[k].cell()];
      const bool engine = copy_engines_ && cell.is_copy && cell.way == Copy::Way::kBack;
      std::int32_t& before = at(last, cell.device + (engine ? program_.devices : 0));
      const auto node = static_cast<std::int32_t>(k);
      if (before >= 0) visit(before, ActivityEdge{node, Activities::kAtOnce, -1});
      before = node;
    }
  }

  template <typename Visit>
  void inputs(const Visit& visit) const {
    for (std::size_t k = 0; k < program_.nodes.size(); ++k) {
      const Program::Node& node = program_.nodes[k];
      const auto target = static_cast<std::int32_t>(k);
      if (node.input < 0) continue;
      const bool travels = program_.p2p == P2p::kOverlapped;
      visit(node.input, travels ? ActivityEdge{target, program_.cells[node.cell()].input_channel, target}
                                : ActivityEdge{target, Activities::kAtOnce, -1});
    }
    const auto nodes = static_cast<std::int32_t>(program_.nodes.size());
    for (std::size_t e = 0; e < program_.extra_inputs.size(); ++e) {
      const Program::ExtraInput& extra = program_.extra_inputs[e];
      switch (extra.wait) {
        case Wait::kArrival:
          visit(extra.input, ActivityEdge{extra.node, extra.what, nodes + static_cast<std::int32_t>(e)});
          break;
        case Wait::kEnd:
          visit(extra.input, ActivityEdge{extra.node, Activities::kAtOnce, -1});
          break;
        case Wait::kGathered:
          visit(extra.input, ActivityEdge{extra.node, Activities::kGathers, -1});
          break;
        case Wait::kBegin:
          break;
      }
    }
  }

  // A copy back comes after the copy out of the same activation.
  template <typename Visit>
  void returns(const Visit& visit) const {
    std::vector<std::size_t> next(schedule_.copies.size(), 0);
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> out;  // by stage and piece
    for (const Program::CopyNode& copy : program_.copies) {
      const Copy& moved = schedule_.copies.at(to_index(copy.device)).at(at(next, copy.device)++);
      const std::pair key(moved.stage, moved.microbatch);
      if (moved.way == Copy::Way::kOut) {
        out[key] = copy.node;
      } else if (const auto found = out.find(key); found != out.end()) {
        visit(found->second, ActivityEdge{copy.node, Activities::kAtOnce, -1});
      }
    }
  }

  // Transfers are nodes that hold lanes. The next cell of a lane waits for all that hold it since its last cell.
  template <typename Visit>
  void held(const Visit& visit) const {
    const bool after_lane = transfer_after(program_.p2p) == TransferAfter::kLane;
    struct Lane {
      std::int32_t cell = -1;
      std::vector<std::int32_t> transfers;  // that hold it since then; where each waits for the one before: the last
    };
    std::vector<Lane> lanes(to_index(program_.devices));
    for (const Program::ExtraInput& extra : program_.extra_inputs) {
      const ActivityEdge edge{extra.node, Activities::kAtOnce, -1};
      if (at(program_.nodes, extra.node).is_transfer()) visit(extra.input, edge);
    }
    for (std::size_t k = 0; k < program_.nodes.size(); ++k) {
      const Program::Node& node = program_.nodes[k];
      const auto target = static_cast<std::int32_t>(k);
      const ActivityEdge edge{target, Activities::kAtOnce, -1};
      if (!node.is_transfer()) {
        Lane& lane = at(lanes, program_.cells[node.cell()].device);
        for (const std::int32_t transfer : lane.transfers) visit(transfer, edge);
        if (lane.transfers.empty() && lane.cell >= 0) visit(lane.cell, edge);
        lane.cell = target;
        lane.transfers.clear();
        continue;
      }
      const Program::Channel& channel = program_.channels[node.channel()];
      for (const std::int32_t device : {channel.from_device, channel.to_device}) {
        Lane& lane = at(lanes, device);
        if (after_lane && !lane.transfers.empty()) {
          visit(lane.transfers.back(), edge);
        } else if (lane.cell >= 0) {
          visit(lane.cell, edge);
        }
        if (after_lane) lane.transfers.clear();
        lane.transfers.push_back(target);
      }
    }
  }

  const Program& program_;
  const Schedule& schedule_;
  bool copy_engines_;
};

}  // namespace

Activities make_activities(const Program& program, const Schedule& schedule, bool copy_engines) {
  Activities made;
  const std::size_t nodes = program.nodes.size();
  made.inputs = static_cast<std::int32_t>(nodes + program.extra_inputs.size());
  made.unmet.assign(nodes, 0);
  made.first_edge.assign(nodes + 1, 0);
  const Waits waits(program, schedule, copy_engines);
  waits.for_each([&](std::int32_t from, const ActivityEdge& edge) {
    ++made.first_edge[to_index(from) + 1];
    ++at(made.unmet, edge.target);
  });
  for (std::size_t k = 0; k < nodes; ++k) made.first_edge[k + 1] += made.first_edge[k];
  made.edges.resize(to_index(made.first_edge.back()));
  std::vector<std::int32_t> next(made.first_edge.begin(), made.first_edge.end() - 1);
  waits.for_each([&](std::int32_t from, const ActivityEdge& edge) { at(made.edges, at(next, from)++) = edge; });
  for (const Program::ExtraInput& extra : program.extra_inputs) {
    if (extra.wait != Program::ExtraInput::Wait::kBegin) continue;
    made.after_begin.push_back({extra.input, extra.node});
    ++at(made.unmet, extra.node);
  }
  std::stable_sort(made.after_begin.begin(), made.after_begin.end(),
                   [](const Activities::AfterBegin& a, const Activities::AfterBegin& b) { return a.node < b.node; });
  return made;
}

StageNodes find_stage_nodes(const Program& program, const Schedule& schedule) {
  StageNodes found;
  found.stages = schedule.stages;
  const std::size_t count = to_index(schedule.placement.replicas()) * to_index(schedule.stages);
  found.last_backward.assign(count, -1);
  found.first_forward.assign(count, -1);
  const auto take = [&](std::size_t k, const Op& op) {
    if (is_vocabulary(op.kind) || op.kind == OpKind::kRecompute) return;
    const std::size_t index = found.index({at(schedule.replica_of, op.microbatch), op.stage});
    const auto node = static_cast<std::int32_t>(k);
    if (op.kind != OpKind::kForward) {
      found.last_backward[index] = node;
    } else if (found.first_forward[index] < 0) {
      found.first_forward[index] = node;
    }
  };
  for_each_cell(program, schedule, [&](std::size_t k, const Op& first, const Op* second) {
    take(k, first);
    if (second != nullptr) take(k, *second);
  });
  return found;
}

}  // namespace debubble
