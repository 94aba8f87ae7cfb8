#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cost_models/collectives/algorithms.hpp"
#include "cost_models/collectives/collective.hpp"
#include "cost_models/collectives/known_drafts.hpp"
#include "cost_models/collectives/measured.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/topology.hpp"

namespace debubble {

namespace {

using collectives::Drafts;
using collectives::Groups;
using collectives::PhaseDraft;
using collectives::Ranks;
using collectives::Routes;

constexpr std::array kAllAlgorithms{CollectiveAlgorithm::kRing,         CollectiveAlgorithm::kTree,
                                    CollectiveAlgorithm::kHierarchical, CollectiveAlgorithm::kInNetwork,
                                    CollectiveAlgorithm::kPairwise,     CollectiveAlgorithm::kHalvingDoubling,
                                    CollectiveAlgorithm::kTorus,        CollectiveAlgorithm::kSparse};
constexpr std::size_t kAutomatic = 5;  // the first ones, among which kAuto chooses

// "1.5 GiB", to display.
std::string size_text(Bytes bytes) {
  Scale scale = size_scale(bytes);
  if (scale.divisor > 1) scale.decimals = 1;
  return format_short(bytes, scale) + " " + scale.unit;
}

Nanoseconds latency_of(const collectives::Messages& messages, const CollectiveProtocol& protocol, bool step_has_links) {
  return messages.near * protocol.step_latency + messages.far * protocol.far_latency +
         (step_has_links ? 0 : messages.near_links) + messages.far_links;
}

// Draft and protocol make flows. The protocol's bytes that carry no payload take their part of the links.
CollectivePlan realize(const LinkGraph& graph, const Drafts& drafts, Bytes bytes, const CollectiveProtocol& protocol,
                       const CollectiveModel& model) {
  CollectivePlan plan;
  plan.algorithm = protocol.algorithm;
  // Phases run one after the other; within one, its flow shares the links with what else crosses them.
  for (const PhaseDraft& draft : drafts) {
    Flow flow;
    flow.bytes = bytes;
    flow.path.links = draft.links;
    for (LinkShare& share : flow.path.links) share.weight *= draft.scale / (protocol.efficiency * model.scale);
    flow.path.latency = latency_of(draft.messages, protocol, model.step_includes_links);
    // The base latency is paid once per collective: it is that of the kernel's launch.
    if (plan.phases.empty()) flow.path.latency += protocol.base_latency;
    if (model.scale != 1) flow.path.latency = std::llround(static_cast<double>(flow.path.latency) / model.scale);
    plan.phases.push_back(std::move(flow));
  }
  if (protocol.algorithm == CollectiveAlgorithm::kSparse && model.selection_bandwidth > 0) {
    const double seconds = static_cast<double>(bytes) / static_cast<double>(model.selection_bandwidth);
    plan.phases.front().path.latency += std::llround(seconds * 1e9);
  }
  for (const Flow& phase : plan.phases) plan.duration += alone(phase, graph, NetworkModel::kFluid).total();
  return plan;
}

// Those that a library may take; all of an algorithm that somebody asked for.
std::vector<CollectiveProtocol> protocols_of(const CollectiveModel& model, CollectiveAlgorithm algorithm,
                                             std::size_t ranks) {
  std::vector<CollectiveProtocol> found;
  bool known = false;
  for (const CollectiveProtocol& protocol : model.protocols) {
    if (protocol.algorithm != algorithm) continue;
    known = true;
    const bool enough = ranks >= static_cast<std::size_t>(protocol.least_ranks);
    if (enough || model.algorithm == algorithm) found.push_back(protocol);
  }
  if (!known) {
    found.push_back({algorithm, "", model.base_latency, model.step_latency, model.far_latency, model.efficiency});
  }
  return found;
}

// A library whose protocols are known runs those and nothing else: NCCL has no hierarchical algorithm. Of an all-to-all
// it passes messages over NVLink to the card on the receiver's rail (PXN), which the hierarchical one describes.
bool has_protocol(const CollectiveModel& model, CollectiveKind kind, CollectiveAlgorithm algorithm) {
  return model.protocols.empty() || kind == CollectiveKind::kAllToAll ||
         std::any_of(model.protocols.begin(), model.protocols.end(),
                     [&](const CollectiveProtocol& protocol) { return protocol.algorithm == algorithm; });
}

std::string plan_text(CollectiveKind kind, Bytes bytes, const CollectiveProtocol& protocol, std::size_t ranks) {
  return std::string(to_string(kind)) + " of " + size_text(bytes) + ", " + to_string(protocol.algorithm) +
         (protocol.name.empty() ? "" : " " + protocol.name) + " over " + std::to_string(ranks);
}

std::optional<CollectivePlan> fastest(const LinkGraph& graph, const Drafts& drafts, std::size_t ranks,
                                      CollectiveKind kind, Bytes bytes, const CollectiveModel& model,
                                      CollectiveAlgorithm algorithm) {
  if (drafts.empty()) return std::nullopt;
  std::optional<CollectivePlan> best;
  for (const CollectiveProtocol& protocol : protocols_of(model, algorithm, ranks)) {
    CollectivePlan plan = realize(graph, drafts, bytes, protocol, model);
    plan.text = plan_text(kind, bytes, protocol, ranks);
    if (!best || plan.duration < best->duration) best = std::move(plan);
  }
  return best;
}

// `known`, or null, keeps them.
KnownDrafts::Drafts drafts_of(CollectiveAlgorithm algorithm, Routes& routes, const Groups& groups, CollectiveKind kind,
                              const CollectiveModel& model, KnownDrafts* known) {
  const auto make = [&] { return collectives::draft(algorithm, routes, groups, kind, model); };
  return known == nullptr ? std::make_shared<const Drafts>(make()) : known->get(algorithm, groups, kind, model, make);
}

std::optional<CollectivePlan> fastest(Routes& routes, const Groups& groups, CollectiveKind kind, Bytes bytes,
                                      const CollectiveModel& model, CollectiveAlgorithm algorithm, KnownDrafts* known) {
  const KnownDrafts::Drafts drafts = drafts_of(algorithm, routes, groups, kind, model, known);
  return fastest(routes.graph(), *drafts, groups.front().size(), kind, bytes, model, algorithm);
}

// Over the links of the algorithm that the library takes there, at the rate that makes it last as long as measured.
std::optional<CollectivePlan> as_measured(Routes& routes, const Groups& groups, CollectiveKind kind, Bytes bytes,
                                          const CollectiveModel& model, KnownDrafts* known) {
  if (!model.measured) return std::nullopt;
  const std::size_t ranks = groups.front().size();
  const auto time = measured_collective(*model.measured, kind, static_cast<int>(ranks), bytes);
  if (!time) return std::nullopt;
  CollectiveProtocol protocol{CollectiveAlgorithm::kInNetwork, "as measured", time->latency};
  KnownDrafts::Drafts drafts;
  if (reduces_in_switches(*model.measured, kind, static_cast<int>(ranks))) {
    drafts = drafts_of(protocol.algorithm, routes, groups, kind, model, known);
  }
  const bool in_switches = drafts != nullptr && !drafts->empty();
  if (!in_switches) {
    protocol.algorithm =
        kind == CollectiveKind::kAllToAll ? CollectiveAlgorithm::kPairwise : CollectiveAlgorithm::kRing;
    drafts = drafts_of(protocol.algorithm, routes, groups, kind, model, known);
  }
  const double copies = copies_on_wire(kind, static_cast<int>(ranks), in_switches);
  const double seconds = static_cast<double>(std::max<Nanoseconds>(1, time->total - time->latency)) / 1e9;
  protocol.efficiency =
      copies * static_cast<double>(bytes) / seconds / static_cast<double>(preset_bandwidth(*model.measured));
  CollectivePlan plan = realize(routes.graph(), *drafts, bytes, protocol, model);
  plan.text = plan_text(kind, bytes, protocol, ranks);
  return plan;
}

[[noreturn]] void refuse_algorithm(Routes& routes, const Groups& groups, std::size_t ranks, CollectiveKind kind,
                                   const CollectiveModel& model) {
  std::string fit;
  for (const CollectiveAlgorithm algorithm : kAllAlgorithms) {
    if (collectives::draft(algorithm, routes, groups, kind, model).empty()) continue;
    fit += (fit.empty() ? "" : ", ") + std::string(to_string(algorithm));
  }
  const std::string where = routes.graph().name.empty() ? "this cluster" : routes.graph().name;
  throw InputError(Diagnostic{"B030", "--collective",
                              std::string(to_string(model.algorithm)) + " does no " + to_string(kind) + " over " +
                                  std::to_string(ranks) + " devices of " + where,
                              "these can: " + fit});
}

CollectivePlan nothing_to_do(CollectiveKind kind, CollectiveAlgorithm algorithm) {
  return {{}, 0, algorithm, std::string(to_string(kind)) + " of nothing"};
}

// Groups of more than one rank; all of one size.
Groups working(const std::vector<std::vector<std::int32_t>>& groups) {
  Groups found;
  for (const auto& group : groups) {
    if (group.size() > 1) found.push_back(group);
  }
  for (const auto& group : found) {
    if (group.size() != found.front().size()) throw std::logic_error("groups side by side differ in size");
  }
  return found;
}

}  // namespace

const char* to_string(CollectiveKind kind) {
  constexpr std::array<const char*, 5> kNames{"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast"};
  return at(kNames, kind);
}

const char* to_string(CollectiveAlgorithm algorithm) {
  constexpr std::array<const char*, 9> kNames{"auto",  "ring",       "tree",   "halving-doubling", "hierarchical",
                                              "torus", "in-network", "sparse", "pairwise"};
  return at(kNames, algorithm);
}

namespace collectives {
namespace {

Drafts links_as_crossed(CollectiveAlgorithm algorithm, Routes& routes, const Groups& groups, CollectiveKind kind,
                        const CollectiveModel& model) {
  switch (algorithm) {
    case CollectiveAlgorithm::kRing:
      return draft_ring(routes, groups, kind);
    case CollectiveAlgorithm::kTree:
      return draft_tree(routes, groups, kind, model.tree_far_copies);
    case CollectiveAlgorithm::kHalvingDoubling:
      return draft_halving_doubling(routes, groups, kind);
    case CollectiveAlgorithm::kHierarchical:
      return draft_hierarchical(routes, groups, kind);
    case CollectiveAlgorithm::kTorus:
      return draft_torus(routes, groups, kind);
    case CollectiveAlgorithm::kInNetwork:
      return draft_in_network(routes, groups, kind);
    case CollectiveAlgorithm::kSparse:
      return draft_sparse(routes, groups, kind, model.density, model.entry_size);
    case CollectiveAlgorithm::kPairwise:
      return draft_pairwise(routes, groups, kind);
    case CollectiveAlgorithm::kAuto:
      break;
  }
  return {};
}

}  // namespace

Drafts draft(CollectiveAlgorithm algorithm, Routes& routes, const Groups& groups, CollectiveKind kind,
             const CollectiveModel& model) {
  Drafts drafts = links_as_crossed(algorithm, routes, groups, kind, model);
  for (PhaseDraft& phase : drafts) merge(phase.links);
  return drafts;
}

}  // namespace collectives

CollectivePlan plan_collective(const LinkGraph& graph, const std::vector<std::vector<std::int32_t>>& groups,
                               CollectiveKind kind, Bytes bytes, const CollectiveModel& model, KnownDrafts* known) {
  const Groups busy = working(groups);
  if (busy.empty() || bytes == 0) return nothing_to_do(kind, model.algorithm);
  Routes routes(graph);
  if (model.algorithm != CollectiveAlgorithm::kAuto) {
    std::optional<CollectivePlan> plan = fastest(routes, busy, kind, bytes, model, model.algorithm, known);
    if (!plan) refuse_algorithm(routes, busy, busy.front().size(), kind, model);
    return std::move(*plan);
  }
  if (std::optional<CollectivePlan> plan = as_measured(routes, busy, kind, bytes, model, known))
    return std::move(*plan);
  std::optional<CollectivePlan> best;
  for (std::size_t k = 0; k < kAutomatic; ++k) {
    if (!has_protocol(model, kind, kAllAlgorithms[k])) continue;
    std::optional<CollectivePlan> plan = fastest(routes, busy, kind, bytes, model, kAllAlgorithms[k], known);
    if (plan && (!best || plan->duration < best->duration)) best = std::move(plan);
  }
  return std::move(best.value());
}

CollectivePlan plan_on_ports(std::size_t ranks, std::int64_t bandwidth, Nanoseconds latency, CollectiveKind kind,
                             Bytes bytes, const CollectiveModel& model) {
  if (ranks < 2 || bytes == 0) return nothing_to_do(kind, model.algorithm);
  const auto is_drawn = [&](CollectiveAlgorithm algorithm) {
    return algorithm != CollectiveAlgorithm::kRing && algorithm != CollectiveAlgorithm::kTree;
  };
  const bool automatic = model.algorithm == CollectiveAlgorithm::kAuto;
  constexpr std::size_t kMostDrawn = 1024;
  if (kind == CollectiveKind::kAllToAll || (!automatic && is_drawn(model.algorithm))) {
    if (ranks > kMostDrawn) {
      throw InputError(Diagnostic{"B030", "--collective",
                                  std::string(to_string(kind)) + " over " + std::to_string(ranks) +
                                      " ranks on ideal links: beyond " + std::to_string(kMostDrawn) +
                                      " only rings and trees are planned",
                                  "take --collective ring or tree, fewer ranks, or a --topology"});
    }
    std::vector<std::int32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0);
    return plan_collective(collectives::port_graph(ranks, bandwidth, latency), {all}, kind, bytes, model);
  }
  // In rings and trees on a crossbar all ports carry the same, so the busiest one represents all: the time to
  // plan does not depend on the number of ranks.
  const LinkGraph two_ports = collectives::port_graph(2, bandwidth, latency);
  std::optional<CollectivePlan> best;
  for (const CollectiveAlgorithm algorithm : {CollectiveAlgorithm::kRing, CollectiveAlgorithm::kTree}) {
    if (!automatic && algorithm != model.algorithm) continue;
    const Drafts drafts = collectives::draft_on_ports(algorithm, ranks, latency, kind);
    std::optional<CollectivePlan> plan = fastest(two_ports, drafts, ranks, kind, bytes, model, algorithm);
    if (plan && (!best || plan->duration < best->duration)) best = std::move(plan);
  }
  if (best) return std::move(*best);
  // What fits so many ranks fits a few of them.
  const std::size_t few = std::min(ranks, kMostDrawn);
  const LinkGraph ports = collectives::port_graph(few, bandwidth, latency);
  Ranks group(few);
  std::iota(group.begin(), group.end(), 0);
  Routes routes(ports);
  refuse_algorithm(routes, {group}, ranks, kind, model);
}

}  // namespace debubble
