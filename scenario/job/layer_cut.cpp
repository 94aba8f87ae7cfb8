#include "scenario/job/layer_cut.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "cost_models/partition/framework_cuts.hpp"
#include "cost_models/transformer/layer_ops.hpp"
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
    again_ = recomputing_stages(scenario.transformer, schedule.stages);
    find_blocks();
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
  std::map<std::pair<bool, int>, std::vector<Nanoseconds>> times;  // of all stages that are alike once
  for (int stage = 0; stage < schedule_.stages && (mixed() || !alike()); ++stage) {
    const auto [known, fresh] = times.try_emplace({mixed() && again_[to_index(stage)], alike() ? 0 : stage});
    if (fresh) known->second = times_on(stage, profile);
    layers.times.push_back(&known->second);
  }
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
    const BothWays layers = layers_on(device, profile);
    double factor = 1;
    if (!of_device_.empty()) factor *= at(of_device_, device);
    if (!of_stage_.empty()) factor *= at(of_stage_, stage);
    const bool again = layers.again != nullptr && again_[to_index(stage)];
    for (std::size_t k = 0; k < most.size(); ++k) {
      auto time = static_cast<double>(layer_time(layers.plain->layers[k]));
      if (again) time += counted_[k] * (static_cast<double>(layer_time(layers.again->layers[k])) - time);
      most[k] = std::max(most[k], static_cast<Nanoseconds>(std::llround(time * factor)));
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

BothWays LayersOnStages::layers_on(std::int32_t device, const Profile& profile) const {
  if (placed_ == nullptr) return {&profile, scenario_.transformer.recomputed.get()};
  const ModelledLayers& there = placed_->distinct[at(placed_->of_device, device)];
  return {&there.profile, there.recomputed.get()};
}

void LayersOnStages::find_blocks() {
  const RecomputeRule& rule = scenario_.transformer.recompute_blocks;
  const Profile& plain = *scenario_.profile;
  const Profile& again = *scenario_.transformer.recomputed;
  const TransformerShape& shape = scenario_.transformer.setup->shape;
  const std::vector<LayerPlace> places = layer_places(shape);
  counted_.assign(plain.layers.size(), 1);
  for (std::size_t k = 0; k < plain.layers.size(); ++k) {
    // An output layer that all devices share is taken out of the profile: a layer that is the same stays as it is.
    const bool same = layer_time(again.layers[k]) == layer_time(plain.layers[k]) &&
                      again.layers[k].activation == plain.layers[k].activation;
    const bool block = places[k].kind == LayerPlace::Kind::kBlock;
    if (rule.some() ? !block : same) continue;
    blocks_.push_back({k, static_cast<int>(places[k].number)});
    counted_[k] =
        counted_share(rule, blocks_.back().number, static_cast<int>(shape.layers), static_cast<int>(again_.size()));
  }
}

std::vector<ModelBlock> LayersOnStages::blocks_in(std::size_t begin, std::size_t end) const {
  const auto from = [&](std::size_t layer) {
    return std::partition_point(blocks_.begin(), blocks_.end(),
                                [&](const ModelBlock& block) { return block.layer < layer; });
  };
  return {from(begin), from(end)};
}

void LayersOnStages::recompute(const std::vector<ModelBlock>& stage, int before, Profile& profile) const {
  const TransformerScenario& transformer = scenario_.transformer;
  recompute_blocks(transformer.recompute_blocks, stage, before, {&*scenario_.profile, transformer.recomputed.get()},
                   profile);
  if (!scenario_.weight_share_given) return;  // --w-share says what W needs
  for (const ModelBlock& block : stage) profile.layers[block.layer].weight_grad_held.reset();
}

LayersOnStages::Mixed LayersOnStages::mix(const std::vector<int>& partition, const Profile& profile) const {
  const RecomputeRule& rule = scenario_.transformer.recompute_blocks;
  Mixed mixed;
  if (rule.how == RecomputeRule::How::kChunks || scenario_.weight_share_given) {  // which changes layers
    mixed.own = std::make_unique<Profile>(profile);
    each_recomputing(partition, [&](const auto& stage, int before) { recompute(stage, before, *mixed.own); });
    mixed.layers = layers_of(*mixed.own);
    return mixed;
  }
  mixed.layers = layers_of(profile);
  each_recomputing(partition, [&](const auto& stage, int before) {
    const std::vector<bool> which = recomputing(rule, stage, before);
    for (std::size_t k = 0; k < stage.size(); ++k) {
      if (which[k]) mixed.layers[stage[k].layer] = &scenario_.transformer.recomputed->layers[stage[k].layer];
    }
  });
  return mixed;
}

void LayersOnStages::each_recomputing(const std::vector<int>& partition, const TakeStage& take) const {
  std::vector<int> before(to_index(schedule_.devices), 0);
  std::size_t begin = 0;
  for (std::size_t s = 0; s < partition.size(); ++s) {
    const std::size_t end = begin + to_index(partition[s]);
    const std::vector<ModelBlock> blocks = blocks_in(begin, end);
    int& seen = at(before, schedule_.placement.device_of(0, static_cast<int>(s)));
    if (again_[s]) take(blocks, seen);
    seen += static_cast<int>(blocks.size());
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
