#include "sim/engine/tables.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

// One op of a cell: what it is, and the part of a microbatch that it works on.
struct Member {
  OpKind kind = OpKind::kForward;
  std::int32_t stage = 0;
  std::int32_t piece_class = 0;
  bool recomputed = false;  // the F of this piece keeps a checkpoint only, and an R makes the activation again
};

class CellCosts {
 public:
  CellCosts(const Program& program, const StageCosts& costs) : program_(program), costs_(costs) {}

  [[nodiscard]] MemberDurations members_of(const Program::Cell& cell) const {
    MemberDurations durations{of_member({cell.kind, cell.stage, cell.piece_class, cell.recomputed}).duration, 0};
    if (!cell.paired) return durations;
    const Member second{cell.partner_kind, cell.partner_stage, cell.partner_class, cell.partner_recomputed};
    durations.second = of_member(second).duration;
    return durations;
  }

  [[nodiscard]] CellCost of(const Program::Cell& cell) const {
    const Member first{cell.kind, cell.stage, cell.piece_class, cell.recomputed};
    if (cell.is_copy) return of_copy(first, cell.device);
    CellCost result = of_member(first);
    result.device = cell.device;
    if (!cell.paired) return result;
    const Member second{cell.partner_kind, cell.partner_stage, cell.partner_class, cell.partner_recomputed};
    const CellCost other = of_member(second);
    const bool forward_with_backward = (first.kind == OpKind::kForward && is_backward(second.kind)) ||
                                       (second.kind == OpKind::kForward && is_backward(first.kind));
    if (forward_with_backward && costs_.overlapped_pair) {
      result.duration = program_.shares.pair_part(*costs_.overlapped_pair, first.piece_class, second.piece_class);
    } else if (program_.pairs_run_side_by_side && !cell.in_sequence) {
      result.duration = std::max(result.duration, other.duration);
    } else {
      result.duration += other.duration;
    }
    result.workspace += other.workspace;
    result.at_begin += other.at_begin;
    result.at_end += other.at_end;
    return result;
  }

 private:
  [[nodiscard]] Bytes part(Bytes value, const Member& member) const {
    return program_.shares.part(value, member.piece_class);
  }

  [[nodiscard]] CellCost of_member(const Member& member) const {
    if (is_vocabulary(member.kind)) return of_shard(member);
    const StageCost& cost = at(costs_.stages, member.stage);
    CellCost result;
    result.duration = part(duration_of(member.kind, cost), member);
    result.workspace = part(cost.workspace, member);
    const Bytes activation = part(cost.activation, member);
    const Bytes held = part(cost.weight_grad_held, member);
    const Bytes checkpoint = member.recomputed ? part(cost.checkpoint, member) : 0;
    switch (member.kind) {
      case OpKind::kForward:
        result.at_begin = member.recomputed ? checkpoint : activation;
        break;
      case OpKind::kBackward:
        result.at_end = -activation - checkpoint;
        break;
      case OpKind::kInputGrad:
        result.at_end = held - activation - checkpoint;
        break;
      case OpKind::kWeightGrad:
        result.at_end = -held;
        break;
      case OpKind::kRecompute:
        result.at_begin = activation;
        break;
      case OpKind::kVocabularyLogits:
      case OpKind::kVocabularyGradient:
        break;
    }
    return result;
  }

  [[nodiscard]] CellCost of_shard(const Member& member) const {
    CellCost result;
    if (!costs_.vocabulary) {
      throw InputError(
          Diagnostic{"X011", "", "the schedule splits the output layer over the devices, and there are no costs for it",
                     "give the costs of the vocabulary's shards, or take a schedule without them"});
    }
    const VocabularyCost& cost = *costs_.vocabulary;
    const bool first = member.kind == OpKind::kVocabularyLogits;
    result.duration = part(first ? cost.logits : cost.gradient, member);
    const Bytes held = part(cost.held, member);
    (first ? result.at_begin : result.at_end) = first ? held : -held;
    return result;
  }

  // A checkpoint is smaller than the activation whose copy has a time: its time is as much shorter.
  [[nodiscard]] CellCost of_copy(const Member& member, std::int32_t lane) const {
    __extension__ using Wide = __int128;
    const StageCost& cost = at(costs_.stages, member.stage);
    Nanoseconds time = cost.copy;
    if (member.recomputed && cost.activation > 0) {
      const Wide product = static_cast<Wide>(cost.copy) * cost.checkpoint;
      time = static_cast<Nanoseconds>((2 * product + cost.activation) / (2 * static_cast<Wide>(cost.activation)));
    }
    CellCost result;
    result.device = lane;
    result.duration = part(time, member);
    result.moved = part(member.recomputed ? cost.checkpoint : cost.activation, member);
    return result;
  }

  const Program& program_;
  const StageCosts& costs_;
};

// A quarter of what 64 bits hold, so that neither a sum of two such numbers nor a product by two can overflow.
constexpr std::int64_t kMostSum = std::numeric_limits<std::int64_t>::max() / 4;

[[noreturn]] void refuse_times() {
  throw InputError(Diagnostic{"X001", "", "the times of this run add up to more than a 64-bit nanosecond count holds",
                              "check the units of the times; use fewer microbatches"});
}

[[noreturn]] void refuse_sizes() {
  throw InputError(Diagnostic{"X001", "", "the sizes of this run add up to more than a 64-bit byte count holds",
                              "check the units of the sizes; use fewer microbatches"});
}

// The run is a sum of at most one duration and one transfer per node, and memory of at most one allocation per node:
// if the largest of each times the number of nodes fits, no partial sum can overflow.
void check_table_range(std::size_t count, const Tables& tables) {
  double longest = 0;
  double largest = 0;
  for (const CellCost& cell : tables.cells) {
    longest = std::max(longest, static_cast<double>(cell.duration));
    largest = std::max({largest, static_cast<double>(cell.at_begin), static_cast<double>(cell.at_end),
                        static_cast<double>(cell.workspace), static_cast<double>(cell.moved)});
  }
  auto slowest = static_cast<double>(tables.barrier);
  for (std::size_t k = 0; k < tables.channels.size(); ++k) {
    slowest = std::max(slowest, static_cast<double>(tables.channels[k].serialisation) +
                                    static_cast<double>(tables.channels[k].latency));
    largest = std::max(largest, static_cast<double>(tables.channel_bytes[k]));
  }
  double resident = 0;
  for (const Bytes bytes : tables.static_bytes) resident = std::max(resident, static_cast<double>(bytes));
  constexpr auto kLimit = static_cast<double>(kMostSum);
  const auto nodes = static_cast<double>(count + 1);
  if ((longest + slowest) * nodes > kLimit) refuse_times();
  if (largest * nodes + resident > kLimit) refuse_sizes();
}

void add_static(const Program& program, const StageCosts& costs, Tables& tables) {
  tables.static_bytes.assign(static_cast<std::size_t>(program.devices), 0);
  std::vector<Bytes> buffers(tables.static_bytes.size(), 0);  // a device's stages share them
  const Placement& placement = program.placement;
  for (int replica = 0; replica < placement.replicas(); ++replica) {
    for (int stage = 0; stage < placement.stages(); ++stage) {
      if (program.replicas_share_weights && holds_before(placement, replica, stage)) continue;
      const StageCost& cost = at(costs.stages, stage);
      const auto device = static_cast<std::size_t>(placement.device_of(replica, stage));
      buffers[device] = std::max(buffers[device], cost.comm_buffers);
      Bytes& sum = tables.static_bytes[device];
      for (const Bytes more : {cost.weights, cost.gradients, cost.optimizer}) {
        if (more > kMostSum - sum) refuse_sizes();
        sum += more;
      }
      if (program.extra_weights.empty()) continue;
      const Bytes extra = at(program.extra_weights, replica * placement.stages() + stage);
      if (extra > 0 && cost.weights > (kMostSum - sum) / extra) refuse_sizes();
      sum += extra * cost.weights;
    }
  }
  for (std::size_t d = 0; d < buffers.size(); ++d) {
    if (buffers[d] > kMostSum - tables.static_bytes[d]) refuse_sizes();
    tables.static_bytes[d] += buffers[d];
  }
}

}  // namespace

Tables make_tables(const Program& program, const StageCosts& costs, const Topology& topology) {
  return make_tables(program, costs, [&](const Program::Channel& channel, Bytes bytes) {
    return topology.transfer(channel.from_device, channel.to_device, bytes);
  });
}

Tables make_tables(const Program& program, const StageCosts& costs, const TransferTimes& transfers) {
  if (costs.stages.size() != static_cast<std::size_t>(program.placement.stages())) {
    throw InputError(Diagnostic{"X003", "",
                                "the schedule has " + std::to_string(program.placement.stages()) +
                                    " stages but there are costs for " + std::to_string(costs.stages.size()),
                                "give one part of --partition per stage"});
  }
  Tables tables;
  for (const Program::Channel& channel : program.channels) {
    const bool remote = channel.from_device != channel.to_device;
    const Bytes output = at(costs.stages, channel.stage).output;
    const Bytes bytes = remote ? program.shares.part(output, channel.piece_class) : 0;
    tables.channel_bytes.push_back(bytes);
    tables.channels.push_back(transfers(channel, bytes));
    tables.has_arrivals_or_workspace |= bytes > 0;
  }
  const CellCosts costs_of(program, costs);
  for (const Program::Cell& cell : program.cells) {
    tables.cells.push_back(costs_of.of(cell));
    if (cell.input_channel < 0) continue;
    tables.cells.back().input_delay = at(tables.channels, cell.input_channel).total();
  }
  for (const CellCost& cell : tables.cells) tables.has_arrivals_or_workspace |= cell.workspace > 0;
  tables.has_arrivals_or_workspace |= !program.copies.empty();
  if (costs.vocabulary) tables.barrier = costs.vocabulary->barrier;
  add_static(program, costs, tables);
  check_table_range(program.nodes.size(), tables);
  return tables;
}

std::vector<CellCost> cell_costs(const Program& program, const StageCosts& costs) {
  const CellCosts costs_of(program, costs);
  std::vector<CellCost> made;
  for (const Program::Cell& cell : program.cells) made.push_back(costs_of.of(cell));
  return made;
}

std::vector<MemberDurations> member_durations(const Program& program, const StageCosts& costs) {
  const CellCosts costs_of(program, costs);
  std::vector<MemberDurations> made;
  for (const Program::Cell& cell : program.cells) made.push_back(costs_of.members_of(cell));
  return made;
}

void check_total_time(double nanoseconds) {
  if (nanoseconds > static_cast<double>(kMostSum)) refuse_times();
}

void check_device_time(Nanoseconds makespan, int devices) {
  if (makespan > kMostSum / devices) refuse_times();
}

}  // namespace debubble
