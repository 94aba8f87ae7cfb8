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
  stage.activation = piece_of(kMebibyte, chunks);
  stage.weight_grad_held = std::llround(static_cast<double>(stage.activation) * times.weight_share);

  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(stages), stage);
  if (times.overlapped_pair) costs.overlapped_pair = piece_of(*times.overlapped_pair, chunks);
  return costs;
}

}  // namespace debubble
