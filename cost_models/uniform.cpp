#include "cost_models/uniform.hpp"

#include <cmath>
#include <cstddef>

namespace debubble {

StageCosts uniform_costs(const UniformTimes& times, int stages, int chunks) {
  StageCost stage;
  stage.forward = piece_of(times.forward, chunks);
  stage.backward = piece_of(times.backward.value_or(times.input_grad + times.weight_grad), chunks);
  stage.input_grad = piece_of(times.input_grad, chunks);
  stage.weight_grad = piece_of(times.weight_grad, chunks);
  stage.recompute = piece_of(times.recompute.value_or(times.forward), chunks);
  stage.copy = piece_of(times.copy, chunks);
  stage.activation = piece_of(times.activation, chunks);
  stage.weight_grad_held = std::llround(static_cast<double>(stage.activation) * times.weight_share);

  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(stages), stage);
  if (times.overlapped_pair) costs.overlapped_pair = piece_of(*times.overlapped_pair, chunks);
  return costs;
}

VocabularyCost uniform_vocabulary(const UniformTimes& times, int devices) {
  const Nanoseconds backward = times.backward.value_or(times.input_grad + times.weight_grad);
  const Nanoseconds half = piece_of(times.forward + backward, 2 * devices);
  VocabularyCost cost;
  cost.logits = times.logits.value_or(half);
  cost.gradient = times.gradient.value_or(half);
  return cost;
}

void set_recompute_shares(StageCosts& costs, std::optional<double> time, std::optional<double> keep) {
  for (StageCost& stage : costs.stages) {
    if (time) stage.recompute = std::llround(static_cast<double>(stage.forward) * *time);
    if (keep) stage.checkpoint = std::llround(static_cast<double>(stage.activation) * *keep);
  }
}

StageCosts shared_stage_costs(const UniformTimes& times, int stages, int devices) {
  StageCosts costs = uniform_costs(times, stages, 1);
  __extension__ using Wide = __int128;  // the longest duration times many devices
  const auto scale = [&](std::int64_t& value) {
    value = static_cast<std::int64_t>((static_cast<Wide>(value) * devices + stages / 2) / stages);
  };
  for (StageCost& cost : costs.stages) {
    for (std::int64_t* value : {&cost.forward, &cost.backward, &cost.input_grad, &cost.weight_grad, &cost.activation,
                                &cost.weight_grad_held, &cost.recompute, &cost.checkpoint, &cost.copy}) {
      scale(*value);
    }
  }
  if (costs.overlapped_pair) scale(*costs.overlapped_pair);
  return costs;
}

}  // namespace debubble
