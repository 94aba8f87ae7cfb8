#include "gpu/workload/attention.hpp"

#include <cmath>

namespace debubble {

MatrixView Attention::slot(DeviceAddress qkv, std::int64_t number) const {
  const Shard& shard = ops_.shard();
  const std::int64_t offset = number * shard.head_size * bytes_of(shard.type);
  return {qkv + static_cast<DeviceAddress>(offset), shard.sequence, shard.head_size, shard.samples * shard.qkv_width(),
          (shard.queries + 2) * shard.head_size};
}

MatrixView Attention::context_of(DeviceAddress context, std::int64_t query) const {
  const Shard& shard = ops_.shard();
  const std::int64_t offset = query * shard.head_size * bytes_of(shard.type);
  return {context + static_cast<DeviceAddress>(offset), shard.sequence, shard.head_size,
          shard.samples * shard.context_width(), shard.queries * shard.head_size};
}

MatrixView Attention::scores_of(DeviceAddress scores, std::int64_t query) const {
  const Shard& shard = ops_.shard();
  const std::int64_t matrix = shard.sequence * shard.score_leading();
  const std::int64_t offset = query * shard.samples * shard.groups * matrix * bytes_of(shard.type);
  return {scores + static_cast<DeviceAddress>(offset), shard.sequence, shard.sequence, shard.score_leading(), matrix};
}

void Attention::matmul(const MatrixView& a, bool transpose_a, const MatrixView& b, bool transpose_b,
                       const MatrixView& c, bool add) {
  Gemm step;
  step.a = a;
  step.b = b;
  step.c = c;
  step.transpose_a = transpose_a;
  step.transpose_b = transpose_b;
  step.beta = add ? 1.0F : 0.0F;
  step.batch = ops_.shard().samples * ops_.shard().groups;
  step.type = ops_.shard().type;
  ops_.gemm(step);
}

void Attention::turn(DeviceAddress qkv, float direction) {
  const Shard& shard = ops_.shard();
  if (rotary_.cosines() == 0) return;
  const std::int64_t rotated = shard.queries + 1;
  ops_.launch_rows("rotary", shard.tokens(), shard.groups * rotated * shard.head_size / 2, qkv, rotary_.cosines(),
                   rotary_.sines(), shard.tokens(), shard.samples, shard.groups, shard.queries + 2, rotated,
                   shard.head_size, direction);
}

float Attention::scale() const { return 1.0F / std::sqrt(static_cast<float>(ops_.shard().head_size)); }

void Attention::forward(DeviceAddress qkv, DeviceAddress probabilities, DeviceAddress context) {
  const Shard& shard = ops_.shard();
  turn(qkv, 1.0F);
  const MatrixView key = slot(qkv, shard.queries);
  const MatrixView value = slot(qkv, shard.queries + 1);
  for (std::int64_t query = 0; query < shard.queries; ++query) {
    matmul(slot(qkv, query), false, key, true, scores_of(probabilities, query), false);
  }
  ops_.launch_rows("causal_softmax_forward", shard.score_rows(), shard.sequence, probabilities, probabilities,
                   shard.score_rows(), shard.sequence, shard.score_leading(), scale());
  for (std::int64_t query = 0; query < shard.queries; ++query) {
    matmul(scores_of(probabilities, query), false, value, false, context_of(context, query), false);
  }
}

void Attention::backward(DeviceAddress qkv, DeviceAddress probabilities, DeviceAddress dcontext, DeviceAddress dscores,
                         DeviceAddress dqkv) {
  const Shard& shard = ops_.shard();
  const std::int64_t key = shard.queries;
  const std::int64_t value = shard.queries + 1;
  for (std::int64_t query = 0; query < shard.queries; ++query) {
    const MatrixView grad = context_of(dcontext, query);
    matmul(grad, false, slot(qkv, value), true, scores_of(dscores, query), false);
    matmul(scores_of(probabilities, query), true, grad, false, slot(dqkv, value), query > 0);
  }
  ops_.launch_rows("causal_softmax_backward", shard.score_rows(), shard.sequence, probabilities, dscores, dscores,
                   shard.score_rows(), shard.sequence, shard.score_leading(), scale());
  for (std::int64_t query = 0; query < shard.queries; ++query) {
    const MatrixView grad = scores_of(dscores, query);
    matmul(grad, false, slot(qkv, key), false, slot(dqkv, query), false);
    matmul(grad, true, slot(qkv, query), false, slot(dqkv, key), query > 0);
  }
  turn(dqkv, -1.0F);
}

}  // namespace debubble
