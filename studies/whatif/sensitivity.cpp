#include "studies/whatif/sensitivity.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/engine/cluster.hpp"
#include "studies/parallel.hpp"
#include "studies/simulate/distinct_replicas.hpp"
#include "studies/whatif/changed_costs.hpp"
#include "studies/whatif/link_groups.hpp"
#include "studies/whatif/part_weights.hpp"
#include "studies/whatif/step_time.hpp"

namespace debubble {

namespace {

using NamedKind = CostName::Kind;

// The slowest pipeline replica and what its nodes take.
struct SlowestReplica {
  int number = 0;
  std::vector<Nanoseconds> durations;
};

SlowestReplica slowest_replica(const Job& job, const Program& program) {
  SlowestReplica slowest;
  Nanoseconds most = -1;
  const int replicas = job.variation.replicas_differ() ? job.pipeline_replicas : 1;
  for (int replica = 0; replica < replicas; ++replica) {
    auto durations = varied_durations(program, job.schedule, job.costs, job.variation, replica);
    const Nanoseconds time = simulate_varied(program, job.costs, job.topology, durations);
    if (time <= most) continue;
    most = time;
    slowest = {replica, std::move(durations)};
  }
  return slowest;
}

void set_stake(Derivative& derivative) {
  const auto cost = static_cast<double>(derivative.cost);
  const bool bytes = derivative.name.kind == NamedKind::kTimePerByte;
  constexpr double kNanosecondsPerSecond = 1e9;
  derivative.at_stake =
      std::llround(bytes ? derivative.times.growing * kNanosecondsPerSecond / cost : derivative.times.growing * cost);
}

// One part in a thousand; of a short latency more, so that whole nanoseconds show it.
double change_of(const Derivative& derivative) {
  constexpr double kStep = 1e-3;
  constexpr double kLeast = 50;  // ns
  if (derivative.name.kind != NamedKind::kLatency) return kStep;
  return std::clamp(kLeast / static_cast<double>(derivative.cost), kStep, 1.0);
}

// Latencies of links that carry the same things add up alike: `leader` is the first one of them.
std::vector<std::size_t> leaders(const std::vector<Derivative>& derivatives, const LinkGroups& groups) {
  std::vector<std::size_t> leader(derivatives.size());
  std::map<std::int32_t, std::size_t> first;
  for (std::size_t k = 0; k < derivatives.size(); ++k) {
    leader[k] = k;
    const CostName& name = derivatives[k].name;
    if (name.kind != NamedKind::kLatency || name.links.empty()) continue;
    const auto group = static_cast<std::size_t>(at(groups.group_of(), name.links.front()));
    if (groups.groups()[group].inside) continue;
    leader[k] = first.try_emplace(groups.groups()[group].carries, k).first->second;
  }
  return leader;
}

struct Repeated {
  const LinkFollower& follower;
  const LinkGroups& groups;
  int threads;
  const RunsDone& tell;
};

void by_repeated_runs(const Job& job, const Program& program, const Repeated& how,
                      std::vector<Derivative>& derivatives) {
  const Nanoseconds base = step_time(job, program);
  const std::vector<std::size_t> leader = leaders(derivatives, how.groups);
  std::vector<std::size_t> due;
  for (std::size_t k = 0; k < leader.size(); ++k) {
    if (leader[k] == k) due.push_back(k);
  }
  std::atomic<std::size_t> done{0};
  for_each_index(due.size(), threads_for(due.size(), how.threads), [&](std::size_t index) {
    Derivative& derivative = derivatives[due[index]];
    const auto slope = [&](double factor) {
      const ChangedCost changed = with_cost(how.follower, job, derivative.name, factor);
      const auto by = static_cast<double>(step_time(changed.job, program) - base);
      if (how.tell) how.tell(++done, 2 * due.size());
      return changed.added == 0 ? 0 : by / changed.added;
    };
    const double change = change_of(derivative);
    derivative.times.growing = slope(1 + change);
    derivative.times.shrinking = slope(1 - change);
  });
  for (std::size_t k = 0; k < leader.size(); ++k) derivatives[k].times = derivatives[leader[k]].times;
}

// Each run with one ideal link changed is over a graph of all of them: one for every two devices.
void leave_out_many_ideal_links(const Job& job, Sensitivity& result) {
  constexpr int kMostDevices = 128;
  if (job.topology.network() != nullptr || job.schedule.devices <= kMostDevices) return;
  const auto of_link = [](const Derivative& derivative) {
    return derivative.name.kind == NamedKind::kLatency || derivative.name.kind == NamedKind::kTimePerByte;
  };
  if (std::erase_if(result.derivatives, of_link) == 0) return;
  result.left_out = "the ideal links of " + std::to_string(job.schedule.devices) +
                    " devices are not looked at one by one: beside the tasks of a training step each takes runs of its "
                    "own. With a --topology links of one part in the run are one cost.";
}

std::string links_text(const CostName& name) { return name.links.size() < 2 ? "link " + name.link : name.link; }

}  // namespace

std::string to_string(const CostName& name) {
  switch (name.kind) {
    case NamedKind::kOp:
      return "stage " + std::to_string(name.stage) + " " + letter(name.op);
    case NamedKind::kPair:
      return "overlapped pair";
    case NamedKind::kVocabulary:
      return std::string("vocabulary ") + letter(name.op);
    case NamedKind::kBarrier:
      return "vocabulary barrier";
    case NamedKind::kCopy:
      return "stage " + std::to_string(name.stage) + " copy";
    case NamedKind::kLatency:
      return name.link.empty() ? "message latency" : links_text(name) + " latency";
    case NamedKind::kTimePerByte:
      return links_text(name) + " bytes";
  }
  return "";
}

Sensitivity find_sensitivity(const Scenario& scenario, const Job& job, const Program& program, int threads,
                             const RunsDone& tell) {
  Sensitivity result;
  result.step = step_time(job, program);
  const LinkFollower follower(scenario, job);
  const LinkGroups groups(job, program, follower);
  const bool one_walk = job.variation.replicas_differ() || distinct_replicas(job, program, job.variation) == 1;
  const bool inside =
      std::any_of(groups.groups().begin(), groups.groups().end(), [](const LinkGroup& group) { return group.inside; });
  result.exact = !needs_events(job) && one_walk && !inside;
  const SlowestReplica slowest = slowest_replica(job, program);
  result.replica = slowest.number;
  const CostWeights weights(job, program, groups, slowest.number, slowest.durations);
  result.derivatives = weights.costs();
  if (result.exact) {
    const CriticalGraph graph(program, job.costs, job.topology, slowest.durations);
    for_each_index(result.derivatives.size(), threads_for(result.derivatives.size(), threads),
                   [&](std::size_t k) { result.derivatives[k].times = graph.derivative(weights.of(k)); });
  } else {
    leave_out_many_ideal_links(job, result);
    by_repeated_runs(job, program, {follower, groups, threads, tell}, result.derivatives);
  }
  for (Derivative& derivative : result.derivatives) {
    set_stake(derivative);
    for (const std::int32_t link : derivative.name.links) {
      derivative.links.push_back(at(job.topology.network()->graph.links, link).name);
    }
  }
  return result;
}

}  // namespace debubble
