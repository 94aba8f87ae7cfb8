#include "tools/run.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <variant>

#include "cost_models/layout.hpp"
#include "cost_models/output_layer.hpp"
#include "cost_models/partition.hpp"
#include "cost_models/profiled.hpp"
#include "cost_models/uniform.hpp"
#include "schedules/catalog.hpp"
#include "schedules/transforms/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"
#include "tools/copy_costs.hpp"
#include "tools/exchange/schedule_file.hpp"
#include "tools/planning.hpp"
#include "tools/quantities.hpp"
#include "tools/shell.hpp"
#include "tools/stream.hpp"
#include "tools/transform_findings.hpp"

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

void assume(Report& report, std::string what, const std::string& value, Source source) {
  report.assumptions.push_back({std::move(what), printable(value), source});
}

Source given_or_default(bool given) { return given ? Source::kGiven : Source::kDefault; }

bool has_kind(const Schedule& schedule, OpKind kind) {
  return std::any_of(schedule.rows.begin(), schedule.rows.end(), [&](const auto& row) {
    return std::any_of(row.begin(), row.end(), [&](const Op& op) { return op.kind == kind; });
  });
}

bool has_mixed_pair(const Schedule& schedule) {
  for (const auto& row : schedule.rows) {
    for (std::size_t k = 0; k + 1 < row.size(); ++k) {
      const bool forward = row[k].kind == OpKind::kForward;
      if (row[k].paired_with_next && forward != (row[k + 1].kind == OpKind::kForward)) return true;
    }
  }
  return false;
}

// Toy sizes are whole or simple fractions of a mebibyte: "1 MiB", not "1.00 MiB".
std::string toy_size(Bytes bytes) {
  return bytes % kMebibyte == 0 ? std::to_string(bytes / kMebibyte) + " MiB" : format_size(bytes);
}

void toy_costs(const Scenario& scenario, Run& run) {
  const UniformTimes& times = scenario.times;
  run.costs = run.schedule.replicas_share_weights ? shared_stage_costs(times, run.schedule.stages, run.schedule.devices)
                                                  : uniform_costs(times, run.schedule.stages, run.schedule.chunks);
  const auto given = [&](const char* key) { return scenario.times_given.contains(key); };
  const auto share = [&](const char* what, Nanoseconds time, bool is_given) {
    assume(run.report, what, format_duration_exact(time) + " per device share", given_or_default(is_given));
  };
  share("forward", times.forward, given("f"));
  if (has_kind(run.schedule, OpKind::kBackward)) {
    share("backward", times.backward.value_or(times.input_grad + times.weight_grad),
          given("b") || given("i") || given("w"));
  }
  if (has_kind(run.schedule, OpKind::kWeightGrad)) {
    share("input gradient", times.input_grad, given("i") || given("b"));
    share("weight gradient", times.weight_grad, given("w") || given("b"));
    assume(run.report, "held from I to W", format_percent(times.weight_share) + " of an activation",
           given_or_default(scenario.weight_share_given));
  }
  if (times.overlapped_pair && has_mixed_pair(run.schedule)) share("overlapped pair", *times.overlapped_pair, true);
  if (scenario.times_given.contains("r") && has_kind(run.schedule, OpKind::kRecompute)) {
    share("recomputation", *times.recompute, true);
  }
  if (vocabulary_barriers(run.schedule, scenario.transforms) > 0) {
    run.costs.vocabulary = uniform_vocabulary(times, run.schedule.devices);
    const auto shard = [&](const char* what, Nanoseconds time, bool is_given) {
      assume(run.report, what,
             format_duration_exact(time) + " per device" + (is_given ? "" : ": the output layer is one device share"),
             given_or_default(is_given));
    };
    shard("vocabulary pass S", run.costs.vocabulary->logits, given("s"));
    shard("vocabulary pass T", run.costs.vocabulary->gradient, given("t"));
  }
  set_recompute_costs(run.schedule, true, given("r"), run.costs, run.report.assumptions);
  assume(run.report, "activation", toy_size(times.activation) + " per device share and microbatch", Source::kDefault);
}

// Mixed-precision Adam keeps an fp32 copy and two moments per parameter; fp32 training two moments.
TrainingState training_state(const Profile& profile) {
  const bool half = profile.dtype.find("16") != std::string::npos;  // "bf16", "float16", "mixed 16-bit"
  return {1.0, half ? 6.0 : 2.0};
}

// Every device's shard of the output layer lies with its first stage.
void place_output_shards(const OutputShard& shard, Run& run) {
  run.costs.vocabulary = shard.cost;
  std::vector<bool> placed(static_cast<std::size_t>(run.schedule.devices), false);
  for (int stage = 0; stage < run.schedule.stages; ++stage) {
    const auto device = static_cast<std::size_t>(run.schedule.placement.device_of(0, stage));
    if (placed[device]) continue;
    placed[device] = true;
    StageCost& cost = run.costs.stages[static_cast<std::size_t>(stage)];
    cost.weights += shard.weights;
    cost.gradients += shard.gradients;
    cost.optimizer += shard.optimizer;
  }
}

// --w-share, once given, speaks for every layer, whatever the profile says.
Profile with_given_share(const Scenario& scenario) {
  Profile profile = *scenario.profile;
  if (!scenario.weight_share_given) return profile;
  for (ProfileLayer& layer : profile.layers) layer.weight_grad_held.reset();
  return profile;
}

void profile_costs(const Scenario& scenario, Run& run) {
  Profile profile = with_given_share(scenario);
  OutputShard shard;
  const int barriers = vocabulary_barriers(run.schedule, scenario.transforms);
  if (barriers > 0) {
    shard = take_output_layer(profile, run.schedule.devices, barriers, training_state(profile), run.report.assumptions);
  }
  const auto layers = static_cast<int>(profile.layers.size());
  const bool automatic = scenario.partition == "auto";
  run.partition = automatic                       ? balanced_partition(profile, run.schedule.stages)
                  : is_layout(scenario.partition) ? parse_layout(scenario.partition, run.schedule.stages, profile)
                                                  : parse_partition(scenario.partition, run.schedule.stages, layers);
  const int placed = std::accumulate(run.partition.begin(), run.partition.end(), 0);
  std::string parts;
  for (const int part : run.partition) parts += (parts.empty() ? "" : ",") + std::to_string(part);
  assume(run.report, "partition", parts + (automatic ? " (auto)" : ""), automatic ? Source::kModelled : Source::kGiven);
  assume(run.report, "layers in model / layers placed", std::to_string(layers) + " / " + std::to_string(placed),
         profile.origin.times);
  std::vector<Assumption>& assumptions = run.report.assumptions;
  const std::size_t before = assumptions.size();
  run.costs = profiled_costs(profile, run.partition, training_state(profile), scenario.times.weight_share, assumptions);
  for (std::size_t k = before; k < assumptions.size(); ++k) {
    if (scenario.weight_share_given && assumptions[k].what.starts_with("memory held")) {
      assumptions[k].source = Source::kGiven;
    }
  }
  if (barriers > 0) place_output_shards(shard, run);
  set_recompute_costs(run.schedule, false, false, run.costs, assumptions);
}

void stage_costs(const Scenario& scenario, Run& run) {
  if (scenario.profile) {
    profile_costs(scenario, run);
  } else {
    toy_costs(scenario, run);
  }
  set_copy_costs(scenario, run.schedule, run.costs, run.report.assumptions);
}

Topology make_topology(const Scenario& scenario, Report& report) {
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
  const std::array<const char*, 3> modes{"overlapped with compute", "blocking: holds both compute lanes",
                                         "coupled: fused exchanges between ops"};
  assume(report, "transfers", modes[static_cast<std::size_t>(scenario.p2p)],
         given_or_default(scenario.p2p != P2p::kOverlapped));
  return Topology::ideal(latency, bandwidth);
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
  stage_costs(scenario, draft);
  return build_planned(entry.name, request, draft.costs, make_topology(scenario, draft.report), scenario.p2p);
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

// On a modelled cluster all replicas of the pipeline that differ; the slowest is shown.
Timeline simulate_prepared(const Run& run, const Program& program) {
  if (!run.topology.contended() && run.step.empty() && run.variation.none()) {
    return simulate(program, run.schedule, run.costs, run.topology);
  }
  const int replicas = run.variation.replicas_differ() ? run.pipeline_replicas : 1;
  std::vector<Timeline> timelines =
      simulate_cluster(program, run.schedule, run.costs, run.topology, {&run.step, &run.variation, replicas});
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
      stage_costs(scenario, draft);
      request.costs = &costs.emplace(costs_to_plan_with(schedule, draft.costs, make_topology(scenario, draft.report)));
    }
    schedule = apply_transform(spec.name, schedule, request);
  }
  return schedule;
}

void add_throughput(Report& report, std::int64_t samples_per_microbatch, std::int64_t tokens_per_sample) {
  if (report.makespan == 0 || samples_per_microbatch == 0) return;
  constexpr double kNanosecondsPerSecond = 1e9;
  const double samples =
      static_cast<double>(report.schedule.microbatches) * static_cast<double>(samples_per_microbatch);
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
  stage_costs(scenario, run);
  if (scenario.profile) {
    run.samples_per_microbatch = scenario.profile->microbatch_size;
    run.tokens_per_sample = scenario.profile->sequence_length;
  }
  if (scenario.profile && run.schedule.asynchrony) {
    assume(run.report, "extra weight version", "the stage's weights, in the precision of the profile",
           Source::kDefault);
  }
  run.topology = make_topology(scenario, run.report);
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
    run.report.steady_period = steady_period(program, run.costs, run.topology, iterations_for(program.nodes.size()));
    add_throughput(run.report, run.samples_per_microbatch, run.tokens_per_sample);
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
  if (is_table_file(name) || run.schedule.total_ops() > kQuick) return std::nullopt;
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
