#include "scenario/job/layer_cut.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "cost_models/partition/framework_cuts.hpp"
#include "scenario/job/links.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/request/slow.hpp"
#include "scenario/request/stage_list.hpp"
#include "sim/core/at.hpp"

namespace debubble {
namespace {

CutSizes sizes_to_cut(const Scenario& scenario, const Profile& profile) {
  if (scenario.transformer.setup) {
    return cut_sizes(scenario.transformer.setup->shape, bytes_of(scenario.transformer.setup->weights));
  }
  CutSizes sizes;
  if (const auto& measured = profile.transformer) {
    sizes.hidden = measured->hidden;
    sizes.heads = measured->heads;
    sizes.feed_forward = measured->feed_forward;
    sizes.vocabulary = measured->vocabulary;
    sizes.mlp_matrices = measured->gated ? 3 : 2;
  }
  return sizes;
}

}  // namespace

LayersOnStages::LayersOnStages(const Scenario& scenario, const Schedule& schedule)
    : scenario_(scenario), schedule_(schedule) {
  if (scenario.transformer.recomputed != nullptr) {
    again_ = named_stages(scenario.transformer.recompute_stages, schedule.stages, "--recompute-stages");
  }
  if (!scenario.partition.for_devices) return;
  std::vector<Diagnostic> problems;  // said by make_variation
  of_device_ = slow_factors(scenario.variation.slow, SlowItem::What::kDevice, schedule.devices, problems);
  of_stage_ = slow_factors(scenario.variation.slow, SlowItem::What::kStage, schedule.stages, problems);
  if (scenario.cluster.graph != nullptr) placed_ = placed_layers(scenario, schedule.devices);
  if (placed_ != nullptr && placed_->distinct.size() < 2) placed_ = nullptr;
  if (scenario.partition.transfers_counted > 0) topology_ = make_topology(scenario, schedule.devices).value;
}

LayerCut LayersOnStages::cut(const Profile& profile, const TrainingState& state) const {
  if (scenario_.partition.automatic()) return balanced(profile);
  if (scenario_.partition.how == CutRule::How::kMemory) return for_memory(profile, state);
  LayersToCut layers{&profile, schedule_.stages};
  layers.sizes = sizes_to_cut(scenario_, profile);
  return cut_layers(scenario_.partition, layers);
}

LayerCut LayersOnStages::balanced(const Profile& profile) const {
  constexpr std::size_t kMostLayersWithTransfers = 2000;  // every range of them is weighed
  LayersToCut layers{&profile, schedule_.stages};
  std::vector<std::vector<Nanoseconds>> times;
  if (mixed() || !alike()) {
    for (int stage = 0; stage < schedule_.stages; ++stage) times.push_back(times_on(stage, profile));
  }
  for (const auto& one : times) layers.times.push_back(&one);
  if (topology_ && profile.layers.size() <= kMostLayersWithTransfers) {
    layers.boundary = [&](int stage, int end) { return boundary(profile, stage, end); };
  }
  return cut_layers({}, layers);
}

// Of all layers, if they lay on this stage; of a stage that lies on several devices the slowest counts.
std::vector<Nanoseconds> LayersOnStages::times_on(int stage, const Profile& profile) const {
  std::vector<Nanoseconds> most(profile.layers.size(), 0);
  for (int replica = 0; replica < schedule_.placement.replicas(); ++replica) {
    const std::int32_t device = schedule_.placement.device_of(replica, stage);
    const Profile& layers = layers_on(device, stage, profile);
    double factor = 1;
    if (!of_device_.empty()) factor *= at(of_device_, device);
    if (!of_stage_.empty()) factor *= at(of_stage_, stage);
    for (std::size_t k = 0; k < most.size(); ++k) {
      const double time = static_cast<double>(layer_time(layers.layers[k])) * factor;
      most[k] = std::max(most[k], static_cast<Nanoseconds>(std::llround(time)));
    }
  }
  return most;
}

// What counts of the transfers between `stage` and the next one, there and back, if the next one's first layer is
// `end`.
Nanoseconds LayersOnStages::boundary(const Profile& profile, int stage, int end) const {
  Nanoseconds most = 0;
  for (int replica = 0; replica < schedule_.placement.replicas(); ++replica) {
    const int from = schedule_.placement.device_of(replica, stage);
    const int to = schedule_.placement.device_of(replica, stage + 1);
    if (from == to) continue;
    const Bytes bytes = at(profile.layers, end - 1).output;
    most = std::max(most, topology_->transfer(from, to, bytes).total() + topology_->transfer(to, from, bytes).total());
  }
  return static_cast<Nanoseconds>(std::llround(static_cast<double>(most) * scenario_.partition.transfers_counted));
}

const Profile& LayersOnStages::layers_on(std::int32_t device, int stage, const Profile& profile) const {
  const bool again = mixed() && again_[to_index(stage)];
  if (placed_ == nullptr) return again ? *scenario_.transformer.recomputed : profile;
  const ModelledLayers& there = placed_->distinct[at(placed_->of_device, device)];
  return again && there.recomputed != nullptr ? *there.recomputed : there.profile;
}

// Only layers that recompute are others: an output layer that all devices share was taken out of the profile.
void LayersOnStages::recompute(std::size_t layer, Profile& profile) const {
  const ProfileLayer& again = scenario_.transformer.recomputed->layers[layer];
  const ProfileLayer& plain = scenario_.profile->layers[layer];
  if (layer_time(again) == layer_time(plain) && again.activation == plain.activation) return;
  profile.layers[layer] = again;
  if (scenario_.weight_share_given) profile.layers[layer].weight_grad_held.reset();  // --w-share says what W needs
}

void LayersOnStages::mix(const std::vector<int>& partition, Profile& profile) const {
  std::size_t begin = 0;
  for (std::size_t s = 0; s < partition.size(); ++s) {
    const std::size_t end = begin + to_index(partition[s]);
    for (std::size_t k = begin; again_[s] && k < end; ++k) recompute(k, profile);
    begin = end;
  }
}

std::string LayersOnStages::text(const LayerCut& cut) const {
  const CutRule& rule = scenario_.partition;
  std::string text = partition_text(cut.layers);
  if (!alike()) return text + " (auto, for each device's speed" + (rule.transfers_counted > 0 ? " and links)" : ")");
  const bool named = rule.how == CutRule::How::kEven || rule.how == CutRule::How::kFramework;
  if (rule.automatic() || named) return text + " (" + rule.text + ")";
  if (rule.how != CutRule::How::kMemory) return text;
  return text + (cut.lacking == 0 ? " (memory)" : " (memory: no cut fits, this one lacks least)");
}

}  // namespace debubble
