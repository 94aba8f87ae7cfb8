// Attention: the part of a block between the query/key/value projection and the output projection, unfused. Scores
// become probabilities in place and are kept for backward, as in Megatron-LM without flash attention; the scores of
// keys that the causal mask hides are computed too.
#pragma once

#include "gpu/workload/layer_ops.hpp"
#include "gpu/workload/layers.hpp"

namespace debubble {

class Attention {
 public:
  Attention(LayerOps& ops, const RotaryTable& rotary) : ops_(ops), rotary_(rotary) {}

  // qkv (turned by the rotary positions, in place) -> probabilities, context.
  void forward(DeviceAddress qkv, DeviceAddress probabilities, DeviceAddress context);
  // Fills dqkv; `dscores` is as large as the probabilities and only used within.
  void backward(DeviceAddress qkv, DeviceAddress probabilities, DeviceAddress dcontext, DeviceAddress dscores,
                DeviceAddress dqkv);

 private:
  // One of the head slots of every group, a batch over groups and samples; slots: the queries, then key, then value.
  [[nodiscard]] MatrixView slot(DeviceAddress qkv, std::int64_t number) const;
  [[nodiscard]] MatrixView context_of(DeviceAddress context, std::int64_t query) const;
  [[nodiscard]] MatrixView scores_of(DeviceAddress scores, std::int64_t query) const;
  void matmul(const MatrixView& a, bool transpose_a, const MatrixView& b, bool transpose_b, const MatrixView& c,
              bool add);
  void turn(DeviceAddress qkv, float direction);
  [[nodiscard]] float scale() const;

  LayerOps& ops_;
  const RotaryTable& rotary_;
};

}  // namespace debubble
