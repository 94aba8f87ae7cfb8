#include "studies/whatif/no_effect.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "sim/core/at.hpp"
#include "sim/core/numbers.hpp"
#include "studies/whatif/link_groups.hpp"
#include "studies/whatif/step_time.hpp"

namespace debubble {

namespace {

bool takes_no_time(const Topology& topology) {
  return topology.network() == nullptr && topology.latency() == 0 && topology.bandwidth() == 0;
}

// On ideal links: whether a transfer of the schedule goes over that link, "3-4" or "3>4".
bool is_taken(const Program& program, const std::string& link) {
  const std::size_t mark = link.find_first_of("->");
  if (mark == std::string::npos) return true;
  const auto a = count_of(link.substr(0, mark));
  const auto b = count_of(link.substr(mark + 1));
  if (!a || !b) return true;
  const bool both_ways = link[mark] == '-';
  return std::any_of(program.channels.begin(), program.channels.end(), [&](const Program::Channel& channel) {
    const bool there = channel.from_device == *a && channel.to_device == *b;
    const bool back = channel.from_device == *b && channel.to_device == *a;
    return there || (both_ways && back);
  });
}

std::string why_link(const LinkChange& change, const Scenario& scenario, const Job& prepared, const Program& program) {
  const std::string name = change.link.empty() ? "the links" : "link " + change.link;
  const Network* network = prepared.topology.network();
  if (network != nullptr) {
    const LinkGroups groups(prepared, program, LinkFollower(scenario, prepared));
    const std::vector<std::int32_t> links = links_of(network->graph, change);
    const bool used =
        std::any_of(links.begin(), links.end(), [&](std::int32_t link) { return at(groups.group_of(), link) >= 0; });
    if (!used) return "nothing in this run takes " + name + ": no transfer, no collective";
  } else if (!change.link.empty() && !is_taken(program, change.link)) {
    return "no transfer of this schedule takes " + name;
  } else if (change.cut && takes_no_time(prepared.topology)) {
    return "transfers take no time on ideal links without --comm and --bandwidth, so that the route around " + name +
           " takes none either";
  }
  if (change.latency_is) return "nobody waits for what takes " + name + " with that latency";
  const char* reason = network != nullptr ? "other links on the routes are slower, or nobody waits for what takes it"
                                          : "nobody waits for what takes it";
  return name + (change.link.empty() ? " are used, but " : " is used, but ") + reason;
}

std::string why_overlap(const Program& program) {
  const bool any = std::any_of(program.channels.begin(), program.channels.end(), [](const Program::Channel& channel) {
    return channel.from_device != channel.to_device;
  });
  return any ? "no device has anything to compute during its transfers" : "nothing travels between devices";
}

}  // namespace

bool same_result(const Report& base, const Report& changed) {
  const auto same = [](const DeviceReport& a, const DeviceReport& b) {
    return a.busy == b.busy && a.idle_by_cause == b.idle_by_cause && a.peak_memory == b.peak_memory;
  };
  const CriticalPath& a = base.critical_path;
  const CriticalPath& b = changed.critical_path;
  if (base.devices.size() != changed.devices.size()) return false;
  return base.makespan == changed.makespan && base.schedule.microbatches == changed.schedule.microbatches &&
         a.compute == b.compute && a.transfer == b.transfer && a.collective == b.collective &&
         std::equal(base.devices.begin(), base.devices.end(), changed.devices.begin(), changed.devices.end(), same);
}

std::vector<std::string> why_no_effect(const std::vector<NamedChange>& changes, const Scenario& scenario,
                                       const Job& prepared, const Report& base) {
  std::vector<std::string> reasons;
  const std::optional<Program> program = lowered(prepared, prepared.p2p);
  for (const NamedChange& one : changes) {
    for (const LinkChange& link : one.changes.links) {
      reasons.push_back(program ? why_link(link, scenario, prepared, *program) : "");
    }
    if (one.changes.overlap) reasons.push_back(program ? why_overlap(*program) : "");
    const bool varies =
        !one.changes.slow.empty() || one.changes.jitter != 0 || one.changes.factors.kind != FactorSource::Kind::kNone;
    if (varies) {
      reasons.push_back(
          one.label +
          (base.makespan == 0
               ? ", but its ops take no time"
               : ", but nobody waits for the ops that it is about, or it is less than a nanosecond of each"));
    }
  }
  std::erase(reasons, "");
  return reasons;
}

}  // namespace debubble
