#include <algorithm>
#include <cmath>

#include "gpu/workload/layer_ops.hpp"
#include "gpu/workload/layer_parts.hpp"
#include "gpu/workload/layers.hpp"

namespace debubble {
namespace {

// The part of a block between the query/key/value projection and the output projection, unfused. Scores become
// probabilities in place and are kept for backward, as in Megatron-LM without flash attention; the scores of keys that
// the causal mask hides are computed too.
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

//     x -> norm1 -> qkv -> attention -> proj -> + x = x2 -> norm2 -> up -> activation -> down -> + x2 = y
class BlockLayer final : public BufferedLayer {
 public:
  BlockLayer(WorkDevice& device, const Shard& shard, const RotaryTable& rotary, std::int64_t seed, BufferLender* lender)
      : buffers_(device, shard.type, lender), ops_(device, shard), attention_(ops_, rotary) {
    make_parameters(seed);
    make_activations();
    make_gradients(seed + 100);
    scratch_ = buffers_.add("scratch", Purpose::kScratch, scratch_bytes() / 4, Element::kFloat);
  }

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const char* kind() const override { return "transformer"; }
  [[nodiscard]] const LayerBuffers& buffers() const override { return buffers_; }

  void run(Pass pass) override {
    switch (pass) {
      case Pass::kForward:
        return forward();
      case Pass::kInputGrad:
        return input_grad();
      case Pass::kWeightGrad:
        return weight_grad();
    }
  }

 private:
  void make_parameters(std::int64_t seed) {
    const Shard& shard = ops_.shard();
    LayerParts parts(buffers_, ops_, seed);
    norm1_ = parts.norm("norm1");
    qkv_ = parts.linear("qkv", shard.hidden, shard.qkv_width(), shard.qkv_biases);
    proj_ = parts.linear("proj", shard.context_width(), shard.hidden, shard.biases);
    norm2_ = parts.norm("norm2");
    up_ = parts.linear("up", shard.hidden, shard.mlp_width(), shard.biases);
    down_ = parts.linear("down", shard.feed_forward, shard.hidden, shard.biases);
    x_ = parts.random("x", Purpose::kKeptForW, shard.tokens() * shard.hidden);
  }

  void make_activations() {
    const Shard& shard = ops_.shard();
    const std::int64_t tokens = shard.tokens();
    n1_ = buffers_.add("n1", Purpose::kKeptForW, tokens * shard.hidden);
    qkv_rows_ = buffers_.add("qkv", Purpose::kKept, tokens * shard.qkv_width());
    probabilities_ = buffers_.add("probabilities", Purpose::kKept, shard.score_rows() * shard.score_leading());
    context_ = buffers_.add("context", Purpose::kKeptForW, tokens * shard.context_width());
    x2_ = buffers_.add("x2", Purpose::kKeptForW, tokens * shard.hidden);
    n2_ = buffers_.add("n2", Purpose::kKeptForW, tokens * shard.hidden);
    up_rows_ = buffers_.add("up", Purpose::kKept, tokens * shard.mlp_width());
    active_ = buffers_.add("active", Purpose::kKeptForW, tokens * shard.feed_forward);
    y_ = buffers_.add("y", Purpose::kOutput, tokens * shard.hidden);
  }

  void make_gradients(std::int64_t seed) {
    const Shard& shard = ops_.shard();
    const std::int64_t tokens = shard.tokens();
    LayerParts parts(buffers_, ops_, seed);
    dy_ = parts.random("dy", Purpose::kHeld, tokens * shard.hidden);
    dup_ = buffers_.add("dup", Purpose::kHeld, tokens * shard.mlp_width());
    dn2_ = buffers_.add("dn2", Purpose::kHeld, tokens * shard.hidden);
    dx2_ = buffers_.add("dx2", Purpose::kHeld, tokens * shard.hidden);
    dqkv_ = buffers_.add("dqkv", Purpose::kHeld, tokens * shard.qkv_width());
    dn1_ = buffers_.add("dn1", Purpose::kHeld, tokens * shard.hidden);
    dx_ = buffers_.add("dx", Purpose::kInputGrad, tokens * shard.hidden);
  }

  // The worst moment of all: the output of a projection before the residual is added, the gradient of the activated
  // values, the gradients of context and scores together, or the partial sums of a weight gradient.
  [[nodiscard]] Bytes scratch_bytes() const {
    const Shard& shard = ops_.shard();
    const std::int64_t attention = shard.tokens() * shard.context_width() + shard.score_rows() * shard.score_leading();
    const std::int64_t elements =
        std::max({shard.tokens() * shard.hidden, shard.tokens() * shard.feed_forward, attention});
    std::int64_t floats = ops_.norm_partial_floats();
    if (qkv_.bias != 0) floats = std::max(floats, ops_.partial_floats(qkv_.out));
    if (up_.bias != 0) floats = std::max({floats, ops_.partial_floats(up_.out), ops_.partial_floats(shard.hidden)});
    return std::max(elements * bytes_of(shard.type), floats * 4);
  }

  void forward() {
    ops_.normalise(norm1_, x_, n1_);
    ops_.multiply(qkv_, n1_, qkv_rows_);
    ops_.add_bias(qkv_rows_, qkv_.bias, qkv_.out);
    attention_.forward(qkv_rows_, probabilities_, context_);
    ops_.multiply(proj_, context_, scratch_);
    ops_.add_residual(scratch_, proj_.bias, x_, x2_);
    ops_.normalise(norm2_, x2_, n2_);
    ops_.multiply(up_, n2_, up_rows_);
    ops_.activate(up_rows_, up_.bias, active_);
    ops_.multiply(down_, active_, scratch_);
    ops_.add_residual(scratch_, down_.bias, x2_, y_);
  }

  void input_grad() {
    const Shard& shard = ops_.shard();
    ops_.input_grad(down_, dy_, scratch_);
    ops_.activate_back(up_rows_, up_.bias, scratch_, dup_);
    ops_.input_grad(up_, dup_, dn2_);
    ops_.normalise_back(norm2_, dn2_, x2_, dy_, dx2_);
    const DeviceAddress dcontext = scratch_;
    const DeviceAddress dscores =
        scratch_ + static_cast<DeviceAddress>(shard.tokens() * shard.context_width() * bytes_of(shard.type));
    ops_.input_grad(proj_, dx2_, dcontext);
    attention_.backward(qkv_rows_, probabilities_, dcontext, dscores, dqkv_);
    ops_.input_grad(qkv_, dqkv_, dn1_);
    ops_.normalise_back(norm1_, dn1_, x_, dx2_, dx_);
  }

  void weight_grad() {
    ops_.weight_grad(down_, dy_, active_, scratch_);
    ops_.weight_grad(up_, dup_, n2_, scratch_);
    ops_.norm_weight_grad(norm2_, dn2_, x2_, scratch_);
    ops_.weight_grad(proj_, dx2_, context_, scratch_);
    ops_.weight_grad(qkv_, dqkv_, n1_, scratch_);
    ops_.norm_weight_grad(norm1_, dn1_, x_, scratch_);
  }

  std::string name_ = "block";
  LayerBuffers buffers_;
  LayerOps ops_;
  Attention attention_;
  Norm norm1_, norm2_;
  LinearBuffers qkv_, proj_, up_, down_;
  DeviceAddress x_ = 0, n1_ = 0, qkv_rows_ = 0, probabilities_ = 0, context_ = 0, x2_ = 0, n2_ = 0;
  DeviceAddress up_rows_ = 0, active_ = 0, y_ = 0;
  DeviceAddress dy_ = 0, dup_ = 0, dn2_ = 0, dx2_ = 0, dqkv_ = 0, dn1_ = 0, dx_ = 0;
  DeviceAddress scratch_ = 0;
};

}  // namespace

std::unique_ptr<BufferedLayer> make_block(WorkDevice& device, const Shard& shard, const RotaryTable& rotary,
                                          std::int64_t seed, BufferLender* lender) {
  return std::make_unique<BlockLayer>(device, shard, rotary, seed, lender);
}

}  // namespace debubble
