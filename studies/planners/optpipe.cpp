#include "studies/planners/optpipe.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "schedules/optimal.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

constexpr int kMostOrderedOps = 60'000;     // F, I and W that are put in order: more takes minutes
constexpr int kUsualNodes = 20;             // thousands
constexpr double kMostHostBandwidth = 1e6;  // GB/s
constexpr const char* kHostChoice = "host";

Nanoseconds rounded_up_time(double time) { return static_cast<Nanoseconds>(std::ceil(time - 1e-6)); }

struct GivenPipeline {
  PlanningCosts costs;
  std::string limits;
};

// One device per stage; a backward is half input gradient, half weight gradient, which keeps the activation to its end.
// `host`: GB/s of each device's link to the host; 0: no activation leaves.
GivenPipeline given_pipeline(const PlannerJob& job, const std::vector<PlannerStage>& stages, double host) {
  GivenPipeline given;
  const PlannerSums sums(job);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const PlannerStage& stage = stages[s];
    const PlannerDeviceType& type = at(job.types, at(job.devices, stage.devices.front()));
    const Nanoseconds forward = sums.forward(stage.begin, stage.end);
    StageCost cost;
    cost.forward = rounded_up_time(static_cast<double>(forward) * type.time_factor);
    cost.backward =
        rounded_up_time(static_cast<double>(sums.time(stage.begin, stage.end) - forward) * type.time_factor);
    cost.input_grad = cost.backward / 2;
    cost.weight_grad = cost.backward - cost.input_grad;
    cost.activation = sums.activation(stage.begin, stage.end);
    cost.weight_grad_held = cost.activation;
    cost.copy = host_copy_time(cost.activation, host);
    if (cost.forward < 0 || cost.backward < 0 || cost.activation < 0) {
      not_for_planner("optpipe", "a stage takes less than no time or memory", "give it layers, not states of a graph");
    }
    given.costs.costs.stages.push_back(cost);
    given.costs.activation_unit += cost.activation / static_cast<Bytes>(stages.size());
    Bytes room = cost.activation * job.microbatches;
    if (type.memory > 0) {
      room = type.memory - sums.parameters(stage.begin, stage.end) - sums.state(stage.begin, stage.end);
      if (s > 0) room -= 2 * at(job.layers, stage.begin - 1).output;  // what has been received waits there
    }
    given.limits += (s == 0 ? "" : ",") + std::to_string(std::max<Bytes>(room, 0)) + "B";
    if (s + 1 == stages.size()) continue;
    const std::int64_t bandwidth = card_bandwidth(job, stage.devices.front(), stages[s + 1].devices.front());
    const auto bytes = static_cast<double>(at(job.layers, stage.end - 1).output);
    given.costs.hops.push_back(
        bandwidth >= kUnlimitedLink ? 0 : rounded_up_time(bytes / static_cast<double>(bandwidth) * 1e9));
  }
  return given;
}

OptimalSchedule ordered(const PlannerJob& job, const std::vector<PlannerStage>& stages, const std::string& budget,
                        double host) {
  const GivenPipeline given = given_pipeline(job, stages, host);
  ScheduleRequest request;
  request.devices = static_cast<int>(stages.size());
  request.microbatches = job.microbatches;
  request.params = {{"memory_limit", given.limits}, {"budget", budget}};
  if (host > 0) request.params["offload"] = "yes";
  request.costs = &given.costs;
  try {
    return search_optimal(request);
  } catch (const InputError& error) {
    no_plan_fits("optpipe", error.diagnostics().front().message, "use more devices, or devices with more memory");
  }
}

PlannerDecision decide_optpipe(const PlannerJob& job, const PlannerRequest& request) {
  const int nodes = planner_count(request, "nodes", kUsualNodes, 0, 1'000'000);
  const double host = planner_number(request, "host", 0, 0, kMostHostBandwidth);
  const int count = std::min(job.device_count(), job.layer_count());
  if (std::int64_t{3} * count * job.microbatches > kMostOrderedOps) {
    not_for_planner("optpipe", "so many microbatches on so many stages are too many ops to put in order",
                    "use fewer microbatches or devices");
  }
  const PlannerSums sums(job);
  const auto weight = [&](int stage, int begin, int end) {
    return stage_time(job, sums, begin, end, at(job.devices, stage));
  };
  PlannerDecision decision;
  decision.stages = stages_of_cuts(least_largest(0, job.layer_count(), count, weight).cuts, job.layer_count());
  const std::string budget = std::to_string(nodes) + "k";
  const auto [schedule, proof] = ordered(job, decision.stages, budget, host);
  decision.predicted = static_cast<double>(proof.time);
  decision.unit = "ns per step";
  decision.choices = {{"schedule", "optimal"}, {"budget", budget}};
  if (host > 0) decision.choices.emplace_back(kHostChoice, request.params.at("host"));
  for (const auto& [name, value] : schedule.params) {
    if (name == "backward") decision.choices.emplace_back("backward", value);
  }
  decision.notes.push_back(proof_text(proof));
  return decision;
}

}  // namespace

double optpipe_host(const PlannerDecision& decision) {
  for (const auto& [name, value] : decision.choices) {
    if (name == kHostChoice) return std::stod(value);
  }
  return 0;
}

Nanoseconds host_copy_time(Bytes bytes, double host) {
  return host > 0 ? rounded_up_time(static_cast<double>(bytes) / host) : 0;
}

Schedule optpipe_schedule(const PlannerJob& job, const PlannerDecision& decision) {
  const std::map<std::string, std::string> choices(decision.choices.begin(), decision.choices.end());
  return ordered(job, decision.stages, choices.at("budget"), optpipe_host(decision)).schedule;
}

const PlannerEntry& optpipe_planner() {
  static const PlannerEntry entry{
      .name = "optpipe",
      .summary = "the order of F, input and weight gradients of a given pipeline within its memory",
      .objective = "shortest step of that pipeline, each device within its memory",
      .cost_model =
          "the start times of all ops are variables: one op at a time on a device, F before I before W, a hop between "
          "stages, "
          "activations from F to I and to W; exact, so its prediction is the simulated step where links are not shared",
      .assumes =
          "a pipeline that is given: here the partition whose longest stage is shortest, one device per stage; "
          "backwards of two equal halves; no copies to the host unless :host says how fast they are",
      .published =
          "none as orders: up to 50 % less idle time at the same memory, up to 14.2 B on 16 H100 (abstract, "
          "reviews)",
      .faults = "",
      .certainty = PlannerCertainty::kRecalled,
      .certainty_note =
          "its exact equations were not available. In tests our MILP, built from what is known of it, has the same "
          "optimum as our search and as enumerated orders, with copies to the host and without; here the search "
          "decides",
      .params = {{"nodes", "0..1000000", "20", "thousands of nodes of the search"},
                 {"host", "0..1000000", "0", "GB/s of each device's link to the host: activations may leave"}},
      .advice =
          "Ask it after another planner has cut the model, where memory is short or stages are unequal: `debubble plan "
          "--schedule-only` asks the same about a pipeline of yours.",
      .citation = "Li, Zhang, Liu, Ge, Ye, OptPipe, 2025, arXiv 2510.05186",
      .decide = decide_optpipe};
  return entry;
}

}  // namespace debubble
