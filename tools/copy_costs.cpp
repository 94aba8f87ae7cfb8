#include "tools/copy_costs.hpp"

#include <algorithm>
#include <string>

#include "sim/core/topology.hpp"
#include "tools/quantities.hpp"

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

Rate host_rate(const Scenario& scenario) {
  if (scenario.host_bandwidth) return {*scenario.host_bandwidth, Source::kGiven};
  return {kDefaultHostBandwidth, Source::kDefault};
}

Rate link_rate(const Scenario& scenario) {
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
  const Rate rate = to_peer ? link_rate(scenario) : host_rate(scenario);
  const Topology lane = Topology::ideal(0, rate.bandwidth);
  for (StageCost& stage : costs.stages) stage.copy = lane.transfer(0, 1, stage.activation).serialisation;
  if (to_peer) assumptions.push_back({"link between partners", rate_text(rate.bandwidth), rate.source});
  if (to_host) assumptions.push_back({"host bandwidth", rate_text(rate.bandwidth), rate.source});
}

}  // namespace debubble
