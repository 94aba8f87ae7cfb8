#include "gpu/workload/layer_parts.hpp"
#include "gpu/workload/layers.hpp"

namespace debubble {
namespace {

class EmbeddingLayer final : public BufferedLayer {
 public:
  EmbeddingLayer(WorkDevice& device, const Shard& shard, std::int64_t seed, BufferLender* lender)
      : buffers_(device, shard.type, lender), ops_(device, shard) {
    LayerParts parts(buffers_, ops_, seed);
    tokens_ = buffers_.add("tokens", Purpose::kKeptForW, shard.tokens(), Element::kInt);
    const std::vector<std::int32_t> tokens = random_tokens(shard.tokens(), shard.all_vocabulary, seed);
    device.upload(tokens_, tokens.data(), shard.tokens() * 4);
    word_ = parts.parameter("word", shard.vocabulary * shard.hidden, 0.0F, 1.0F, &word_grad_);
    if (shard.positions > 0) {
      position_ = parts.parameter("position", shard.positions * shard.hidden, 0.0F, 0.1F, &position_grad_);
    }
    y_ = buffers_.add("y", Purpose::kOutput, shard.tokens() * shard.hidden);
    dy_ = parts.random("dy", Purpose::kHeld, shard.tokens() * shard.hidden);
  }

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const char* kind() const override { return "embedding"; }
  [[nodiscard]] const LayerBuffers& buffers() const override { return buffers_; }

  void run(Pass pass) override {
    switch (pass) {
      case Pass::kForward:
        return forward();
      case Pass::kInputGrad:
        return;  // tokens have no gradient
      case Pass::kWeightGrad:
        return weight_grad();
    }
  }

 private:
  void forward() {
    const Shard& shard = ops_.shard();
    ops_.launch_rows("embedding_forward", shard.tokens(), shard.hidden, tokens_, word_, position_, y_, shard.tokens(),
                     shard.samples, shard.hidden, shard.vocabulary);
  }

  void weight_grad() {
    const Shard& shard = ops_.shard();
    ops_.launch_rows("embedding_weight_grad", shard.tokens(), shard.hidden, tokens_, dy_, word_grad_, shard.tokens(),
                     shard.hidden, shard.vocabulary);
    if (shard.positions == 0) return;
    ops_.launch_rows("position_weight_grad", shard.sequence, shard.hidden, dy_, position_grad_, shard.sequence,
                     shard.samples, shard.hidden);
  }

  std::string name_ = "embedding";
  LayerBuffers buffers_;
  LayerOps ops_;
  DeviceAddress tokens_ = 0;
  DeviceAddress word_ = 0;
  DeviceAddress word_grad_ = 0;
  DeviceAddress position_ = 0;
  DeviceAddress position_grad_ = 0;
  DeviceAddress y_ = 0;
  DeviceAddress dy_ = 0;
};

}  // namespace

std::unique_ptr<BufferedLayer> make_embedding(WorkDevice& device, const Shard& shard, std::int64_t seed,
                                              BufferLender* lender) {
  return std::make_unique<EmbeddingLayer>(device, shard, seed, lender);
}

}  // namespace debubble
