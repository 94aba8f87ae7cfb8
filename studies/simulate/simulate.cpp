#include "studies/simulate/simulate.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "formats/exporters/report_json.hpp"
#include "scenario/job/job.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/job/transforms.hpp"
#include "schedules/common/memory_limit.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"
#include "studies/simulate/distinct_replicas.hpp"
#include "studies/simulate/pace.hpp"
#include "studies/simulate/room.hpp"

namespace debubble {
namespace {

void note_precondition(Report& report) {
  if (!report.extra_work || report.extra_work->precondition == 0) return;
  report.findings.emplace_back(PreconditionTime{report.extra_work->precondition});
}

// The device that is furthest above a limit that was written like --param memory_limit.
void warn_above(const std::string& planner, const std::string& text, const Job& job, Report& report) {
  const PlanningCosts costs = costs_to_plan_with(job.schedule, job.costs, job.topology);
  ScheduleRequest request;
  request.devices = job.schedule.devices;
  request.params = {{"memory_limit", text}};
  MemoryLimit limit;
  try {
    limit = memory_limit_of(request, costs, "");
  } catch (const InputError&) {
    return;  // of a file, which may say anything there
  }
  const DeviceReport* worst = nullptr;
  Bytes most = 0;
  for (const DeviceReport& device : report.devices) {
    const auto d = static_cast<std::size_t>(device.device);
    const Bytes above = device.peak_memory - costs.static_bytes[d] - limit.activations[d];
    if (above <= most) continue;
    most = above;
    worst = &device;
  }
  if (worst == nullptr) return;
  report.findings.emplace_back(AbovePlannedMemory{planner, text, worst->device, worst->peak_memory, most});
}

// Adds the notes and warnings (S020, M030) to the findings of a simulated job's report.
void add_transform_findings(const Job& job, Report& report) {
  if (!has_result(report)) return;
  note_precondition(report);
  const std::size_t transformed = job.schedule.name.find(" + ");
  if (transformed == std::string::npos) return;
  constexpr std::string_view kKey = "memory_limit";
  for (const auto& [key, value] : job.schedule.params) {
    if (key == kKey) warn_above(job.schedule.name.substr(0, transformed), value, job, report);
    if (key.ends_with(".memory_limit")) warn_above(key.substr(0, key.size() - kKey.size() - 1), value, job, report);
  }
}

const char* network_word(NetworkModel model) { return at(std::array{"fluid", "fifo", "uncontended"}, model); }

// Nothing for a pipeline alone on ideal links. `replica_makespans` are those of the replicas that were simulated, empty
// where one represents all; `makespan` is that of the slowest.
std::optional<ClusterReport> cluster_report(const Job& job, const std::vector<Nanoseconds>& replica_makespans,
                                            Nanoseconds makespan) {
  const Network* network = job.topology.network();
  Parallelism sizes = network != nullptr ? network->layout.sizes : job.sizes;
  sizes.pipeline = job.schedule.devices;
  if (network == nullptr && sizes.ranks() == job.schedule.devices) return std::nullopt;
  ClusterReport cluster;
  cluster.topology = network != nullptr ? network->graph.name : "ideal";
  cluster.network = network_word(network != nullptr ? network->model : NetworkModel::kUncontended);
  cluster.ranks = sizes.ranks();
  cluster.devices = network != nullptr ? network->graph.device_count() : cluster.ranks;
  cluster.tensor = sizes.tensor;
  cluster.context = sizes.context;
  cluster.expert = sizes.expert;
  cluster.expert_tensor = sizes.expert_tensor;
  cluster.data = sizes.data;
  cluster.fastest_replica = cluster.slowest_replica = makespan;
  if (!replica_makespans.empty()) {
    const auto [fastest, slowest] = std::minmax_element(replica_makespans.begin(), replica_makespans.end());
    cluster.simulated_replicas = static_cast<int>(replica_makespans.size());
    cluster.fastest_replica = *fastest;
    cluster.slowest_replica = *slowest;
  }
  return cluster;
}

// Long runs repeat the walk fewer times: the pattern shows after a few iterations or not at all.
int iterations_for(std::size_t ops) {
  constexpr std::size_t kAffordableNodes = 20'000'000;
  constexpr int kEnough = 64;
  return static_cast<int>(std::clamp<std::size_t>(kAffordableNodes / std::max<std::size_t>(ops, 1), 4, kEnough));
}

// What there is to say about a job whose devices wait for each other.
Report deadlock_report(const Job& job, const Deadlock& deadlock) {
  Report report;
  report.schedule = facts_of(job.schedule);
  report.findings.emplace_back(DeadlockFound{job.p2p == P2p::kCoupled, job.p2p == P2p::kRendezvous});
  report.deadlock = deadlock;
  return report;
}

// Whether the walk without contention says it all.
bool walks(const Job& job) { return !ops_need_events(job) && job.step.empty(); }

// On a modelled cluster all replicas of the pipeline that differ or meet; the slowest is shown. Nothing where it stops.
std::optional<Result> simulated(const Job& job, const Program& program, const std::vector<Bytes>& capacities) {
  Result result;
  const int replicas = distinct_replicas(job, program, job.variation);
  if (walks(job) && replicas == 1) {
    result.timeline = simulate(program, job.schedule, job.costs, job.topology);
    return result;
  }
  std::vector<Timeline> timelines = simulate_cluster(
      program, job.schedule, job.costs, job.topology,
      {&job.step, &job.variation, replicas, job.schedule.copies.empty() ? std::vector<Bytes>{} : capacities});
  if (timelines.empty()) return std::nullopt;
  if (replicas > 1) {
    for (const Timeline& timeline : timelines) result.replica_makespans.push_back(timeline.makespan);
  }
  result.timeline =
      std::move(*std::max_element(timelines.begin(), timelines.end(),
                                  [](const Timeline& a, const Timeline& b) { return a.makespan < b.makespan; }));
  return result;
}

// Samples per second, the utilisation of a modelled transformer, and what it leaves out.
void add_rates(const Job& job, Report& report) {
  add_throughput(report, job.samples_per_microbatch, job.tokens_per_sample, job.pipeline_replicas);
  report.findings.insert(report.findings.end(), job.model_findings.begin(), job.model_findings.end());
  if (job.peak_flops <= 0 || report.makespan <= 0) return;
  const double seconds = static_cast<double>(report.makespan) / 1e9;
  report.mfu = job.microbatch_flops * report.schedule.microbatches / (seconds * job.peak_flops);
}

// What does not follow from when each op ran.
void add_facts(const Job& job, const Result& result, Report& report) {
  report.cluster = cluster_report(job, result.replica_makespans, report.makespan);
  add_rates(job, report);
  if (out_of_memory(report)) report.findings.emplace_back(OutOfMemory{});
}

Report report_on(const Job& job, const Program& program, const Result& result) {
  Report report = analyse(result.timeline, job.schedule, job.costs);
  if (walks(job)) {
    report.steady_period = steady_period(program, job.costs, job.topology, iterations_for(program.nodes.size()));
  }
  report.memory_fit = judge_memory(job, result.timeline);
  add_facts(job, result, report);
  if (report.stream) add_pace(job, result, report);
  if (job.extra_work) report.extra_work = fill_bubbles(result.timeline, job.schedule, *job.extra_work);
  return report;
}

std::string op_count_text(const Job& job) { return std::to_string(job.schedule.total_ops()) + " ops"; }

void add_what_the_job_says(const Job& job, Report& report) {
  report.assumptions = job.assumptions;
  add_transform_findings(job, report);
  add_notes(job.schedule, report);
}

// A span for each op, a transfer for each tensor between stages, and what is worked out from them. The schedule itself
// is there already.
void require_room_for(const Schedule& schedule) {
  constexpr std::size_t kBytesPerOp = 100;
  constexpr std::size_t kBytesPerTransfer = 130;
  const auto stages = static_cast<std::size_t>(schedule.stages);
  require_room(schedule.total_ops(), kBytesPerOp + kBytesPerTransfer * (stages - 1) / stages,
               "use fewer microbatches: the steady state repeats");
}

}  // namespace

void add_throughput(Report& report, std::int64_t samples_per_microbatch, std::int64_t tokens_per_sample,
                    int pipeline_replicas) {
  if (report.makespan == 0 || samples_per_microbatch == 0) return;
  constexpr double kNanosecondsPerSecond = 1e9;
  const double samples = static_cast<double>(report.schedule.microbatches) *
                         static_cast<double>(samples_per_microbatch) * pipeline_replicas;
  report.samples_per_second = samples * kNanosecondsPerSecond / static_cast<double>(report.makespan);
  if (tokens_per_sample > 0) {
    report.tokens_per_second = *report.samples_per_second * static_cast<double>(tokens_per_sample);
  }
}

void add_notes(const Schedule& schedule, Report& report) {
  for (const std::string& note : schedule.notes) report.findings.emplace_back(ScheduleNote{note});
}

Result simulate(const Job& job, Progress& progress) {
  require_room_for(job.schedule);
  progress.phase("lowering " + op_count_text(job));
  const Lowered lowered = lower(job.schedule, job.p2p);
  return *simulate_while_it_fits(job, lowered, {}, progress);
}

std::optional<Result> simulate_while_it_fits(const Job& job, const Lowered& lowered,
                                             const std::vector<Bytes>& capacities, Progress& progress) {
  Result result;
  if (const auto* deadlock = std::get_if<Deadlock>(&lowered)) {
    result.report = deadlock_report(job, *deadlock);
  } else {
    const Program& program = std::get<Program>(lowered);
    progress.phase("simulating " + op_count_text(job));
    std::optional<Result> found = simulated(job, program, capacities);
    if (!found) return std::nullopt;
    result = std::move(*found);
    progress.phase("analysing " + op_count_text(job));
    result.report = report_on(job, program, result);
  }
  add_what_the_job_says(job, result.report);
  return result;
}

Simulated simulate(const Scenario& scenario, const std::string& schedule, Progress& progress) {
  Simulated run;
  run.job = prepare(scenario, schedule, progress);
  run.result = simulate(run.job, progress);
  return run;
}

MoreMicrobatches more_microbatches(const Scenario& scenario, const std::string& name, const Job& job) {
  constexpr std::size_t kQuick = 2'000'000;  // ops that take no time that anybody notices
  if (is_table_file(name) || job.schedule.total_ops() > kQuick || !walks(job)) return std::nullopt;
  Scenario doubled = scenario;
  doubled.microbatches = 2 * job.schedule.microbatches;
  doubled.chunks = job.schedule.chunks;
  try {
    const auto lowered = lower(make_schedule(doubled, name), job.p2p);
    const auto* program = std::get_if<Program>(&lowered);
    if (program == nullptr) return std::nullopt;
    const Totals totals = simulate_totals(*program, job.costs, job.topology);
    double busy = 0;
    for (const DeviceTotals& device : totals.devices) busy += static_cast<double>(device.busy);
    const double all = static_cast<double>(totals.makespan) * static_cast<double>(totals.devices.size());
    if (all <= 0) return std::nullopt;
    return std::pair{*doubled.microbatches, 1 - busy / all};
  } catch (const InputError&) {
    return std::nullopt;  // the schedule does not take twice as many
  }
}

bool is_evenest_cut(const Scenario& scenario, const Job& job) {
  const bool alike = job.variation.device.empty() && job.variation.stage.empty();
  return scenario.partition.automatic() && (alike || scenario.partition.for_devices);
}

}  // namespace debubble
