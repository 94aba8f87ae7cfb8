#include "scenario/job/links.hpp"

#include <array>
#include <utility>

#include "scenario/job/cluster_topology.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/job/model_profile.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

Assumed<Topology> ideal_topology(const Scenario& scenario) {
  Assumed<Topology> made;
  Nanoseconds latency = scenario.comm.value_or(0);
  std::int64_t bandwidth = scenario.bandwidth.value_or(0);
  Source latency_source = given_or_default(scenario.comm.has_value());
  Source bandwidth_source = given_or_default(scenario.bandwidth.has_value());
  if (scenario.profile && !scenario.comm && scenario.profile->hop_latency) {
    latency = *scenario.profile->hop_latency;
    latency_source = scenario.profile->origin.times;
  }
  if (scenario.profile && !scenario.bandwidth && scenario.profile->hop_bandwidth) {
    bandwidth = *scenario.profile->hop_bandwidth;
    bandwidth_source = scenario.profile->origin.times;
  }
  assume(made.assumptions, "hop latency", format_duration_exact(latency), latency_source);
  assume(made.assumptions, "link bandwidth", bandwidth == 0 ? "unlimited" : format_size(bandwidth) + "/s",
         bandwidth_source);
  made.value = Topology::ideal(latency, bandwidth);
  return made;
}

}  // namespace

Assumed<Topology> make_topology(const Scenario& scenario, int devices) {
  Assumed<Topology> made;
  made.assumptions = rank_assumptions(scenario.cluster, devices);
  Topology topology =
      taken(scenario.cluster.graph == nullptr ? ideal_topology(scenario) : cluster_topology(scenario, devices),
            made.assumptions);
  const auto placed = placed_layers(scenario, devices);
  made.value = topology.with_gather(placed == nullptr ? 0 : placed->longest_gather())
                   .calibrated(scenario.transformer.calibration.network_scale);
  return made;
}

P2p transfers_of(const Scenario& scenario, const std::string& name, bool has_receives) {
  if (scenario.p2p) return *scenario.p2p;
  if (has_receives) return P2p::kLate;
  if (scenario.framework.empty()) return P2p::kOverlapped;
  const auto group = scenario.params.find("group");
  const bool large = group != scenario.params.end() &&
                     has_large_groups(name, group->second, scenario.devices.value_or(kDefaultDevices));
  return transfers_in(scenario.framework, name, large);
}

void assume_transfers(const Scenario& scenario, P2p p2p, std::vector<Assumption>& assumptions) {
  const std::array<const char*, 6> modes{"overlapped with compute",
                                         "blocking: holds both compute lanes",
                                         "coupled: fused exchanges between ops",
                                         "late: receives posted at their places in the row",
                                         "rendezvous: holds both compute lanes, one after another",
                                         "joined: exchanges of warm-up and cool-down are waited for"};
  std::string how = at(modes, p2p);
  if (!scenario.p2p && p2p != P2p::kOverlapped) {
    how += scenario.framework.empty() ? ", as in the table" : ", as in " + scenario.framework;
  }
  assume(assumptions, "transfers", how, given_or_default(scenario.p2p.value_or(P2p::kOverlapped) != P2p::kOverlapped));
}

}  // namespace debubble
