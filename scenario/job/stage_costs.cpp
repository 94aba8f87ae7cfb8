#include "scenario/job/stage_costs.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cost_models/output_layer.hpp"
#include "cost_models/profiled.hpp"
#include "cost_models/uniform.hpp"
#include "scenario/job/assumptions.hpp"
#include "scenario/job/cluster_topology.hpp"
#include "scenario/job/layer_cut.hpp"
#include "scenario/job/links.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/job/step.hpp"
#include "scenario/job/transforms.hpp"
#include "scenario/request/scenario.hpp"
#include "schedules/transforms/rows.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/topology.hpp"

namespace debubble {
namespace {

// What moving an activation away takes, where a schedule does so, and what is assumed for it.

constexpr std::int64_t kDefaultHostBandwidth = 25'000'000'000;  // about what a PCIe 4.0 x16 link carries

bool has_copy(const Schedule& schedule, bool to_peer) {
  return std::any_of(schedule.copies.begin(), schedule.copies.end(), [&](const std::vector<Copy>& lane) {
    return std::any_of(lane.begin(), lane.end(), [&](const Copy& copy) { return (copy.peer >= 0) == to_peer; });
  });
}

std::string rate_text(std::int64_t bandwidth) { return bandwidth == 0 ? "unlimited" : format_size(bandwidth) + "/s"; }

// A bandwidth, and who says so. 0: unlimited.
struct Rate {
  std::int64_t bandwidth = 0;
  Source source = Source::kDefault;
};

// What the narrowest of these links carries.
std::int64_t narrowest(const LinkGraph& graph, const std::vector<std::int32_t>& links) {
  std::int64_t bandwidth = 0;
  for (const std::int32_t link : links) {
    const std::int64_t own = at(graph.links, link).bandwidth;
    if (own != 0 && (bandwidth == 0 || own < bandwidth)) bandwidth = own;
  }
  return bandwidth;
}

// The rate at which a device of the cluster reaches its host, alone; nothing where it has none.
std::optional<Rate> cluster_host_rate(const Scenario& scenario, int devices) {
  const ClusterScenario& cluster = scenario.cluster;
  if (cluster.graph == nullptr) return std::nullopt;
  std::vector<std::int32_t> links;
  const std::int32_t device = cluster.layout(devices).device(0, 0, 0, 0);
  if (!cluster.graph->router->host_route(device, true, links)) return std::nullopt;
  return Rate{narrowest(*cluster.graph, links), Source::kModelled};
}

Rate host_rate(const Scenario& scenario, int devices) {
  if (scenario.host_bandwidth) return {*scenario.host_bandwidth, Source::kGiven};
  return cluster_host_rate(scenario, devices).value_or(Rate{kDefaultHostBandwidth, Source::kDefault});
}

// Over a cluster: of the pair of partners with the narrowest route between them.
Rate partner_rate(const ClusterScenario& cluster, const Schedule& schedule) {
  const RankLayout layout = cluster.layout(schedule.devices);
  Rate rate{0, Source::kModelled};
  for (std::size_t device = 0; device < schedule.copies.size(); ++device) {
    for (const Copy& copy : schedule.copies[device]) {
      if (copy.peer < 0) continue;
      std::vector<std::int32_t> links;
      cluster.graph->router->route(layout.device(0, 0, 0, static_cast<int>(device)), layout.device(0, 0, 0, copy.peer),
                                   links);
      const std::int64_t own = narrowest(*cluster.graph, links);
      if (own != 0 && (rate.bandwidth == 0 || own < rate.bandwidth)) rate.bandwidth = own;
    }
  }
  return rate;
}

Rate link_rate(const Scenario& scenario, const Schedule& schedule) {
  if (scenario.cluster.graph != nullptr) return partner_rate(scenario.cluster, schedule);
  if (scenario.bandwidth) return {*scenario.bandwidth, Source::kGiven};
  if (scenario.profile->hop_bandwidth) return {*scenario.profile->hop_bandwidth, scenario.profile->origin.times};
  return {0, Source::kDefault};
}

// Of a profiled run: one way of a stage's activation over the link to the host (--host-bandwidth), or, where the
// schedule's copies go to other devices, over the pipeline's own links. Says so only where the schedule has copies; a
// planner may look at the times before there are any.
void set_copy_costs(const Scenario& scenario, const Schedule& schedule, StageCosts& costs,
                    std::vector<Assumption>& assumptions) {
  const bool to_peer = has_copy(schedule, true);
  const bool to_host = has_copy(schedule, false);
  if (!scenario.profile) {
    if (!to_peer && !to_host) return;
    const bool given = scenario.times_given.contains("copy");
    assumptions.push_back({"copy of an activation, one way",
                           format_duration_exact(scenario.times.copy) + " per device share",
                           given ? Source::kGiven : Source::kDefault});
    return;
  }
  const Rate rate = to_peer ? link_rate(scenario, schedule) : host_rate(scenario, schedule.devices);
  const Topology lane = Topology::ideal(0, rate.bandwidth);
  for (StageCost& stage : costs.stages) stage.copy = lane.transfer(0, 1, stage.activation).serialisation;
  if (to_peer) assumptions.push_back({"link between partners", rate_text(rate.bandwidth), rate.source});
  if (to_host) assumptions.push_back({"host bandwidth", rate_text(rate.bandwidth), rate.source});
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

StageCostsMade toy_costs(const Scenario& scenario, const Schedule& schedule) {
  StageCostsMade made;
  const UniformTimes& times = scenario.times;
  made.costs = schedule.replicas_share_weights ? shared_stage_costs(times, schedule.stages, schedule.devices)
                                               : uniform_costs(times, schedule.stages, schedule.chunks);
  const auto given = [&](const char* key) { return scenario.times_given.contains(key); };
  const auto share = [&](const char* what, Nanoseconds time, bool is_given) {
    assume(made.assumptions, what, format_duration_exact(time) + " per device share", given_or_default(is_given));
  };
  share("forward", times.forward, given("f"));
  if (has_kind(schedule, OpKind::kBackward)) {
    share("backward", times.backward.value_or(times.input_grad + times.weight_grad),
          given("b") || given("i") || given("w"));
  }
  if (has_kind(schedule, OpKind::kWeightGrad)) {
    share("input gradient", times.input_grad, given("i") || given("b"));
    share("weight gradient", times.weight_grad, given("w") || given("b"));
    assume(made.assumptions, "held from I to W", format_percent(times.weight_share) + " of an activation",
           given_or_default(scenario.weight_share_given));
  }
  if (times.overlapped_pair && has_mixed_pair(schedule)) share("overlapped pair", *times.overlapped_pair, true);
  if (scenario.times_given.contains("r") && has_kind(schedule, OpKind::kRecompute)) {
    share("recomputation", *times.recompute, true);
  }
  if (vocabulary_barriers(schedule, scenario.transforms) > 0) {
    made.costs.vocabulary = uniform_vocabulary(times, schedule.devices);
    const auto shard = [&](const char* what, Nanoseconds time, bool is_given) {
      assume(made.assumptions, what,
             format_duration_exact(time) + " per device" + (is_given ? "" : ": the output layer is one device share"),
             given_or_default(is_given));
    };
    shard("vocabulary pass S", made.costs.vocabulary->logits, given("s"));
    shard("vocabulary pass T", made.costs.vocabulary->gradient, given("t"));
  }
  set_recompute_costs(schedule, true, given("r"), made.costs, made.assumptions);
  assume(made.assumptions, "activation", toy_size(times.activation) + " per device share and microbatch",
         Source::kDefault);
  return made;
}

// Mixed-precision Adam keeps an fp32 copy and two moments per parameter; fp32 training two moments.
TrainingState training_state(const Profile& profile) {
  const bool half = profile.dtype.find("16") != std::string::npos;  // "bf16", "float16", "mixed 16-bit"
  return {1.0, half ? 6.0 : 2.0};
}

// Every device's shard of the output layer lies with its first stage.
void place_output_shards(const OutputShard& shard, const Schedule& schedule, StageCosts& costs) {
  costs.vocabulary = shard.cost;
  std::vector<bool> placed(static_cast<std::size_t>(schedule.devices), false);
  for (int stage = 0; stage < schedule.stages; ++stage) {
    const auto device = static_cast<std::size_t>(schedule.placement.device_of(0, stage));
    if (placed[device]) continue;
    placed[device] = true;
    StageCost& cost = at(costs.stages, stage);
    cost.weights += shard.weights;
    cost.gradients += shard.gradients;
    cost.optimizer += shard.optimizer;
  }
}

// The scenario's profile, copied only where something of it changes: there may be thousands of runs with the same one.
class ProfileView {
 public:
  explicit ProfileView(const Scenario& scenario) : profile_(&*scenario.profile) {
    if (!scenario.weight_share_given) return;
    // --w-share, once given, speaks for every layer, whatever the profile says.
    for (ProfileLayer& layer : own().layers) layer.weight_grad_held.reset();
  }
  [[nodiscard]] const Profile& operator*() const { return copy_ ? *copy_ : *profile_; }
  [[nodiscard]] Profile& own() {
    if (!copy_) copy_ = *profile_;
    return *copy_;
  }

 private:
  const Profile* profile_;
  std::optional<Profile> copy_;
};

StageCostsMade profile_costs(const Scenario& scenario, const Schedule& schedule) {
  StageCostsMade made;
  std::vector<Assumption>& assumptions = made.assumptions;
  ProfileView view(scenario);
  OutputShard shard;
  const int barriers = vocabulary_barriers(schedule, scenario.transforms);
  if (barriers > 0) {
    shard = take_output_layer(view.own(), schedule.devices, barriers, training_state(*view), made.assumptions);
  }
  const LayersOnStages stages(scenario, schedule);
  made.cut = stages.cut(*view, training_state(*view));
  const Profile& profile = *view;
  const LayersOnStages::Mixed mixed =
      stages.mixed() ? stages.mix(made.cut.layers, profile) : LayersOnStages::Mixed{layers_of(profile)};
  const auto layers = static_cast<int>(profile.layers.size());
  const int placed = std::accumulate(made.cut.layers.begin(), made.cut.layers.end(), 0);
  assume(made.assumptions, assumption_key::kPartition, stages.text(made.cut),
         scenario.partition.follows_from_job() ? Source::kModelled : Source::kGiven);
  append(assumptions, scenario.profile_size);
  assume(made.assumptions, "layers in model / layers placed", std::to_string(layers) + " / " + std::to_string(placed),
         profile.origin.times);
  made.assumptions.back().changes_result = layers != placed;
  made.costs = profiled_costs(profile, mixed.layers, made.cut.layers, training_state(profile),
                              scenario.times.weight_share, assumptions, given_or_default(scenario.weight_share_given));
  if (barriers > 0) place_output_shards(shard, schedule, made.costs);
  set_recompute_costs(schedule, false, false, made.costs, assumptions);
  return made;
}

void keep_longer(const StageCost& other, StageCost& cost) {
  for (Nanoseconds StageCost::*time :
       {&StageCost::forward, &StageCost::backward, &StageCost::input_grad, &StageCost::weight_grad,
        &StageCost::recompute, &StageCost::forward_collective, &StageCost::backward_collective}) {
    cost.*time = std::max(cost.*time, other.*time);
  }
}

// As if all devices were alike.
StageCostsMade equal_costs(const Scenario& scenario, const Schedule& schedule) {
  StageCostsMade made = scenario.profile ? profile_costs(scenario, schedule) : toy_costs(scenario, schedule);
  set_copy_costs(scenario, schedule, made.costs, made.assumptions);
  return made;
}

// Every stage's costs are those of the devices that it lies on.
StageCosts merge(const std::vector<StageCosts>& distinct, const std::vector<std::size_t>& of_device,
                 const Schedule& schedule) {
  const auto on = [&](int device) -> const StageCosts& { return distinct[at(of_device, device)]; };
  StageCosts costs = distinct.front();
  const Placement& placement = schedule.placement;
  for (int stage = 0; stage < schedule.stages; ++stage) {
    const auto s = static_cast<std::size_t>(stage);
    costs.stages[s] = on(placement.device_of(0, stage)).stages[s];
    for (int replica = 1; replica < placement.replicas(); ++replica) {
      keep_longer(on(placement.device_of(replica, stage)).stages[s], costs.stages[s]);
    }
  }
  for (const StageCosts& other : distinct) {
    if (!costs.vocabulary) break;
    costs.vocabulary->logits = std::max(costs.vocabulary->logits, other.vocabulary->logits);
    costs.vocabulary->gradient = std::max(costs.vocabulary->gradient, other.vocabulary->gradient);
  }
  return costs;
}

StageCostsMade costs_of_stages(const Scenario& scenario, const Schedule& schedule) {
  StageCostsMade made = equal_costs(scenario, schedule);
  if (scenario.cluster.graph == nullptr) return made;  // all devices are alike
  const auto placed = placed_layers(scenario, schedule.devices);
  if (placed == nullptr) return made;
  if (placed->distinct.size() < 2 && placed == scenario.transformer.placed) return made;
  Scenario cut = scenario;
  cut.partition = as_cut(made.cut.layers);
  made.costs = stage_costs_at(cut, *placed, schedule);
  return made;
}

}  // namespace

StageCostsMade make_stage_costs(const Scenario& scenario, const Schedule& schedule) {
  check_ranks_fit(scenario.cluster, schedule.devices);
  StageCostsMade made = costs_of_stages(scenario, schedule);
  if (made.costs.vocabulary) {
    const Topology topology = make_topology(scenario, schedule.devices).value;
    set_vocabulary_barrier(scenario, schedule, topology, made.costs, made.assumptions);
  }
  return made;
}

StageCosts stage_costs_at(const Scenario& scenario, const PlacedLayers& placed, const Schedule& schedule) {
  std::vector<StageCosts> distinct;
  for (const ModelledLayers& layers : placed.distinct) {
    Scenario there = scenario;
    there.profile = layers.profile;
    there.transformer.recomputed = layers.recomputed;
    distinct.push_back(equal_costs(there, schedule).costs);
  }
  return merge(distinct, placed.of_device, schedule);
}

}  // namespace debubble
