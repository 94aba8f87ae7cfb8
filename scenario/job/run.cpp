#include "scenario/job/run.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "formats/schedule/schedule_file.hpp"
#include "formats/text/quantities.hpp"
#include "formats/text/shell.hpp"
#include "scenario/job/cluster_report.hpp"
#include "scenario/job/cluster_topology.hpp"
#include "scenario/job/distinct_replicas.hpp"
#include "scenario/job/make_variation.hpp"
#include "scenario/job/memory_verdict.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/job/model_report.hpp"
#include "scenario/job/planning.hpp"
#include "scenario/job/run_step.hpp"
#include "scenario/job/stage_costs.hpp"
#include "scenario/job/stream.hpp"
#include "scenario/job/transform_findings.hpp"
#include "scenario/job/transforms.hpp"
#include "schedules/catalog.hpp"
#include "schedules/transforms/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble {

namespace {

// A table says how many devices and microbatches it has; a flag that says otherwise is a mistake.
void check_against_table(const Schedule& table, const Scenario& scenario, const std::string& file) {
  const auto check = [&](const std::optional<int>& flag, int value, const char* name, const char* what) {
    if (!flag || *flag == value) return;
    throw InputError(Diagnostic{
        "C001", name,
        file + " has " + std::to_string(value) + " " + what + ", but " + name + " says " + std::to_string(*flag),
        std::string("leave out ") + name});
  };
  check(scenario.devices, table.devices, "--devices", "devices (rows)");
  check(scenario.microbatches, table.microbatches, "--microbatches", "microbatches");
  if (scenario.chunks != 0) check(scenario.chunks, table.chunks, "--chunks", "stages per device");
  if (!scenario.params.empty()) {
    throw InputError(
        Diagnostic{"S002", "--param", "a schedule read from a table takes no parameters", "leave --param out"});
  }
}

Topology ideal_topology(const Scenario& scenario, Report& report) {
  Nanoseconds latency = scenario.comm.value_or(0);
  std::int64_t bandwidth = scenario.bandwidth.value_or(0);
  Source latency_source = given_or_default(scenario.comm.has_value());
  Source bandwidth_source = given_or_default(scenario.bandwidth.has_value());
  if (scenario.profile && !scenario.comm && scenario.profile->hop_latency) {
    latency = *scenario.profile->hop_latency;
    latency_source = scenario.profile->origin.times;
  }
  if (scenario.profile && !scenario.bandwidth && scenario.profile->hop_bandwidth) {
    bandwidth = *scenario.profile->hop_bandwidth;
    bandwidth_source = scenario.profile->origin.times;
  }
  assume(report, "hop latency", format_duration_exact(latency), latency_source);
  assume(report, "link bandwidth", bandwidth == 0 ? "unlimited" : format_size(bandwidth) + "/s", bandwidth_source);
  return Topology::ideal(latency, bandwidth);
}

// For a pipeline of so many devices.
Topology make_topology(const Scenario& scenario, int devices, Report& report) {
  assume_ranks(scenario.cluster, devices, report);
  Topology topology = scenario.cluster.graph == nullptr ? ideal_topology(scenario, report)
                                                        : cluster_topology(scenario, devices, report);
  const std::array<const char*, 3> modes{"overlapped with compute", "blocking: holds both compute lanes",
                                         "coupled: fused exchanges between ops"};
  assume(report, "transfers", at(modes, scenario.p2p), given_or_default(scenario.p2p != P2p::kOverlapped));
  const auto placed = placed_layers(scenario, devices);
  return topology.with_gather(placed == nullptr ? 0 : placed->longest_gather())
      .calibrated(scenario.transformer.calibration.network_scale);
}

// Long runs repeat the walk fewer times: the pattern shows after a few iterations or not at all.
int iterations_for(std::size_t ops) {
  constexpr std::size_t kAffordableNodes = 20'000'000;
  constexpr int kEnough = 64;
  return static_cast<int>(std::clamp<std::size_t>(kAffordableNodes / std::max<std::size_t>(ops, 1), 4, kEnough));
}

// Left to itself, a schedule of several chunks takes the smallest number that cuts the layers evenly; 0: its default.
int even_chunks(const Scenario& scenario, const std::string& name, int devices) {
  const ScheduleEntry* entry = find_schedule(name);
  if (!scenario.profile || entry == nullptr || entry->default_chunks < 2 || devices < 1) return 0;
  if (entry->chunk_step < 1 || scenario.params.contains(entry->chunks_param)) return 0;
  const auto layers = static_cast<std::int64_t>(scenario.profile->layers.size());
  for (int chunks = entry->default_chunks; std::int64_t{chunks} * devices <= layers; chunks += entry->chunk_step) {
    if (layers % (std::int64_t{chunks} * devices) == 0) return chunks;
  }
  return 0;
}

// For a cost-aware row: first what each stage will cost, then the order.
Schedule plan_schedule(const Scenario& scenario, const ScheduleEntry& entry, const ScheduleRequest& request) {
  check_request(entry, request);
  Run draft;  // what it assumes is said once, when the schedule is there
  draft.schedule.devices = request.devices;
  draft.schedule.chunks = request.chunks == 0 ? entry.default_chunks : request.chunks;
  draft.schedule.stages = request.devices * draft.schedule.chunks;
  draft.schedule.placement = loop_placement(request.devices, draft.schedule.stages);
  set_stage_costs(scenario, draft);
  return build_planned(entry.name, request, draft.costs, make_topology(scenario, request.devices, draft.report),
                       scenario.p2p);
}

void report_deadlock(Run& run, Deadlock deadlock, P2p p2p) {
  run.report.schedule = facts_of(run.schedule);
  std::string message = "deadlock: " + to_string(deadlock);
  if (p2p == P2p::kCoupled) {
    message +=
        "; with coupled transfers every receive is posted just before the op that uses it, which this order does not "
        "survive: try --p2p overlapped or --p2p blocking";
  }
  run.report.findings.push_back({"error", "X010", std::move(message)});
  run.report.deadlock = std::move(deadlock);
}

// Whether the walk without contention says it all.
bool walks(const Run& run) { return !run.topology.contended() && run.step.empty() && run.variation.none(); }

// On a modelled cluster all replicas of the pipeline that differ or meet; the slowest is shown.
Timeline simulate_prepared(Run& run, const Program& program) {
  run.replica_makespans.clear();
  const int replicas = distinct_replicas(run, program, run.variation);
  if (walks(run) && replicas == 1) return simulate(program, run.schedule, run.costs, run.topology);
  std::vector<Timeline> timelines =
      simulate_cluster(program, run.schedule, run.costs, run.topology, {&run.step, &run.variation, replicas});
  if (replicas > 1) {
    for (const Timeline& timeline : timelines) run.replica_makespans.push_back(timeline.makespan);
  }
  return std::move(*std::max_element(timelines.begin(), timelines.end(),
                                     [](const Timeline& a, const Timeline& b) { return a.makespan < b.makespan; }));
}

}  // namespace

bool is_table_file(const std::string& name) {
  const std::string plain = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
  return plain.ends_with(".csv") || plain.ends_with(".json") || name.find('/') != std::string::npos;
}

namespace {

Schedule make_base_schedule(const Scenario& scenario, const std::string& name) {
  if (is_table_file(name)) {
    Schedule table = read_schedule_file(name);
    check_against_table(table, scenario, name);
    return table;
  }
  ScheduleRequest request;
  request.devices = scenario.devices.value_or(kDefaultDevices);
  request.microbatches = scenario.microbatches.value_or(kDefaultMicrobatches);
  request.chunks = scenario.chunks == 0 ? even_chunks(scenario, name, request.devices) : scenario.chunks;
  request.params = scenario.params;
  const ScheduleEntry* entry = find_schedule(name);
  const bool planned = entry != nullptr && entry->uses_costs;
  return planned ? plan_schedule(scenario, *entry, request) : build_schedule(name, request);
}

}  // namespace

Schedule make_schedule(const Scenario& scenario, const std::string& name) {
  Schedule schedule = make_base_schedule(scenario, name);
  for (const TransformSpec& spec : scenario.transforms) {
    TransformRequest request{spec.params, nullptr};
    std::optional<PlanningCosts> costs;
    if (find_transform(spec.name)->uses_costs) {
      Run draft;  // the costs of what the transform gets
      draft.schedule = schedule;
      set_stage_costs(scenario, draft);
      request.costs = &costs.emplace(
          costs_to_plan_with(schedule, draft.costs, make_topology(scenario, schedule.devices, draft.report)));
    }
    schedule = apply_transform(spec.name, schedule, request);
  }
  return schedule;
}

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
  for (const std::string& note : schedule.notes) report.findings.push_back({"note", "S020", note});
}

Run prepare_schedule(const Scenario& scenario, const std::string& name, Progress& progress) {
  Run run;
  run.p2p = scenario.p2p;
  progress.phase("building " + name);
  run.schedule = make_schedule(scenario, name);
  if (!is_table_file(name)) {
    assume(run.report, "devices", std::to_string(run.schedule.devices), given_or_default(scenario.devices.has_value()));
    assume(run.report, "microbatches", std::to_string(run.schedule.microbatches),
           given_or_default(scenario.microbatches.has_value()));
    if (run.schedule.chunks > 1) {
      assume(run.report, "stages per device", std::to_string(run.schedule.chunks),
             given_or_default(scenario.chunks != 0));
    }
  }
  return run;
}

Run prepare_run(const Scenario& scenario, const std::string& name, Progress& progress) {
  Run run = prepare_schedule(scenario, name, progress);
  set_stage_costs(scenario, run);
  if (scenario.profile) {
    run.samples_per_microbatch = scenario.profile->microbatch_size;
    run.tokens_per_sample = scenario.profile->sequence_length;
  }
  if (scenario.profile && run.schedule.asynchrony) {
    assume(run.report, "extra weight version", "the stage's weights, in the precision of the profile",
           Source::kDefault);
  }
  run.topology = make_topology(scenario, run.schedule.devices, run.report);
  run.sizes = scenario.cluster.sizes;
  run.pipeline_replicas = run.sizes.data;
  run.variation = make_variation(scenario.variation, run.schedule, run.pipeline_replicas, run.report.assumptions);
  set_step_work(scenario, run);
  add_model_facts(scenario, run);
  set_memory_limits(scenario, run);
  run.extra_work = extra_work(scenario.transforms, run.report.assumptions);
  for (Assumption& assumption : run.report.assumptions) assumption.value = printable(assumption.value);
  return run;
}

void simulate_run(Run& run, P2p p2p, Progress& progress) {
  run.p2p = p2p;
  std::vector<Assumption> assumptions = std::move(run.report.assumptions);
  const std::string ops = std::to_string(run.schedule.total_ops()) + " ops";
  progress.phase("lowering " + ops);
  auto lowered = lower(run.schedule, p2p);
  if (auto* deadlock = std::get_if<Deadlock>(&lowered)) {
    report_deadlock(run, std::move(*deadlock), p2p);
  } else {
    const Program& program = std::get<Program>(lowered);
    progress.phase("simulating " + ops);
    run.timeline = simulate_prepared(run, program);
    progress.phase("analysing " + ops);
    run.report = analyse(run.timeline, run.schedule, run.costs);
    if (walks(run)) {
      run.report.steady_period = steady_period(program, run.costs, run.topology, iterations_for(program.nodes.size()));
    }
    run.report.cluster = cluster_report(run);
    add_throughput(run.report, run.samples_per_microbatch, run.tokens_per_sample, run.pipeline_replicas);
    add_model_results(run);
    judge_memory(run);
    if (run.report.stream) add_pace(run, p2p);
    if (run.extra_work) run.report.extra_work = fill_bubbles(run.timeline, run.schedule, *run.extra_work);
  }
  run.report.assumptions = std::move(assumptions);
  add_transform_findings(run);
  add_notes(run.schedule, run.report);
}

Run run_schedule(const Scenario& scenario, const std::string& name, Progress& progress) {
  Run run = prepare_run(scenario, name, progress);
  simulate_run(run, scenario.p2p, progress);
  return run;
}

std::optional<std::pair<int, double>> more_microbatches(const Scenario& scenario, const std::string& name,
                                                        const Run& run) {
  constexpr std::size_t kQuick = 2'000'000;  // ops that take no time that anybody notices
  if (is_table_file(name) || run.schedule.total_ops() > kQuick || !walks(run)) return std::nullopt;
  Scenario doubled = scenario;
  doubled.microbatches = 2 * run.schedule.microbatches;
  doubled.chunks = run.schedule.chunks;
  try {
    const auto lowered = lower(make_schedule(doubled, name), scenario.p2p);
    const auto* program = std::get_if<Program>(&lowered);
    if (program == nullptr) return std::nullopt;
    const Totals totals = simulate_totals(*program, run.costs, run.topology);
    double busy = 0;
    for (const DeviceTotals& device : totals.devices) busy += static_cast<double>(device.busy);
    const double all = static_cast<double>(totals.makespan) * static_cast<double>(totals.devices.size());
    if (all <= 0) return std::nullopt;
    return std::pair{*doubled.microbatches, 1 - busy / all};
  } catch (const InputError&) {
    return std::nullopt;  // the schedule does not take twice as many
  }
}

}  // namespace debubble
