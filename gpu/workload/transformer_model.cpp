#include "gpu/workload/transformer_model.hpp"

#include "gpu/workload/layers.hpp"

namespace debubble {

struct TransformerModel::State {
  State(WorkDevice& device, const Shard& shard, double rotary_base)
      : rotary(device, shard, rotary_base),
        embedding(make_embedding(device, shard, 1000)),
        block(make_block(device, shard, rotary, 2000)),
        head(make_head(device, shard, 3000)) {
    device.synchronise();  // the parameters are there when the clock starts
  }

  RotaryTable rotary;
  std::unique_ptr<BufferedLayer> embedding;
  std::unique_ptr<BufferedLayer> block;
  std::unique_ptr<BufferedLayer> head;
};

TransformerModel::TransformerModel(WorkDevice& device, const TransformerShape& shape, const WorkloadSize& size)
    : state_(std::make_unique<State>(device, shard_of(shape, size), shape.rotary_base)) {}

TransformerModel::~TransformerModel() = default;

WorkLayer& TransformerModel::embedding() { return *state_->embedding; }
WorkLayer& TransformerModel::block() { return *state_->block; }
WorkLayer& TransformerModel::head() { return *state_->head; }

}  // namespace debubble
