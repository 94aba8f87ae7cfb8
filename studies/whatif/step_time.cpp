#include "studies/whatif/step_time.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"
#include "studies/simulate/distinct_replicas.hpp"

namespace debubble {

std::optional<Program> lowered(const Job& job, P2p p2p) {
  auto result = lower(job.schedule, p2p);
  if (auto* program = std::get_if<Program>(&result)) return std::move(*program);
  return std::nullopt;
}

bool needs_events(const Job& job) { return job.topology.contended() || !job.step.empty(); }

Nanoseconds step_time(const Job& job, const Program& program) { return step_time(job, program, job.variation); }

Nanoseconds step_time(const Job& job, const Program& program, const Variation& variation) {
  const int replicas = distinct_replicas(job, program, variation);
  const bool other_links = replicas > 1 && !variation.replicas_differ();
  if (needs_events(job) || other_links) {
    return simulate_cluster_totals(program, job.schedule, job.costs, job.topology, {&job.step, &variation, replicas})
        .makespan;
  }
  if (variation.none()) return simulate_totals(program, job.costs, job.topology).makespan;
  Nanoseconds slowest = 0;
  for (int replica = 0; replica < replicas; ++replica) {
    const auto durations = varied_durations(program, job.schedule, job.costs, variation, replica);
    slowest = std::max(slowest, simulate_varied(program, job.costs, job.topology, durations));
  }
  return slowest;
}

}  // namespace debubble
