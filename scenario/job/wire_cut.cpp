#include "scenario/job/wire_cut.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "scenario/job/stage_costs.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/at.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/program.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostOpsToCutFor = 200'000;

// Of a message of each stage's output, to the next stage.
bool transfers_differ(const Job& job) {
  const Placement& placement = job.schedule.placement;
  std::set<Nanoseconds> times;
  for (int replica = 0; replica < placement.replicas(); ++replica) {
    for (int stage = 0; stage + 1 < job.schedule.stages; ++stage) {
      const int from = placement.device_of(replica, stage);
      const int to = placement.device_of(replica, stage + 1);
      if (from != to) times.insert(job.topology.transfer(from, to, at(job.costs.stages, stage).output).total());
    }
  }
  const bool hold_compute = job.p2p != P2p::kOverlapped;
  return times.size() > 1 || (hold_compute && !times.empty() && *times.begin() > 0);
}

bool cannot_be_tried(const Job& job, const std::string& name) {
  const ScheduleEntry* entry = find_schedule(name);
  return job.schedule.total_ops() > kMostOpsToCutFor || (entry != nullptr && entry->uses_costs);
}

std::optional<Nanoseconds> simulated_makespan(const Job& job) {
  const auto lowered = lower(job.schedule, job.p2p);
  const auto* const program = std::get_if<Program>(&lowered);
  if (program == nullptr) return std::nullopt;
  Variation variation = job.variation;
  variation.jitter = 0;
  return simulate_cluster_totals(*program, job.schedule, job.costs, job.topology, {&job.step, &variation, 1}).makespan;
}

}  // namespace

Job job_cut_for_wires(const Scenario& scenario, const std::string& name,
                      const std::function<Job(const Scenario&)>& made) {
  Job best = made(scenario);
  if (best.partition.empty() || cannot_be_tried(best, name) || !transfers_differ(best)) return best;
  std::optional<Nanoseconds> shortest = simulated_makespan(best);
  if (!shortest) return best;
  std::set<std::vector<int>> tried{best.partition};
  Scenario other = scenario;
  for (const double counted : {0.25, 0.5, 1.0}) {
    other.partition.transfers_counted = counted;
    if (!tried.insert(make_stage_costs(other, best.schedule).partition).second) continue;
    Job job = made(other);
    const std::optional<Nanoseconds> makespan = simulated_makespan(job);
    if (!makespan || *makespan >= *shortest) continue;
    shortest = makespan;
    best = std::move(job);
  }
  return best;
}

}  // namespace debubble
