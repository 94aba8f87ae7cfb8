#include "cost_models/collectives/nccl_model.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "cost_models/collectives/measured.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

// A row of NCCL's tuning tables: latencies in nanoseconds, and the share of the links' bandwidth that carries payload.
struct ProtocolRow {
  CollectiveAlgorithm algorithm;
  const char* protocol;
  Nanoseconds base, nvlink, pcie, network;
  double efficiency;
  Nanoseconds overhead;  // least hop of a ring that leaves its domain: a CPU's part in networking
};

constexpr double kTree = 0.92;
constexpr double kLl128 = 0.92;
constexpr std::array<ProtocolRow, 6> kRows{{
    {CollectiveAlgorithm::kRing, "LL", 6'600, 600, 1'000, 2'700, 0.5, 1'000},
    {CollectiveAlgorithm::kRing, "LL128", 14'000, 1'900, 2'500, 4'000, kLl128, 1'000},
    {CollectiveAlgorithm::kRing, "Simple", 8'400, 3'400, 5'700, 14'000, 1, 3'000},
    {CollectiveAlgorithm::kTree, "LL", 6'800, 600, 1'000, 5'000, 1 / 3.8, 0},
    {CollectiveAlgorithm::kTree, "LL128", 14'000, 1'250, 1'900, 8'500, kTree, 0},
    {CollectiveAlgorithm::kTree, "Simple", 8'400, 4'000, 4'000, 14'000, kTree, 0},
}};

CollectiveProtocol protocol_of(const ProtocolRow& row, LinkGeneration generation, bool leaves_domain,
                               CollectiveKind kind) {
  Nanoseconds near = generation == LinkGeneration::kPcie ? row.pcie : row.nvlink;
  if (leaves_domain) near = std::max(near, row.overhead);
  CollectiveProtocol protocol{row.algorithm, row.protocol, row.base, near, row.network, row.efficiency, 2};
  // The tuner's plateau of rings over several nodes; beyond a few KiB it always holds.
  const bool plateau = leaves_domain && kind == CollectiveKind::kAllReduce &&
                       row.algorithm == CollectiveAlgorithm::kRing && protocol.name == "Simple";
  if (plateau) {
    const std::int64_t tenths = generation == LinkGeneration::kPcie || generation == LinkGeneration::kVolta ? 19 : 14;
    for (Nanoseconds* latency : {&protocol.base_latency, &protocol.step_latency, &protocol.far_latency}) {
      *latency = *latency * tenths / 10;
    }
  }
  return protocol;
}

void add_in_network(LinkGeneration generation, CollectiveModel& model) {
  // Up and down: half of the tuner's hop each.
  constexpr Nanoseconds kHop = 12'500;
  constexpr Nanoseconds kBase = 8'400;
  const auto add = [&](double gigabytes, double link, int least) {
    model.protocols.push_back(
        {CollectiveAlgorithm::kInNetwork, "NVLS", kBase, kHop, kHop, gigabytes / 1.75 / link, least});
  };
  if (generation == LinkGeneration::kHopper) add(473.1, 370.8, 5);
  if (generation == LinkGeneration::kBlackwell) add(838.0, 721.8, 6);
}

void add_all_to_all(bool leaves_domain, CollectiveModel& model) {
  // Sends to all peers are posted together, so their number does not count.
  constexpr Nanoseconds kBase = 7'300;
  constexpr Nanoseconds kNetworkHop = 14'000;
  constexpr double kEfficiency = 0.5968 * 900 / 721.8;
  model.protocols.push_back(
      {CollectiveAlgorithm::kPairwise, "p2p", kBase + (leaves_domain ? kNetworkHop : 0), 0, 0, kEfficiency, 2});
}

}  // namespace

const char* to_string(LinkGeneration generation) {
  constexpr std::array<const char*, 5> kNames{"PCIe", "NVLink 2", "NVLink 3", "NVLink 4", "NVLink 5"};
  return at(kNames, generation);
}

std::optional<LinkGeneration> link_generation(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, LinkGeneration>, 12> kNames{{{"v100", LinkGeneration::kVolta},
                                                                                {"a100", LinkGeneration::kAmpere},
                                                                                {"a800", LinkGeneration::kAmpere},
                                                                                {"h100", LinkGeneration::kHopper},
                                                                                {"h200", LinkGeneration::kHopper},
                                                                                {"h800", LinkGeneration::kHopper},
                                                                                {"b200", LinkGeneration::kBlackwell},
                                                                                {"b100", LinkGeneration::kBlackwell},
                                                                                {"b300", LinkGeneration::kBlackwell},
                                                                                {"h20", LinkGeneration::kHopper},
                                                                                {"l40s", LinkGeneration::kPcie},
                                                                                {"pcie", LinkGeneration::kPcie}}};
  for (const auto& [part, generation] : kNames) {
    if (name.find(part) != std::string_view::npos) return generation;
  }
  return std::nullopt;
}

int domains_reached(const LinkGraph& graph, const std::vector<std::vector<std::int32_t>>& groups) {
  if (graph.domain.empty()) return 1;
  std::size_t most = 1;
  for (const auto& group : groups) {
    std::set<std::int32_t> reached;
    for (const std::int32_t device : group) reached.insert(at(graph.domain, device));
    most = std::max(most, reached.size());
  }
  return static_cast<int>(most);
}

CollectiveModel nccl_model(LinkGeneration generation, int domains, CollectiveKind kind) {
  const bool leaves_domain = domains > 1;
  CollectiveModel model;
  for (const ProtocolRow& row : kRows) model.protocols.push_back(protocol_of(row, generation, leaves_domain, kind));
  add_in_network(generation, model);
  add_all_to_all(leaves_domain, model);
  // What has no row of its own runs like a ring.
  const CollectiveProtocol simple = protocol_of(kRows[2], generation, leaves_domain, kind);
  model.base_latency = simple.base_latency;
  model.step_latency = simple.step_latency;
  model.far_latency = simple.far_latency;
  model.step_includes_links = true;
  if (domains == 2) model.tree_far_copies = 2;
  constexpr double kNvlinkShare = 0.15;
  constexpr double kNetworkShare = 0.02;
  const double share = leaves_domain ? kNetworkShare : kNvlinkShare;
  model.slow_down = share / (1 - share);
  return model;
}

CollectiveModel nccl_model_on(const LinkGraph& graph, const std::vector<std::vector<std::int32_t>>& groups,
                              LinkGeneration generation, CollectiveKind kind) {
  const int domains = domains_reached(graph, groups);
  CollectiveModel model = nccl_model(generation, domains, kind);
  if (domains == 1) model.measured = measured_machine(graph.name);
  return model;
}

}  // namespace debubble
