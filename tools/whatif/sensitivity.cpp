#include "tools/whatif/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "sim/engine/cluster.hpp"
#include "tools/cluster/distinct_replicas.hpp"
#include "tools/whatif/changed_costs.hpp"
#include "tools/whatif/parallel.hpp"
#include "tools/whatif/part_weights.hpp"
#include "tools/whatif/step_time.hpp"

namespace debubble {

namespace {

using Kind = CostName::Kind;

// The slowest pipeline replica and what its nodes take.
struct SlowestReplica {
  int number = 0;
  std::vector<Nanoseconds> durations;
};

SlowestReplica slowest_replica(const Run& run, const Program& program) {
  SlowestReplica slowest;
  Nanoseconds most = -1;
  const int replicas = run.variation.replicas_differ() ? run.pipeline_replicas : 1;
  for (int replica = 0; replica < replicas; ++replica) {
    auto durations = varied_durations(program, run.schedule, run.costs, run.variation, replica);
    const Nanoseconds time = simulate_varied(program, run.costs, run.topology, durations);
    if (time <= most) continue;
    most = time;
    slowest = {replica, std::move(durations)};
  }
  return slowest;
}

void set_stake(Derivative& derivative) {
  const double cost = static_cast<double>(derivative.cost);
  const bool bytes = derivative.name.kind == Kind::kTimePerByte;
  constexpr double kNanosecondsPerSecond = 1e9;
  derivative.at_stake =
      std::llround(bytes ? derivative.times.growing * kNanosecondsPerSecond / cost : derivative.times.growing * cost);
}

// One part in a thousand up and down.
void by_repeated_runs(const Scenario& scenario, const Run& run, const Program& program, int threads,
                      std::vector<Derivative>& derivatives) {
  constexpr double kStep = 1e-3;
  const Nanoseconds base = step_time(run, program);
  for_each_index(derivatives.size(), threads_for(derivatives.size(), threads), [&](std::size_t k) {
    Derivative& derivative = derivatives[k];
    const auto slope = [&](double factor) {
      const ChangedCost changed = with_cost(scenario, run, derivative.name, factor);
      const double by = static_cast<double>(step_time(changed.run, program) - base);
      return changed.added == 0 ? 0 : by / changed.added;
    };
    derivative.times = {slope(1 + kStep), slope(1 - kStep)};
  });
}

}  // namespace

std::string to_string(const CostName& name) {
  switch (name.kind) {
    case Kind::kOp:
      return fmt::format("stage {} {}", name.stage, letter(name.op));
    case Kind::kPair:
      return "overlapped pair";
    case Kind::kVocabulary:
      return fmt::format("vocabulary {}", letter(name.op));
    case Kind::kBarrier:
      return "vocabulary barrier";
    case Kind::kCopy:
      return fmt::format("stage {} copy", name.stage);
    case Kind::kLatency:
      return name.link.empty() ? "message latency" : fmt::format("link {} latency", name.link);
    case Kind::kTimePerByte:
      return fmt::format("link {} bytes", name.link);
  }
  return "";
}

Sensitivity find_sensitivity(const Scenario& scenario, const Run& run, const Program& program, int threads) {
  Sensitivity result;
  result.step = step_time(run, program);
  const bool one_walk = run.variation.replicas_differ() || distinct_replicas(run, program, run.variation) == 1;
  result.exact = !needs_events(run) && one_walk;
  const SlowestReplica slowest = slowest_replica(run, program);
  result.replica = slowest.number;
  const CostWeights weights(run, program, slowest.number, slowest.durations);
  result.derivatives = weights.costs();
  if (result.exact) {
    const CriticalGraph graph(program, run.costs, run.topology, slowest.durations);
    for_each_index(result.derivatives.size(), threads_for(result.derivatives.size(), threads),
                   [&](std::size_t k) { result.derivatives[k].times = graph.derivative(weights.of(k)); });
  } else {
    by_repeated_runs(scenario, run, program, threads, result.derivatives);
  }
  for (Derivative& derivative : result.derivatives) set_stake(derivative);
  return result;
}

}  // namespace debubble
