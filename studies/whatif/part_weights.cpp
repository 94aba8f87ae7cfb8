#include "studies/whatif/part_weights.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/engine/cluster.hpp"

namespace debubble {

namespace {

using PartKind = CostName::Kind;

constexpr std::int64_t kWhole = std::int64_t{1} << 40;  // so large that rounding a part of it does not show

CostName op_name(OpKind kind, std::int32_t stage) {
  if (is_vocabulary(kind)) return {.kind = PartKind::kVocabulary, .op = kind};
  return {.kind = PartKind::kOp, .op = kind, .stage = stage};
}

Nanoseconds op_cost(const StageCosts& costs, OpKind kind, std::int32_t stage) {
  if (kind == OpKind::kVocabularyLogits) return costs.vocabulary ? costs.vocabulary->logits : 0;
  if (kind == OpKind::kVocabularyGradient) return costs.vocabulary ? costs.vocabulary->gradient : 0;
  return duration_of(kind, at(costs.stages, stage));
}

// Whether two times are the same but for rounding.
bool nearly_equal(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(a, b); }

}  // namespace

CostWeights::CostWeights(const Job& job, const Program& program, const LinkGroups& groups, int replica,
                         const std::vector<Nanoseconds>& durations)
    : job_(job),
      program_(program),
      groups_(groups),
      replica_(job.topology.contended() ? replica : 0),
      node_uses_(program.nodes.size()),
      channel_uses_(program.channels.size()) {
  add_nodes(replica, durations);
  add_channels();
  if (const Network* network = job.topology.network()) add_groups(*network);
  if (job.costs.vocabulary) {
    barrier_ = number_of({.kind = PartKind::kBarrier, .op = {}, .stage = 0}, job.costs.vocabulary->barrier);
  }
  sort_costs();
}

std::int32_t CostWeights::number_of(const CostName& name, Nanoseconds cost) {
  if (cost <= 0) return -1;
  const auto found =
      std::find_if(costs_.rbegin(), costs_.rend(), [&](const Derivative& known) { return known.name == name; });
  if (found != costs_.rend()) return static_cast<std::int32_t>(costs_.rend() - found) - 1;
  costs_.push_back({name, cost, {}, 0, {}});
  return static_cast<std::int32_t>(costs_.size()) - 1;
}

double CostWeights::share(int piece_class) const {
  return static_cast<double>(program_.shares.part(kWhole, piece_class)) / static_cast<double>(kWhole);
}

// A device's nodes are in the order of its row, so the row names their ops.
void CostWeights::add_nodes(int replica, const std::vector<Nanoseconds>& durations) {
  const std::vector<Nanoseconds> plain = varied_durations(program_, job_.schedule, job_.costs, Variation{}, replica);
  std::vector<std::size_t> position(static_cast<std::size_t>(program_.devices), 0);
  for (std::size_t k = 0; k < program_.nodes.size(); ++k) {
    if (program_.nodes[k].is_transfer()) continue;
    const Program::Cell& cell = program_.cells[program_.nodes[k].cell()];
    const double ratio = plain[k] > 0 ? static_cast<double>(durations[k]) / static_cast<double>(plain[k]) : 1;
    std::array<double, 2> factors{ratio, ratio};
    if (!cell.is_copy) {
      const auto& row = at(job_.schedule.rows, cell.device);
      std::size_t& next = at(position, cell.device);
      for (std::size_t member = 0; member < (cell.paired ? 2U : 1U); ++member) {
        factors[member] = job_.variation.factor(replica, cell.device, row[next++]);
      }
    }
    add_ops(k, cell, factors, ratio);
  }
}

void CostWeights::add_ops(std::size_t node, const Program::Cell& cell, std::array<double, 2> factors, double ratio) {
  auto& uses = node_uses_[node];
  const StageCosts& costs = job_.costs;
  if (cell.is_copy) {
    const Nanoseconds whole = at(costs.stages, cell.stage).copy;
    const double part = cell.recomputed && at(costs.stages, cell.stage).activation > 0
                            ? static_cast<double>(at(costs.stages, cell.stage).checkpoint) /
                                  static_cast<double>(at(costs.stages, cell.stage).activation)
                            : 1;
    const double weight = share(cell.piece_class) * part * ratio;
    uses[0] = {number_of({.kind = PartKind::kCopy, .op = {}, .stage = cell.stage}, whole), weight, weight};
    return;
  }
  const bool mixed = (cell.kind == OpKind::kForward && is_backward(cell.partner_kind)) ||
                     (cell.partner_kind == OpKind::kForward && is_backward(cell.kind));
  if (cell.paired && mixed && costs.overlapped_pair) {
    const auto part = program_.shares.pair_part(kWhole, cell.piece_class, cell.partner_class);
    const double weight = static_cast<double>(part) / static_cast<double>(kWhole) * ratio;
    uses[0] = {number_of({.kind = PartKind::kPair, .op = {}, .stage = 0}, *costs.overlapped_pair), weight, weight};
    return;
  }
  const Nanoseconds first_cost = op_cost(costs, cell.kind, cell.stage);
  const double first = share(cell.piece_class) * factors[0];
  uses[0] = {number_of(op_name(cell.kind, cell.stage), first_cost), first, first};
  if (!cell.paired) return;
  const Nanoseconds second_cost = op_cost(costs, cell.partner_kind, cell.partner_stage);
  const double second = share(cell.partner_class) * factors[1];
  uses[1] = {number_of(op_name(cell.partner_kind, cell.partner_stage), second_cost), second, second};
  if (!program_.pairs_run_side_by_side || cell.in_sequence) return;
  // The longer member decides; of two equal ones each does when it grows, and neither when it shrinks.
  const double a = static_cast<double>(first_cost) * first;
  const double b = static_cast<double>(second_cost) * second;
  const bool tie = nearly_equal(a, b);
  if (tie) uses[0].least = uses[1].least = 0;
  if (!tie) uses[a > b ? 1 : 0] = {};
}

void CostWeights::add_channels() {
  for (std::size_t k = 0; k < program_.channels.size(); ++k) {
    const Program::Channel& channel = program_.channels[k];
    if (channel.from_device == channel.to_device) continue;
    if (const Network* network = job_.topology.network()) {
      add_route(k, *network);
      continue;
    }
    const double scale = job_.topology.transfer_scale();
    const std::string link = std::to_string(channel.from_device) + ">" + std::to_string(channel.to_device);
    const auto bytes =
        static_cast<double>(program_.shares.part(at(job_.costs.stages, channel.stage).output, channel.piece_class));
    channel_uses_[k].push_back({number_of({.kind = PartKind::kLatency, .op = {}, .stage = 0, .link = link, .links = {}},
                                          job_.topology.latency()),
                                1 / scale, 1 / scale});
    channel_uses_[k].push_back(
        {number_of({.kind = PartKind::kTimePerByte, .op = {}, .stage = 0, .link = link, .links = {}},
                   job_.topology.bandwidth()),
         bytes / scale, bytes / scale});
  }
}

std::int32_t CostWeights::group_cost(PartKind kind, std::int32_t group) {
  const LinkGroup& of = at(groups_.groups(), group);
  if (kind == PartKind::kTimePerByte && of.never_tight) return -1;
  const Link& link = at(job_.topology.network()->graph.links, of.links.front());
  const CostName name{.kind = kind, .op = {}, .stage = 0, .link = of.name, .links = of.links};
  return number_of(name, kind == PartKind::kLatency ? link.latency : link.bandwidth);
}

// Also those that no transfer takes, but a task of the step or a collective inside a stage.
void CostWeights::add_groups(const Network& network) {
  const CostName message{.kind = PartKind::kLatency, .op = {}, .stage = 0, .link = "", .links = {}};
  if (!program_.channels.empty()) (void)number_of(message, network.message_latency);
  for (std::size_t group = 0; group < groups_.groups().size(); ++group) {
    for (const PartKind kind : {PartKind::kLatency, PartKind::kTimePerByte}) {
      (void)group_cost(kind, static_cast<std::int32_t>(group));
    }
  }
}

// The longest latency of the device's ranks counts, and the slowest of all links on their routes.
void CostWeights::add_route(std::size_t channel, const Network& network) {
  const Program::Channel& taken = program_.channels[channel];
  const CostName message{.kind = PartKind::kLatency, .op = {}, .stage = 0, .link = "", .links = {}};
  const double once = 1 / job_.topology.transfer_scale();
  channel_uses_[channel].push_back({number_of(message, network.message_latency), once, once});
  std::vector<std::vector<std::int32_t>> longest_routes;
  Nanoseconds longest = -1;
  for (int context = 0; context < network.layout.sizes.context; ++context) {
    for (int tensor = 0; tensor < network.layout.sizes.tensor; ++tensor) {
      std::vector<std::int32_t> route;
      network.graph.router->route(network.layout.device(tensor, context, replica_, taken.from_device),
                                  network.layout.device(tensor, context, replica_, taken.to_device), route);
      Nanoseconds latency = 0;
      for (const std::int32_t link : route) latency += at(network.graph.links, link).latency;
      if (latency > longest) longest_routes.clear();
      longest = std::max(longest, latency);
      if (latency == longest) longest_routes.push_back(std::move(route));
    }
  }
  add_latency(channel, longest_routes);
  add_bytes(channel, network);
}

// Of each group: how many of its links a longest route has, at most and at least.
void CostWeights::add_latency(std::size_t channel, const std::vector<std::vector<std::int32_t>>& longest) {
  std::map<std::int32_t, std::vector<int>> counts;
  for (std::size_t route = 0; route < longest.size(); ++route) {
    for (const std::int32_t link : longest[route]) {
      std::vector<int>& of_group = counts[at(groups_.group_of(), link)];
      of_group.resize(longest.size(), 0);
      ++of_group[route];
    }
  }
  const double once = 1 / job_.topology.transfer_scale();
  for (const auto& [group, of_routes] : counts) {
    const auto [least, most] = std::minmax_element(of_routes.begin(), of_routes.end());
    channel_uses_[channel].push_back({group_cost(PartKind::kLatency, group), *most * once, *least * once});
  }
}

void CostWeights::add_bytes(std::size_t channel, const Network& network) {
  const Program::Channel& taken = program_.channels[channel];
  const auto& links = network.graph.links;
  const FlowPath path = job_.topology.path(replica_, taken.from_device, taken.to_device);
  const auto bytes =
      static_cast<double>(program_.shares.part(at(job_.costs.stages, taken.stage).output, taken.piece_class));
  const auto slowness = [&](const LinkShare& share) {
    const std::int64_t bandwidth = at(links, share.link).bandwidth;
    return bandwidth == 0 ? 0.0 : share.weight / static_cast<double>(bandwidth);
  };
  const double bound = path.bound > 0 ? 1 / static_cast<double>(path.bound) : 0;
  double slowest = bound;
  for (const LinkShare& share : path.links) slowest = std::max(slowest, slowness(share));
  std::set<std::int32_t> tight;  // groups with a link as slow as any
  double weight = 0;
  for (const LinkShare& share : path.links) {
    if (slowness(share) == 0 || !nearly_equal(slowness(share), slowest)) continue;
    tight.insert(at(groups_.group_of(), share.link));
    weight = std::max(weight, share.weight);
  }
  const bool alone = tight.size() == 1 && !nearly_equal(bound, slowest);
  for (const std::int32_t group : tight) {
    channel_uses_[channel].push_back(
        {group_cost(PartKind::kTimePerByte, group), bytes * weight, alone ? bytes * weight : 0});
  }
}

void CostWeights::sort_costs() {
  std::vector<std::int32_t> order(costs_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int32_t k) {
    const CostName& name = at(costs_, k).name;
    return std::tuple(name.kind, name.stage, name.op);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  std::vector<std::int32_t> place(costs_.size());
  std::vector<Derivative> sorted;
  for (std::size_t k = 0; k < order.size(); ++k) {
    at(place, order[k]) = static_cast<std::int32_t>(k);
    sorted.push_back(at(costs_, order[k]));
  }
  costs_ = std::move(sorted);
  const auto move = [&](std::int32_t& cost) {
    if (cost >= 0) cost = at(place, cost);
  };
  for (auto& uses : node_uses_) {
    for (Use& use : uses) move(use.cost);
  }
  for (auto& uses : channel_uses_) {
    for (Use& use : uses) move(use.cost);
  }
  move(barrier_);
}

PartWeights CostWeights::of(std::size_t cost) const {
  const auto number = static_cast<std::int32_t>(cost);
  PartWeights weights;
  weights.node_most.assign(node_uses_.size(), 0);
  weights.node_least.assign(node_uses_.size(), 0);
  for (std::size_t k = 0; k < node_uses_.size(); ++k) {
    for (const Use& use : node_uses_[k]) {
      if (use.cost != number) continue;
      weights.node_most[k] += use.most;
      weights.node_least[k] += use.least;
    }
  }
  weights.channel_most.assign(channel_uses_.size(), 0);
  weights.channel_least.assign(channel_uses_.size(), 0);
  for (std::size_t k = 0; k < channel_uses_.size(); ++k) {
    for (const Use& use : channel_uses_[k]) {
      if (use.cost != number) continue;
      weights.channel_most[k] += use.most;
      weights.channel_least[k] += use.least;
    }
  }
  weights.barrier = number == barrier_ ? 1 : 0;
  return weights;
}

}  // namespace debubble
