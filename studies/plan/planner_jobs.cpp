#include "studies/plan/planner_jobs.hpp"

#include <algorithm>
#include <utility>

#include "scenario/check_scenario.hpp"
#include "scenario/job/job.hpp"
#include "scenario/job/memory_limits.hpp"
#include "scenario/job/model_profile.hpp"
#include "sim/core/error.hpp"
#include "studies/planners/from_profile.hpp"
#include "studies/planners/from_scenario.hpp"

namespace debubble {
namespace {

// One pipeline in a plain order, which nothing shards.
PlanChoice straight_choice(PlanChoice choice, int pipeline) {
  choice.pipeline = pipeline;
  choice.data = 1;
  choice.expert = 1;
  choice.zero = 0;
  choice.schedule = "1f1b";
  choice.chunks = 1;
  choice.params.clear();  // of the plan's own schedule
  choice.recompute_stages.clear();
  choice.recompute_first = 0;
  return choice;
}

double layers_time(const Profile& profile) {
  double time = 0;
  for (const PlannerLayer& layer : planner_layers(profile).layers) {
    time += static_cast<double>(layer.forward) + static_cast<double>(layer.backward);
  }
  return time;
}

// The job's model on one device of other hardware.
Scenario on_hardware(const PlanRequest& request, const PlanChoice& choice, const std::string& hardware) {
  ScenarioFlags flags = flags_of(straight_choice(choice, 1), request.job);
  flags.transformer.hardware = hardware;
  flags.cluster = ClusterFlags{};
  return check_scenario(flags);
}

Scenario known_hardware(const PlanRequest& request, const PlanChoice& choice, const DeviceTypeRow& row) {
  try {
    return on_hardware(request, choice, row.hardware);
  } catch (const InputError& error) {
    std::vector<Diagnostic> problems = error.diagnostics();
    for (Diagnostic& one : problems) one.place = "--device-types, type \"" + row.name + "\"";
    throw InputError(std::move(problems));
  }
}

PlannerDeviceType device_type(const PlanRequest& request, const PlanChoice& choice, const DeviceTypeRow& row,
                              const PlannerDeviceType& usual, double usual_time) {
  PlannerDeviceType type{row.name, row.time_factor.value_or(1.0), row.memory.value_or(usual.memory), row.bandwidth};
  if (row.hardware.empty()) return type;
  if (request.job.transformer.model.empty()) {
    throw InputError(Diagnostic{"P012", "--device-types", "a profile says nothing of the times of " + row.hardware,
                                "give time_factor and memory instead, or --model"});
  }
  const Scenario other = known_hardware(request, choice, row);
  if (!row.time_factor) type.time_factor = layers_time(*other.profile) / usual_time;
  if (!row.memory) {
    const MemoryLimits limits = make_memory_limits(other, 1).value;
    type.memory = limits.capacities.empty() ? 0 : limits.capacities.front();
  }
  return type;
}

}  // namespace

PlannerJob planner_job(const PlanRequest& request, const PlanChoice& choice, int devices, int microbatches) {
  Scenario links = check_scenario(flags_of(straight_choice(choice, 1), request.job));
  links.devices = devices;
  links.microbatches = microbatches;
  PlannerJob job = planner_job(links);
  PlanChoice whole = choice;
  whole.zero = 0;
  job.layers = planner_layers(*check_scenario(flags_of(whole, request.job)).profile).layers;
  return job;
}

PlannerJob planner_job(const PlanRequest& request, const PlanChoice& choice, const std::vector<DeviceTypeRow>& types,
                       int microbatches) {
  PlannerJob job = planner_job(request, choice, request.gpus, microbatches);
  const PlannerDeviceType usual = job.types.front();
  const std::string& hardware = request.job.transformer.hardware;
  const bool modelled = !request.job.transformer.model.empty();
  const double usual_time = modelled ? layers_time(*on_hardware(request, choice, hardware).profile) : 0;
  job.types.clear();
  job.devices.clear();
  for (const DeviceTypeRow& row : types) {
    job.types.push_back(device_type(request, choice, row, usual, usual_time));
    job.devices.insert(job.devices.end(), static_cast<std::size_t>(row.count), static_cast<int>(job.types.size()) - 1);
  }
  return job;
}

Nanoseconds longest_update(const PlanRequest& request, const PlanChoice& choice, const std::vector<int>& partition) {
  try {
    ScenarioFlags flags = flags_of(straight_choice(choice, static_cast<int>(partition.size())), request.job);
    flags.partition = partition_text(partition);
    NoProgress nobody;
    const Job job = prepare(check_scenario(flags), "1f1b", nobody);
    Nanoseconds longest = 0;
    for (const StepTask& task : job.step.tasks) {
      if (task.kind == StepTask::Kind::kOptimizer) longest = std::max(longest, task.duration);
    }
    return longest;
  } catch (const InputError&) {
    return 0;  // such a pipeline is no legal run; whoever judges the decision says why
  }
}

}  // namespace debubble
