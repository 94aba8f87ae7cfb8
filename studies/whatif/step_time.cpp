#include "studies/whatif/step_time.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "scenario/job/distinct_replicas.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble {

std::optional<Program> lowered(const Run& run, P2p p2p) {
  auto result = lower(run.schedule, p2p);
  if (auto* program = std::get_if<Program>(&result)) return std::move(*program);
  return std::nullopt;
}

bool needs_events(const Run& run) { return run.topology.contended() || !run.step.empty(); }

Nanoseconds step_time(const Run& run, const Program& program) { return step_time(run, program, run.variation); }

Nanoseconds step_time(const Run& run, const Program& program, const Variation& variation) {
  const int replicas = distinct_replicas(run, program, variation);
  const bool other_wires = replicas > 1 && !variation.replicas_differ();
  if (needs_events(run) || other_wires) {
    return simulate_cluster_totals(program, run.schedule, run.costs, run.topology, {&run.step, &variation, replicas})
        .makespan;
  }
  if (variation.none()) return simulate_totals(program, run.costs, run.topology).makespan;
  Nanoseconds slowest = 0;
  for (int replica = 0; replica < replicas; ++replica) {
    const auto durations = varied_durations(program, run.schedule, run.costs, variation, replica);
    slowest = std::max(slowest, simulate_varied(program, run.costs, run.topology, durations));
  }
  return slowest;
}

}  // namespace debubble
