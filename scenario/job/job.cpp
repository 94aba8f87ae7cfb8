#include "scenario/job/job.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cost_models/partition/partition.hpp"
#include "formats/text/shell.hpp"
#include "scenario/job/assumptions.hpp"
#include "scenario/job/links.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/job/make_variation.hpp"
#include "scenario/job/memory_limits.hpp"
#include "scenario/job/model_facts.hpp"
#include "scenario/job/stage_costs.hpp"
#include "scenario/job/step.hpp"
#include "scenario/job/transforms.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/at.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/program.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble {
namespace {

// Cuts of the layers that only a simulation tells: --partition memory, and --partition auto where links differ.

struct CutJob {
  Job job;
  LayerCut cut;
};

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

// The job with the cut of `scenario.partition`, made as often as that takes.
//
// --partition memory: the cut knows what the order holds; received tensors that wait, and what an allocator rounds up
// and cannot use, are known from a simulation only (of one replica whose ops do not vary): what a device lacks there is
// set aside, and the layers are cut again, until all fits or no cut does.
//
// --partition auto where the transfers of the devices take different times (some links are slower than others, or
// transfers hold compute and the first and the last device have fewer of them): what a slow link costs depends on the
// order of the ops. Where transfers hold compute, the device that it belongs to should get fewer layers, by all that
// its transfers take; where they overlap, only what the order does not hide counts. So the layers are cut with all,
// half, a quarter and none of each stage's transfers counted as its work, and the cut whose step is shortest when
// simulated (one pipeline replica, without jitter) is taken. The usual cut for orders that were made for their costs,
// and for more than 200,000 ops.
Job job_of_cut(const Scenario& scenario, const std::string& name, const std::function<CutJob(const Scenario&)>& made) {
  if (scenario.partition.how == CutRule::How::kMemory) return job_that_fits(scenario, made);
  if (scenario.partition.for_devices) return job_cut_for_wires(scenario, name, made);
  return made(scenario).job;
}

}  // namespace

Job prepare_schedule(const Scenario& scenario, const std::string& name, Progress& progress) {
  Job job;
  progress.phase("building " + name);
  job.schedule = make_schedule(scenario, name);
  job.p2p = transfers_of(scenario, name, !job.schedule.receives.empty());
  if (!is_table_file(name)) {
    assume(job.assumptions, "devices", std::to_string(job.schedule.devices),
           given_or_default(scenario.devices.has_value()));
    assume(job.assumptions, "microbatches", std::to_string(job.schedule.microbatches),
           given_or_default(scenario.microbatches.has_value()));
    if (job.schedule.chunks > 1) {
      assume(job.assumptions, assumption_key::kStagesPerDevice, std::to_string(job.schedule.chunks),
             given_or_default(scenario.chunks != 0));
    }
  }
  return job;
}

namespace {

CutJob prepare_cut(const Scenario& scenario, const std::string& name, Progress& progress) {
  CutJob made;
  Job& job = made.job;
  job = prepare_schedule(scenario, name, progress);
  StageCostsMade costs = make_stage_costs(scenario, job.schedule);
  append(job.assumptions, std::move(costs.assumptions));
  job.partition = costs.cut.layers;
  made.cut = std::move(costs.cut);
  if (scenario.profile) {
    job.samples_per_microbatch = scenario.profile->microbatch_size;
    job.tokens_per_sample = scenario.profile->sequence_length;
  }
  if (scenario.profile && job.schedule.asynchrony) {
    assume(job.assumptions, "extra weight version", "the stage's weights, in the precision of the profile",
           Source::kDefault);
  }
  job.topology = taken(make_topology(scenario, job.schedule.devices), job.assumptions);
  assume_transfers(scenario, job.p2p, job.assumptions);
  job.sizes = scenario.cluster.sizes;
  job.pipeline_replicas = job.sizes.data;
  job.variation = make_variation(scenario.variation, job.schedule, job.pipeline_replicas, job.assumptions);
  StepMade step = make_step(scenario, std::move(costs.costs), {job.schedule, job.partition, job.topology});
  append(job.assumptions, std::move(step.assumptions));
  job.costs = std::move(step.costs);
  job.step = std::move(step.work);
  ModelFacts model = model_facts(scenario, job.schedule.devices);
  append(job.assumptions, std::move(model.assumptions));
  job.model_findings = std::move(model.findings);
  job.microbatch_flops = model.microbatch_flops;
  job.peak_flops = model.peak_flops;
  job.memory = taken(make_memory_limits(scenario, job.schedule.devices), job.assumptions);
  job.extra_work = extra_work(scenario.transforms, job.assumptions);
  for (Assumption& assumption : job.assumptions) assumption.amount = printable(assumption.amount);
  return made;
}

}  // namespace

Job prepare(const Scenario& scenario, const std::string& name, Progress& progress) {
  return job_of_cut(scenario, name, [&](const Scenario& one) { return prepare_cut(one, name, progress); });
}

}  // namespace debubble
