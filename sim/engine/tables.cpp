#include "sim/engine/tables.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "sim/core/error.hpp"

namespace debubble {

namespace {

void add_member(CellCost& cell, OpKind kind, const StageCost& cost, int pieces) {
  if (is_vocabulary(kind)) return;
  cell.duration += piece_of(duration_of(kind, cost), pieces);
  cell.workspace += piece_of(cost.workspace, pieces);
  const Bytes activation = piece_of(cost.activation, pieces);
  const Bytes held = piece_of(cost.weight_grad_held, pieces);
  switch (kind) {
    case OpKind::kForward:
      cell.at_begin += activation;
      break;
    case OpKind::kBackward:
      cell.at_end -= activation;
      break;
    case OpKind::kInputGrad:
      cell.at_end += held - activation;
      break;
    case OpKind::kWeightGrad:
      cell.at_end -= held;
      break;
    case OpKind::kRecompute:
    case OpKind::kVocabularyLogits:
    case OpKind::kVocabularyGradient:
      break;
  }
}

CellCost cost_of(const Program::Cell& cell, const StageCosts& costs, int pieces) {
  CellCost result;
  result.device = cell.device;
  add_member(result, cell.kind, costs.stages[static_cast<std::size_t>(cell.stage)], pieces);
  if (!cell.paired) return result;
  add_member(result, cell.partner_kind, costs.stages[static_cast<std::size_t>(cell.partner_stage)], pieces);
  const bool one_forward = (cell.kind == OpKind::kForward) != (cell.partner_kind == OpKind::kForward);
  if (one_forward && costs.overlapped_pair) result.duration = piece_of(*costs.overlapped_pair, pieces);
  return result;
}

// A quarter of what 64 bits hold, so that neither a sum of two such numbers nor a product by two can overflow.
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;

[[noreturn]] void refuse_times() {
  throw InputError(Diagnostic{"X001", "", "the times of this run add up to more than a 64-bit nanosecond count holds",
                              "check the units of the times; use fewer microbatches"});
}

[[noreturn]] void refuse_sizes() {
  throw InputError(Diagnostic{"X002", "", "the sizes of this run add up to more than a 64-bit byte count holds",
                              "check the units of the sizes; use fewer microbatches"});
}

// The run is a sum of at most one duration and one transfer per node, and memory of at most one allocation per node:
// if the largest of each times the number of nodes fits, no partial sum can overflow.
void check_range(const Program& program, const Tables& tables) {
  double longest = 0;
  double largest = 0;
  for (const CellCost& cell : tables.cells) {
    longest = std::max(longest, static_cast<double>(cell.duration));
    largest = std::max({largest, static_cast<double>(cell.at_begin), static_cast<double>(cell.at_end),
                        static_cast<double>(cell.workspace)});
  }
  double slowest = 0;
  for (std::size_t k = 0; k < tables.channels.size(); ++k) {
    slowest = std::max(slowest, static_cast<double>(tables.channels[k].serialisation) +
                                    static_cast<double>(tables.channels[k].latency));
    largest = std::max(largest, static_cast<double>(tables.channel_bytes[k]));
  }
  double resident = 0;
  for (const Bytes bytes : tables.static_bytes) resident = std::max(resident, static_cast<double>(bytes));
  constexpr auto kLimit = static_cast<double>(kMost);
  const auto nodes = static_cast<double>(program.nodes.size() + 1);
  if ((longest + slowest) * nodes > kLimit) refuse_times();
  if (largest * nodes + resident > kLimit) refuse_sizes();
}

}  // namespace

Tables make_tables(const Program& program, const StageCosts& costs, const Topology& topology) {
  if (costs.stages.size() != static_cast<std::size_t>(program.placement.stages())) {
    throw InputError(Diagnostic{"X003", "",
                                "the schedule has " + std::to_string(program.placement.stages()) +
                                    " stages but there are costs for " + std::to_string(costs.stages.size()),
                                "give one part of --partition per stage"});
  }
  Tables tables;
  for (const Program::Channel& channel : program.channels) {
    const bool remote = channel.from_device != channel.to_device;
    const Bytes output = costs.stages[static_cast<std::size_t>(channel.stage)].output;
    const Bytes bytes = remote ? piece_of(output, program.pieces) : 0;
    tables.channel_bytes.push_back(bytes);
    tables.channels.push_back(topology.transfer(channel.from_device, channel.to_device, bytes));
    tables.has_arrivals_or_workspace |= bytes > 0;
  }
  for (const Program::Cell& cell : program.cells) {
    tables.cells.push_back(cost_of(cell, costs, program.pieces));
    if (cell.input_channel < 0) continue;
    tables.cells.back().input_delay = tables.channels[static_cast<std::size_t>(cell.input_channel)].total();
  }
  for (const CellCost& cell : tables.cells) tables.has_arrivals_or_workspace |= cell.workspace > 0;
  tables.static_bytes.assign(static_cast<std::size_t>(program.devices), 0);
  for (int replica = 0; replica < program.placement.replicas(); ++replica) {
    for (int stage = 0; stage < program.placement.stages(); ++stage) {
      const StageCost& cost = costs.stages[static_cast<std::size_t>(stage)];
      Bytes& sum = tables.static_bytes[static_cast<std::size_t>(program.placement.device_of(replica, stage))];
      for (const Bytes more : {cost.weights, cost.gradients, cost.optimizer}) {
        if (more > kMost - sum) refuse_sizes();
        sum += more;
      }
    }
  }
  check_range(program, tables);
  return tables;
}

void check_device_time(Nanoseconds makespan, int devices) {
  if (makespan > kMost / devices) refuse_times();
}

}  // namespace debubble
