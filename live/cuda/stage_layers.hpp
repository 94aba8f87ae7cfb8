// StageLayers: which layers a stage has and how large their buffers are, found by making one layer of each kind on a
// device that only counts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "gpu/workload/layer_buffers.hpp"
#include "gpu/workload/shard.hpp"
#include "live/cuda/stage_memory.hpp"
#include "sim/core/at.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/transformer.hpp"

namespace debubble::live {

enum class LayerKind : std::uint8_t { kEmbedding, kBlock, kHead };

class StageLayers {
 public:
  // `partition`: layers per stage, embedding and head among them.
  StageLayers(const TransformerShape& shape, const Shard& shard, const std::vector<int>& partition);

  [[nodiscard]] int stages() const { return static_cast<int>(begins_.size()) - 1; }
  [[nodiscard]] int first(std::int32_t stage) const { return at(begins_, stage); }
  [[nodiscard]] int end(std::int32_t stage) const { return begins_[static_cast<std::size_t>(stage) + 1]; }
  [[nodiscard]] LayerKind kind(int layer) const;
  // Of one buffer of a layer, as an arena counts it; 0 where the layer has none of this name.
  [[nodiscard]] Bytes bytes(int layer, std::string_view name) const;

  [[nodiscard]] StageFootprint footprint(std::int32_t stage) const;
  // Sizes of one piece on the stage: activation, what is held for W, output, parameters, gradients, workspace.
  [[nodiscard]] StageCost memory(std::int32_t stage) const;
  [[nodiscard]] Bytes scratch() const;  // the most that a layer of any kind needs

  // Whether a layer's buffer comes from, or goes to, another stage: its input x, or the gradient of its output dy.
  [[nodiscard]] bool arrives(int layer, std::string_view name) const;

 private:
  [[nodiscard]] const std::vector<LayerBuffer>& buffers(int layer) const { return at(buffers_, kind(layer)); }
  [[nodiscard]] Bytes size(const LayerBuffer& buffer) const;

  DataType type_;
  std::vector<int> begins_;
  std::vector<std::vector<LayerBuffer>> buffers_;  // by kind
};

}  // namespace debubble::live
