#include "scenario/job/copy_costs.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/topology.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kDefaultHostBandwidth = 25'000'000'000;  // about what a PCIe 4.0 x16 link carries

bool has_copy(const Schedule& schedule, bool to_peer) {
  return std::any_of(schedule.copies.begin(), schedule.copies.end(), [&](const std::vector<Copy>& lane) {
    return std::any_of(lane.begin(), lane.end(), [&](const Copy& copy) { return (copy.peer >= 0) == to_peer; });
  });
}

std::string rate_text(std::int64_t bandwidth) { return bandwidth == 0 ? "unlimited" : format_size(bandwidth) + "/s"; }

// A bandwidth, and who says so. 0: unlimited.
struct Rate {
  std::int64_t bandwidth = 0;
  Source source = Source::kDefault;
};

// What the narrowest of these links carries.
std::int64_t narrowest(const LinkGraph& graph, const std::vector<std::int32_t>& links) {
  std::int64_t bandwidth = 0;
  for (const std::int32_t link : links) {
    const std::int64_t own = at(graph.links, link).bandwidth;
    if (own != 0 && (bandwidth == 0 || own < bandwidth)) bandwidth = own;
  }
  return bandwidth;
}

// The rate at which a device of the cluster reaches its host, alone; nothing where it has none.
std::optional<Rate> cluster_host_rate(const Scenario& scenario, int devices) {
  const ClusterScenario& cluster = scenario.cluster;
  if (cluster.graph == nullptr) return std::nullopt;
  std::vector<std::int32_t> links;
  const std::int32_t device = cluster.layout(devices).device(0, 0, 0, 0);
  if (!cluster.graph->router->host_route(device, true, links)) return std::nullopt;
  return Rate{narrowest(*cluster.graph, links), Source::kModelled};
}

Rate host_rate(const Scenario& scenario, int devices) {
  if (scenario.host_bandwidth) return {*scenario.host_bandwidth, Source::kGiven};
  return cluster_host_rate(scenario, devices).value_or(Rate{kDefaultHostBandwidth, Source::kDefault});
}

// Over a cluster: of the pair of partners with the narrowest route between them.
Rate partner_rate(const ClusterScenario& cluster, const Schedule& schedule) {
  const RankLayout layout = cluster.layout(schedule.devices);
  Rate rate{0, Source::kModelled};
  for (std::size_t device = 0; device < schedule.copies.size(); ++device) {
    for (const Copy& copy : schedule.copies[device]) {
      if (copy.peer < 0) continue;
      std::vector<std::int32_t> links;
      cluster.graph->router->route(layout.device(0, 0, 0, static_cast<int>(device)), layout.device(0, 0, 0, copy.peer),
                                   links);
      const std::int64_t own = narrowest(*cluster.graph, links);
      if (own != 0 && (rate.bandwidth == 0 || own < rate.bandwidth)) rate.bandwidth = own;
    }
  }
  return rate;
}

Rate link_rate(const Scenario& scenario, const Schedule& schedule) {
  if (scenario.cluster.graph != nullptr) return partner_rate(scenario.cluster, schedule);
  if (scenario.bandwidth) return {*scenario.bandwidth, Source::kGiven};
  if (scenario.profile->hop_bandwidth) return {*scenario.profile->hop_bandwidth, scenario.profile->origin.times};
  return {0, Source::kDefault};
}

}  // namespace

void set_copy_costs(const Scenario& scenario, const Schedule& schedule, StageCosts& costs,
                    std::vector<Assumption>& assumptions) {
  const bool to_peer = has_copy(schedule, true);
  const bool to_host = has_copy(schedule, false);
  if (!scenario.profile) {
    if (!to_peer && !to_host) return;
    const bool given = scenario.times_given.contains("copy");
    assumptions.push_back({"copy of an activation, one way",
                           format_duration_exact(scenario.times.copy) + " per device share",
                           given ? Source::kGiven : Source::kDefault});
    return;
  }
  const Rate rate = to_peer ? link_rate(scenario, schedule) : host_rate(scenario, schedule.devices);
  const Topology lane = Topology::ideal(0, rate.bandwidth);
  for (StageCost& stage : costs.stages) stage.copy = lane.transfer(0, 1, stage.activation).serialisation;
  if (to_peer) assumptions.push_back({"link between partners", rate_text(rate.bandwidth), rate.source});
  if (to_host) assumptions.push_back({"host bandwidth", rate_text(rate.bandwidth), rate.source});
}

}  // namespace debubble
