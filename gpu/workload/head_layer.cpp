#include <algorithm>

#include "gpu/workload/layer_parts.hpp"
#include "gpu/workload/layers.hpp"

namespace debubble {

float loss_scale(DataType type) { return type == DataType::kFp16 ? 1024.0F : 1.0F; }

namespace {

// The final norm, the projection on the vocabulary, and the loss. The loss is averaged over the tokens. The gradient of
// the logits takes the logits' place.
class HeadLayer final : public BufferedLayer {
 public:
  HeadLayer(WorkDevice& device, const Shard& shard, std::int64_t seed, BufferLender* lender)
      : buffers_(device, shard.type, lender), ops_(device, shard) {
    LayerParts parts(buffers_, ops_, seed);
    const std::int64_t tokens = shard.tokens();
    const std::int64_t plane = tokens * shard.hidden;
    x_ = parts.random("x", Purpose::kKeptForW, plane);
    norm_ = parts.norm("norm");
    projection_.in = shard.hidden;
    projection_.out = shard.vocabulary;
    projection_.weight =
        parts.parameter("weight", shard.vocabulary * shard.hidden, 0.0F, 0.1F, &projection_.weight_grad);
    n_ = buffers_.add("n", Purpose::kKeptForW, plane);
    logits_ = buffers_.add("logits", Purpose::kKeptForW, tokens * shard.vocabulary);
    targets_ = buffers_.add("targets", Purpose::kKept, tokens, Element::kInt);
    const std::vector<std::int32_t> targets = random_tokens(tokens, shard.all_vocabulary, seed);
    device.upload(targets_, targets.data(), tokens * 4);
    log_sum_ = buffers_.add("log_sum", Purpose::kKept, tokens, Element::kFloat);
    loss_ = buffers_.add("loss", Purpose::kOutput, tokens, Element::kFloat);
    dn_ = buffers_.add("dn", Purpose::kHeld, plane);
    dx_ = buffers_.add("dx", Purpose::kInputGrad, plane);
    partials_ = buffers_.add("partials", Purpose::kScratch, ops_.norm_partial_floats(), Element::kFloat);
  }

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const char* kind() const override { return "head"; }
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
  void forward() {
    const Shard& shard = ops_.shard();
    ops_.normalise(norm_, x_, n_);
    ops_.multiply(projection_, n_, logits_);
    ops_.launch_rows("cross_entropy_forward", shard.tokens(), shard.vocabulary, logits_, targets_, loss_, log_sum_,
                     shard.tokens(), shard.vocabulary);
  }

  void input_grad() {
    const Shard& shard = ops_.shard();
    const float scale = loss_scale(shard.type) / static_cast<float>(shard.tokens());
    ops_.launch_rows("cross_entropy_backward", shard.tokens(), shard.vocabulary, logits_, targets_, log_sum_, logits_,
                     shard.tokens(), shard.vocabulary, scale);
    ops_.input_grad(projection_, logits_, dn_);
    ops_.normalise_back(norm_, dn_, x_, 0, dx_);
  }

  void weight_grad() {
    ops_.weight_grad(projection_, logits_, n_, partials_);
    ops_.norm_weight_grad(norm_, dn_, x_, partials_);
  }

  std::string name_ = "head";
  LayerBuffers buffers_;
  LayerOps ops_;
  LinearBuffers projection_;
  Norm norm_;
  DeviceAddress x_ = 0;
  DeviceAddress n_ = 0;
  DeviceAddress logits_ = 0;
  DeviceAddress targets_ = 0;
  DeviceAddress log_sum_ = 0;
  DeviceAddress loss_ = 0;
  DeviceAddress dn_ = 0;
  DeviceAddress dx_ = 0;
  DeviceAddress partials_ = 0;
};

}  // namespace

std::unique_ptr<BufferedLayer> make_head(WorkDevice& device, const Shard& shard, std::int64_t seed,
                                         BufferLender* lender) {
  return std::make_unique<HeadLayer>(device, shard, seed, lender);
}

}  // namespace debubble
