#include "scenario/job/step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "cost_models/transformer/kernel_time.hpp"
#include "cost_models/transformer/layer_memory.hpp"
#include "scenario/job/assumptions.hpp"
#include "scenario/job/model_profile.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {

namespace {

// Of nominal memory bandwidth, when large arrays stream through (calculon's table for 100 MB and more).
constexpr double kStreaming = 0.9;
constexpr std::int64_t kUsualBandwidth = 2'000'000'000'000;

bool several_copies(const Parallelism& sizes) { return sizes.copies() > 1 || sizes.expert_copies() > 1; }

// Flags about what only some ways of sharding do.
void refuse_idle_flags(const Scenario& scenario) {
  const StepScenario& step = scenario.step;
  const int zero = scenario.cluster.sizes.zero;
  std::vector<Diagnostic> found;
  if (step.typed.keep_whole && zero < 2) {
    found.push_back({"C004", "--keep-whole",
                     "nothing is sharded during the step below ZeRO-2, so it would change nothing",
                     "leave it out, or add --zero 2"});
  }
  if (!step.typed.gather.empty() && zero == 0 && !step.options.times.gather) {
    found.push_back({"C004", "--gather", "every rank updates all of its weights, so there is nothing to gather",
                     "leave it out, or add --zero 1"});
  }
  if (!found.empty()) throw InputError(std::move(found));
}

// Whether there is a step at all, and no flag that shapes one where there is none.
bool has_step(const Scenario& scenario, const Schedule& schedule) {
  const StepScenario& step = scenario.step;
  const bool usual = scenario.profile && several_copies(scenario.cluster.sizes) && !schedule.asynchrony;
  const bool on = step.wanted == StepScenario::Wanted::kOn || (step.wanted == StepScenario::Wanted::kDefault && usual);
  const std::string shaping = step.shaping_flag();
  if (!on && !shaping.empty()) {
    throw InputError(Diagnostic{"C004", shaping, "it shapes the training step, and this run has none",
                                scenario.profile ? "add --step on, or data ranks with --dp"
                                                 : "add --step reduce=2,optimizer=0.5, or a profile or model"});
  }
  if (on && !scenario.profile && !step.has_times()) {
    throw InputError(Diagnostic{"C004", "--step", "without a profile or model nothing says how much there is to do",
                                "give times, like --step reduce=2,optimizer=0.5, or add --profile FILE"});
  }
  if (on) refuse_idle_flags(scenario);
  return on;
}

StageState state_of(const RankParameters& numbers, const RankParameters& matrices, TrainingSetup setup) {
  setup.parallel.zero = 0;            // as if nothing were sharded
  setup.keeps_low_gradients = false;  // only the sums travel
  const TrainingStates all =
      training_states(numbers.dense + numbers.experts, setup, 1, matrices.dense + matrices.experts);
  const TrainingStates experts = training_states(numbers.experts, setup, 1, matrices.experts);
  return {all.weights, all.gradients, all.optimizer, experts.weights, experts.gradients, experts.optimizer};
}

// A modelled transformer knows what its layers train; layers that the partition does not place (an output layer cut
// over all devices) lie with the first stage of each device.
std::vector<StageState> modelled_states(const Scenario& scenario, const StepPlace& place) {
  const TrainingSetup& setup = *scenario.transformer.setup;
  const std::vector<LayerPlace> layers = layer_places(setup.shape);
  std::vector<RankParameters> numbers(place.partition.size());
  std::vector<RankParameters> matrices(place.partition.size());
  std::size_t next = 0;
  const auto add_to = [](RankParameters& sum, const RankParameters& one, std::int64_t parts) {
    sum.dense += one.dense / parts;
    sum.experts += one.experts / parts;
  };
  const auto add = [&](std::size_t stage, std::int64_t parts) {
    add_to(numbers[stage], rank_parameters(setup, layers[next]), parts);
    add_to(matrices[stage], matrix_parameters(setup, layers[next]), parts);
  };
  for (std::size_t stage = 0; stage < numbers.size(); ++stage) {
    for (int k = 0; k < place.partition[stage] && next < layers.size(); ++k, ++next) add(stage, 1);
  }
  const auto devices = std::min(numbers.size(), static_cast<std::size_t>(place.schedule.devices));
  for (; next < layers.size(); ++next) {
    for (std::size_t stage = 0; stage < devices; ++stage) add(stage, place.schedule.devices);
  }
  std::vector<StageState> states;
  for (std::size_t k = 0; k < numbers.size(); ++k) states.push_back(state_of(numbers[k], matrices[k], setup));
  return states;
}

// A measured profile knows the bytes of its weights; the rest follows by the rules of cost_models/profiled.hpp.
std::vector<StageState> measured_states(const StageCosts& costs) {
  std::vector<StageState> states;
  for (const StageCost& cost : costs.stages) states.push_back({cost.weights, cost.gradients, cost.optimizer, 0, 0, 0});
  return states;
}

void set_memory_bandwidth(const Scenario& scenario, StepOptions& options, std::vector<Assumption>& assumptions) {
  if (options.times.optimizer || !scenario.profile) return;
  const auto say = [&](const std::string& why, Source source) {
    assume(assumptions, "optimizer",
           "reads and writes its state at " + format_size(options.memory_bandwidth) + "/s" + why, source);
  };
  if (scenario.step.optimizer_bandwidth) {
    options.memory_bandwidth = *scenario.step.optimizer_bandwidth;
    return say("", Source::kGiven);
  }
  const bool modelled = scenario.transformer.setup.has_value();
  const Hardware* hardware =
      modelled ? &modelled_hardware(scenario) : hardware_of_device(scenario.profile->origin.device);
  if (hardware == nullptr) {
    options.memory_bandwidth = kUsualBandwidth;
    return say(", as an A100 could", Source::kDefault);
  }
  const double scale = modelled ? scenario.transformer.calibration.compute_scale : 1.0;
  options.memory_bandwidth = std::llround(static_cast<double>(hardware->memory_bandwidth) * kStreaming * scale);
  say(", 90 % of the memory bandwidth of " + hardware->name, Source::kModelled);
}

StepRequest request_of(const Scenario& scenario, const StageCosts& costs, const StepPlace& place,
                       const StepOptions& options) {
  StepRequest request;
  request.schedule = &place.schedule;
  request.topology = &place.topology;
  request.parallel = scenario.cluster.sizes;
  request.options = options;
  if (scenario.cluster.known != nullptr) request.drafts = &scenario.cluster.known->drafts;
  if (!scenario.profile) return request;
  const auto& setup = scenario.transformer.setup;
  request.stages = setup ? modelled_states(scenario, place) : measured_states(costs);
  const StageCost& first = costs.stages.front();
  request.first_forward = first.forward;
  request.last_backward = has_weight_grads(place.schedule) ? first.weight_grad : first.backward;
  request.parameter_bytes = setup                                                     ? bytes_of(setup->weights)
                            : scenario.profile->dtype.find("32") == std::string::npos ? 2
                                                                                      : 4;
  if (scenario.step.tied_embedding) {
    request.tied_embedding = *scenario.step.tied_embedding;
  } else if (setup && setup->shape.tied_embedding) {
    request.tied_embedding =
        padded_vocabulary(*setup) / setup->parallel.tensor * setup->shape.hidden * bytes_of(setup->gradients);
  }
  if (setup) {
    request.generation = hardware_links(modelled_hardware(scenario));
    request.options.master_ratio = master_bytes(*setup) / bytes_of(setup->weights);
    request.options.loss_scaling = setup->compute == NumberFormat::kFp16;
    request.options.network_scale = scenario.transformer.calibration.network_scale;
  } else {
    const std::string& dtype = scenario.profile->dtype;
    request.options.master_ratio = dtype.find("16") != std::string::npos ? 2 : 0;
    request.options.loss_scaling = dtype == "fp16" || dtype == "float16";
    const Hardware* hardware = hardware_of_device(scenario.profile->origin.device);
    if (hardware != nullptr) request.generation = link_generation(hardware->name);
  }
  return request;
}

void describe_order(const StepScenario& step, const Scenario& scenario, std::vector<Assumption>& assumptions) {
  const StepOptions& options = step.options;
  const std::array<const char*, 2> reduces{"as soon as a stage's last backward has ended",
                                           "when all ops of a device have ended"};
  assume(assumptions, "gradients are reduced", reduces.at(static_cast<std::size_t>(options.reduce)),
         given_or_default(!step.typed.grad_reduce.empty()));
  const bool computed = scenario.profile.has_value();
  if (computed && !options.times.reduce) {
    std::string how = to_string(options.algorithm);
    if (options.algorithm == CollectiveAlgorithm::kSparse) how += ", " + step.typed.density + " of the numbers";
    assume(assumptions, "algorithm of the reduction", how, given_or_default(!step.typed.collective.empty()));
  }
  if (computed || options.times.norm) {
    const std::array<const char*, 3> norms{"a barrier for all devices", "post-validated: partial norms are handed on",
                                           "none"};
    assume(assumptions, "norm of all gradients", norms.at(static_cast<std::size_t>(options.norm)),
           given_or_default(!step.typed.norm.empty()));
  }
  if (scenario.cluster.sizes.zero > 0 || options.times.gather) {
    const bool before = options.gather == ParameterGather::kBeforeForward;
    assume(assumptions, "weights are gathered", before ? "before a stage's first forward" : "after the optimizer",
           given_or_default(!step.typed.gather.empty()));
  }
}

// Buckets of what there is not would be no buckets at all.
void check_buckets(const Scenario& scenario) {
  const StepOptions& options = scenario.step.options;
  const int zero = scenario.cluster.sizes.zero;
  const auto refuse = [&](const char* flag, const char* why, const char* help) { fail("C004", flag, why, help); };
  const char* leave = "leave it out";
  if (options.overlap_reduce && (!scenario.profile || options.times.reduce)) {
    refuse("--overlap-grad-reduce", "how long the reduction takes is given, not computed from its bytes",
           "add --profile or --model, and no reduce= in --step");
  }
  if (options.overlap_gather && (!scenario.profile || options.times.gather)) {
    refuse("--overlap-param-gather", "how long the gathering takes is given, not computed from its bytes",
           "add --profile or --model, and no gather= in --step");
  }
  if (options.overlap_reduce && zero > 1 && !options.keep) {
    refuse("--overlap-grad-reduce", "ZeRO-2 and 3 send gradients inside every op already", leave);
  }
  if (options.overlap_gather && zero == 0) {
    refuse("--overlap-param-gather", "every rank updates all of its weights, so none are gathered", "add --zero 1");
  }
  if (options.overlap_gather && zero == 3 && !options.keep) {
    refuse("--overlap-param-gather", "ZeRO-3 gathers weights inside every op already", leave);
  }
}

void describe_buckets(const StepRequest& request, std::vector<Assumption>& assumptions) {
  const StepOptions& options = request.options;
  if (request.stages.empty() || (!options.overlap_reduce && !options.overlap_gather)) return;
  const std::int64_t count = buckets_of(request, request.stages.front().parameters);
  assume(assumptions, "buckets of the first stage",
         std::to_string(count) + (options.bucket > 0 ? "" : ", of Megatron-LM's size") + ", " +
             (options.overlap_reduce ? "reduced during its last backward" : "") +
             (options.overlap_reduce && options.overlap_gather ? " and " : "") +
             (options.overlap_gather ? "gathered during its first forward" : "") + ", others have one",
         options.bucket > 0 ? Source::kGiven : Source::kPublished);
}

void describe_times(const StepTimes& times, std::vector<Assumption>& assumptions) {
  const auto say = [&](const char* what, const std::optional<Nanoseconds>& time) {
    if (time) assume(assumptions, what, format_duration_exact(*time) + " per device share", Source::kGiven);
  };
  say("reduction of gradients", times.reduce);
  say("reduction of the tied embedding", times.embedding);
  say("norm of the gradients", times.norm);
  say("optimizer", times.optimizer);
  say("gathering of weights", times.gather);
}

// Among how many ranks ZeRO shards what a measured profile says of one; a modelled one's are of a rank already.
struct StateRanks {
  std::int64_t weights = 1;
  std::int64_t gradients = 1;
  std::int64_t optimizer = 1;
};

StateRanks state_ranks(const Scenario& scenario) {
  StateRanks ranks;
  if (scenario.transformer.setup) return ranks;
  const Parallelism& sizes = scenario.cluster.sizes;
  const std::int64_t all = sizes.copies();
  if (sizes.zero >= 1) ranks.optimizer = all;
  if (sizes.zero >= 2) ranks.gradients = all;
  if (sizes.zero >= 3) ranks.weights = all;
  return ranks;
}

// Links over which any sum takes no time, but for its latencies.
bool is_unlimited(const Topology& topology) { return topology.network() == nullptr && topology.bandwidth() == 0; }

// Copies of the weights inside one pipeline have their gradients added up in every step, whether its other parts are
// simulated or not.
void add_replica_sums(const Scenario& scenario, const StepPlace& place, StepMade& made) {
  constexpr const char* kKey = "gradients of copies inside the pipeline";
  const auto none = [&](const char* why, Source source) {
    assume(made.assumptions, kKey, std::string("not added up: ") + why, source);
  };
  if (scenario.step.wanted == StepScenario::Wanted::kOff) return none("--step off", Source::kGiven);
  if (place.schedule.asynchrony) return none("the schedule has no flush", Source::kDefault);
  if (!scenario.profile) return none("nothing says how large the weights are", Source::kDefault);
  if (is_unlimited(place.topology)) return none("the links have no limit", Source::kDefault);
  made.work = make_replica_sums(request_of(scenario, made.costs, place, scenario.step.options), made.assumptions);
  if (made.work.empty()) return none("the profile has no sizes of weights", Source::kDefault);
  assume(made.assumptions, kKey, "added up between their devices as soon as a stage's last backward has ended",
         Source::kDefault);
}

}  // namespace

void shard_measured_states(const Scenario& scenario, StageCosts& costs) {
  if (!scenario.profile) return;
  const StateRanks ranks = state_ranks(scenario);
  const auto share = [](Bytes all, std::int64_t among) { return (all + among - 1) / among; };
  for (StageCost& cost : costs.stages) {
    cost.weights = share(cost.weights, ranks.weights);
    cost.gradients = share(cost.gradients, ranks.gradients);
    cost.optimizer = share(cost.optimizer, ranks.optimizer);
  }
}

Bytes least_states(const Scenario& scenario, const ProfileLayer& layer) {
  const StateRanks ranks = state_ranks(scenario);
  return layer.parameters / ranks.weights + layer.gradients.value_or(0) / ranks.gradients +
         layer.optimizer.value_or(0) / ranks.optimizer;
}

bool sums_replicas(const Schedule& schedule) {
  const Placement& placement = schedule.placement;
  for (int stage = 0; stage < schedule.stages; ++stage) {
    for (int replica = 1; replica < placement.replicas(); ++replica) {
      if (placement.device_of(replica, stage) != placement.device_of(0, stage)) return true;
    }
  }
  return false;
}

bool lacks_replica_sums(const Schedule& schedule, const StepWork& work, const Topology& topology) {
  const bool given = std::any_of(work.tasks.begin(), work.tasks.end(), [](const StepTask& task) {
    return task.kind == StepTask::Kind::kGradientReduce && task.bytes == 0;  // its time is said, not computed
  });
  const bool unlimited = is_unlimited(topology) && !given;
  return sums_replicas(schedule) && (work.empty() || unlimited);
}

void set_vocabulary_barrier(const Scenario& scenario, const Schedule& schedule, const Topology& topology,
                            StageCosts& costs, std::vector<Assumption>& assumptions) {
  const StepRequest request = request_of(scenario, costs, {schedule, {}, topology}, {});
  // The layer before the head hands over what the gradient has the size of.
  const bool sized = scenario.profile && scenario.profile->layers.size() > 1;
  const Bytes bytes = sized ? (scenario.profile->layers.end() - 2)->output : 0;
  CollectivePlan plan = pipeline_sum(request, topology.network() == nullptr ? bytes : std::max<Bytes>(bytes, 1));
  if (plan.duration == 0 && schedule.devices > 1 && topology.network() == nullptr) {  // latencies are all there is
    plan.duration = 2 * topology.latency();
    plan.text = "a hop to one device and a hop back";
  }
  costs.vocabulary->barrier = plan.duration;
  Assumption made{"barrier of the output layer", "", Source::kModelled};
  made.amount = plan.duration == 0 ? std::string("no time: links without latency or limit")
                                   : format_duration_exact(plan.duration) + " per microbatch: " + plan.text;
  made.changes_result = plan.duration > 0;
  assumptions.push_back(std::move(made));
}

StepMade make_step(const Scenario& scenario, StageCosts costs, const StepPlace& place) {
  StepMade made{std::move(costs), {}, {}};
  if (!has_step(scenario, place.schedule)) {
    if (sums_replicas(place.schedule)) add_replica_sums(scenario, place, made);
    const bool missed = scenario.profile && several_copies(scenario.cluster.sizes) && place.schedule.asynchrony &&
                        scenario.step.wanted == StepScenario::Wanted::kDefault;
    if (missed) assume(made.assumptions, "training step", "none: the schedule has no flush", Source::kDefault);
    return made;
  }
  check_buckets(scenario);
  StepOptions options = scenario.step.options;
  describe_order(scenario.step, scenario, made.assumptions);
  describe_times(options.times, made.assumptions);
  set_memory_bandwidth(scenario, options, made.assumptions);
  const StepRequest request = request_of(scenario, made.costs, place, options);
  shard_measured_states(scenario, made.costs);
  describe_buckets(request, made.assumptions);
  made.costs = sharded_stage_costs(request, std::move(made.costs), place.partition, made.assumptions);
  made.work = make_step_work(request, made.assumptions);
  return made;
}

}  // namespace debubble
