// --partition on the stages of a schedule: which layers lie where, and how long they take there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cost_models/partition/partition.hpp"
#include "cost_models/profiled.hpp"
#include "cost_models/recompute_rule.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

struct PlacedLayers;

// With --partition auto each layer takes what it takes where it would lie: as often as long as --slow says of that
// device and that stage, with the collectives of its ranks over that device's own links; and its stage's transfers as
// far as partition.transfers_counted says. Stages, or blocks of them, may recompute while others do not.
class LayersOnStages {
 public:
  LayersOnStages(const Scenario& scenario, const Schedule& schedule);

  // Of `profile`: the scenario's layers, perhaps without an output layer that all devices share. Throws what cut_layers
  // does; with --partition memory, whose stages have room on every device for what the order holds besides what
  // partition.set_aside sets aside, InputError C004 where nothing says how much memory there is, C087 where activations
  // leave the devices meanwhile, S063 for too many layers.
  [[nodiscard]] LayerCut cut(const Profile& profile, const TrainingState& state) const;
  // "8,8,7 (auto)"
  [[nodiscard]] std::string text(const LayerCut& cut) const;

  // Whether some blocks recompute and others do not; then `mix` has the layers as they are where the cut puts them.
  // They are the profile's, the scenario's or its own.
  [[nodiscard]] bool mixed() const { return !again_.empty(); }
  struct Mixed {
    LayersInPlace layers;
    std::unique_ptr<Profile> own{};
  };
  [[nodiscard]] Mixed mix(const std::vector<int>& partition, const Profile& profile) const;

 private:
  [[nodiscard]] bool alike() const {
    return of_device_.empty() && of_stage_.empty() && placed_ == nullptr && !topology_;
  }
  [[nodiscard]] LayerCut balanced(const Profile& profile) const;
  [[nodiscard]] LayerCut for_memory(const Profile& profile, const TrainingState& state) const;
  [[nodiscard]] std::vector<Nanoseconds> times_on(int stage, const Profile& profile) const;
  [[nodiscard]] Nanoseconds boundary(const Profile& profile, int stage, int end) const;
  [[nodiscard]] BothWays layers_on(std::int32_t device, const Profile& profile) const;
  void find_blocks();
  [[nodiscard]] std::vector<ModelBlock> blocks_in(std::size_t begin, std::size_t end) const;
  void recompute(const std::vector<ModelBlock>& stage, int before, Profile& profile) const;
  // What recomputes of a stage of these layers, after so many of its device's blocks, takes its place.
  using TakeStage = std::function<void(const std::vector<ModelBlock>& stage, int before)>;
  void each_recomputing(const std::vector<int>& partition, const TakeStage& take) const;

  const Scenario& scenario_;
  const Schedule& schedule_;
  std::vector<double> of_device_;  // factors; empty: all 1
  std::vector<double> of_stage_;
  std::vector<bool> again_;         // stages that recompute, where some blocks do not
  std::vector<ModelBlock> blocks_;  // that may: all layers that are other then, where no rule tells blocks apart
  std::vector<double> counted_;     // by layer: share of its recomputation that a balance counts
  std::shared_ptr<const PlacedLayers> placed_;
  std::optional<Topology> topology_;  // where transfers count
};

// InputError C004 of --partition memory.
[[noreturn]] void refuse_unknown_room();

}  // namespace debubble
