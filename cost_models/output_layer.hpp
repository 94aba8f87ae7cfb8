// The output layer of a profile cut along the vocabulary over all devices: it leaves the last stage, and each device
// gets a shard.
#pragma once

#include <vector>

#include "cost_models/profiled.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/profile.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {

struct OutputShard {
  VocabularyCost cost;
  Bytes weights = 0;  // per device, like the two below
  Bytes gradients = 0;
  Bytes optimizer = 0;
};

// Takes the last layer, of kind "head", out of the profile, and gives one of `devices` equal shards of it. With one
// barrier S must have the gradient of its input, so it takes forward and input gradient; with two it takes the forward
// alone. T takes the rest. Throws InputError (M007) when the last layer is of another kind or the only one.
[[nodiscard]] OutputShard take_output_layer(Profile& profile, int devices, int barriers, const TrainingState& state,
                                            std::vector<Assumption>& assumptions);

}  // namespace debubble
