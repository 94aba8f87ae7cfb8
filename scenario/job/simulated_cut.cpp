#include "scenario/job/simulated_cut.hpp"

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
#include "sim/engine/simulate.hpp"

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

// What every device takes; empty where the order deadlocks, or nothing is judged.
std::vector<DeviceMemory> simulated_memories(const Job& job) {
  const auto lowered = lower(job.schedule, job.p2p);
  const auto* const program = std::get_if<Program>(&lowered);
  if (program == nullptr || job.memory.capacities.empty()) return {};
  const bool alone = !job.topology.contended() && job.step.empty();
  const Timeline timeline =
      alone ? simulate(*program, job.schedule, job.costs, job.topology)
            : simulate_cluster(*program, job.schedule, job.costs, job.topology, {&job.step, nullptr, 1}).front();
  return device_memories(timeline, job.schedule, job.costs, job.memory.capacities, job.memory.allocator);
}

Job job_that_fits(const Scenario& scenario, const std::function<CutJob(const Scenario&)>& made) {
  constexpr int kMostCuts = 16;  // of which few are needed: what is set aside only grows
  Scenario cut = scenario;
  CutJob one = made(cut);
  std::vector<Bytes>& aside = cut.partition.set_aside;
  aside.assign(to_index(one.job.schedule.devices), 0);
  for (int cuts = 1; cuts < kMostCuts && one.cut.lacking == 0; ++cuts) {
    const std::vector<DeviceMemory> memories = simulated_memories(one.job);
    bool fits = true;
    for (std::size_t d = 0; d < memories.size(); ++d) {
      if (memories[d].fits) continue;
      fits = false;
      aside[d] = std::max(aside[d] + 1, memories[d].reserved - one.cut.needs[d]);
    }
    if (fits) break;
    one = made(cut);
  }
  return std::move(one.job);
}

Job job_cut_for_wires(const Scenario& scenario, const std::string& name,
                      const std::function<CutJob(const Scenario&)>& made) {
  Job best = made(scenario).job;
  if (best.partition.empty() || cannot_be_tried(best, name) || !transfers_differ(best)) return best;
  std::optional<Nanoseconds> shortest = simulated_makespan(best);
  if (!shortest) return best;
  std::set<std::vector<int>> tried{best.partition};
  Scenario other = scenario;
  for (const double counted : {0.25, 0.5, 1.0}) {
    other.partition.transfers_counted = counted;
    if (!tried.insert(make_stage_costs(other, best.schedule).cut.layers).second) continue;
    Job job = made(other).job;
    const std::optional<Nanoseconds> makespan = simulated_makespan(job);
    if (!makespan || *makespan >= *shortest) continue;
    shortest = makespan;
    best = std::move(job);
  }
  return best;
}

}  // namespace

Job job_of_cut(const Scenario& scenario, const std::string& name, const std::function<CutJob(const Scenario&)>& made) {
  if (scenario.partition.how == CutRule::How::kMemory) return job_that_fits(scenario, made);
  if (scenario.partition.for_devices) return job_cut_for_wires(scenario, name, made);
  return made(scenario).job;
}

}  // namespace debubble
