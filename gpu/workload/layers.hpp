// The three layers of the workload. Each can be made on its own; TransformerModel makes one of each.
#pragma once

#include <cstdint>
#include <memory>

#include "gpu/workload/layer_buffers.hpp"
#include "gpu/workload/shard.hpp"
#include "gpu/workload/transformer_model.hpp"

namespace debubble {

// A WorkLayer whose buffers can be looked at. Their names:
//
//     embedding  tokens  word  position                                                        word_grad ...  y  dy
//     block      x  norm1 qkv.weight qkv.bias proj.weight ... norm2 up... down...   norm1_grad qkv.weight_grad  y  dy
//     dx head       x  targets  norm  weight  logits (their gradient after I)                norm_grad weight_grad loss
//     dx
class BufferedLayer : public WorkLayer {
 public:
  [[nodiscard]] virtual const LayerBuffers& buffers() const = 0;
  [[nodiscard]] LayerMemory memory() const override { return buffers().memory(); }
};

// Angles of the rotary positions, for all blocks of a model: [sequence, head_size / 2], fp32.
class RotaryTable {
 public:
  RotaryTable(WorkDevice& device, const Shard& shard, double base);  // empty when the shard has learned positions

  [[nodiscard]] DeviceAddress cosines() const { return cosines_; }
  [[nodiscard]] DeviceAddress sines() const { return sines_; }

 private:
  LayerBuffers buffers_;
  DeviceAddress cosines_ = 0;
  DeviceAddress sines_ = 0;
};

// Gradients of fp16 are scaled up, or they would vanish among its subnormal numbers; of the other types not.
[[nodiscard]] float loss_scale(DataType type);

// `seed` differs from layer to layer. The device, and the table, must outlive the layer; a lender (see BufferLender)
// only its making.
[[nodiscard]] std::unique_ptr<BufferedLayer> make_embedding(WorkDevice& device, const Shard& shard, std::int64_t seed,
                                                            BufferLender* lender = nullptr);
[[nodiscard]] std::unique_ptr<BufferedLayer> make_block(WorkDevice& device, const Shard& shard,
                                                        const RotaryTable& rotary, std::int64_t seed,
                                                        BufferLender* lender = nullptr);
[[nodiscard]] std::unique_ptr<BufferedLayer> make_head(WorkDevice& device, const Shard& shard, std::int64_t seed,
                                                       BufferLender* lender = nullptr);

}  // namespace debubble
