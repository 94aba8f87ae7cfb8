// Profiled costs: a measured or published Profile, cut into stages.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/core/assumption.hpp"
#include "sim/core/profile.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {

// How much state the weights need in addition to themselves, in bytes per byte of weights.
struct TrainingState {
  double gradients_per_weight = 1.0;
  double optimizer_per_weight = 2.0;
};

// Costs of `partition.size()` stages, stage s made of the next partition[s] layers. Times are sums of medians.
// A layer without split times gives input_grad = weight_grad = backward / 2; without `weight_grad_held` it keeps
// weight_share of its activation until W, as `share_source` says. Each such default is named in `assumptions`.
// Recomputing a stage takes as long as its forward, and keeps its input: the output of the stage before; of stage 0,
// whose input is not known, as much as its own output. What modelled layers say themselves (gradients, optimizer state,
// checkpoint, buffers) goes before these rules.
[[nodiscard]] StageCosts profiled_costs(const Profile& profile, const std::vector<int>& partition,
                                        const TrainingState& state, double weight_share,
                                        std::vector<Assumption>& assumptions, Source share_source = Source::kDefault);

// The same with other layers in the place of some of the profile's: all of them, in model order.
using LayersInPlace = std::vector<const ProfileLayer*>;
[[nodiscard]] LayersInPlace layers_of(const Profile& profile);
[[nodiscard]] StageCosts profiled_costs(const Profile& profile, const LayersInPlace& layers,
                                        const std::vector<int>& partition, const TrainingState& state,
                                        double weight_share, std::vector<Assumption>& assumptions, Source share_source);

// What stages would cost that begin with layer `begin` and end after 1, 2, ... layers, as profiled_costs has them. The
// layers are checked there.
[[nodiscard]] std::vector<StageCost> stage_costs_from(const Profile& profile, std::size_t begin,
                                                      const TrainingState& state, double weight_share);

}  // namespace debubble
