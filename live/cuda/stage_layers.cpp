#include "live/cuda/stage_layers.hpp"

#include <algorithm>

#include "gpu/counting_device.hpp"
#include "gpu/workload/layers.hpp"
#include "sim/core/at.hpp"

namespace debubble::live {

StageLayers::StageLayers(const TransformerShape& shape, const Shard& shard, const std::vector<int>& partition)
    : type_(shard.type), begins_{0} {
  for (const int layers : partition) begins_.push_back(begins_.back() + layers);
  CountingDevice device;
  const RotaryTable rotary(device, shard, shape.rotary_base);
  const auto list = [](const BufferedLayer& layer) {
    return std::vector<LayerBuffer>(layer.buffers().all().begin(), layer.buffers().all().end());
  };
  buffers_.push_back(list(*make_embedding(device, shard, 0)));
  buffers_.push_back(list(*make_block(device, shard, rotary, 0)));
  buffers_.push_back(list(*make_head(device, shard, 0)));
}

LayerKind StageLayers::kind(int layer) const {
  if (layer == 0) return LayerKind::kEmbedding;
  return layer + 1 == begins_.back() ? LayerKind::kHead : LayerKind::kBlock;
}

Bytes StageLayers::size(const LayerBuffer& buffer) const {
  return buffer.elements * (buffer.element == Element::kReal ? bytes_of(type_) : 4);
}

Bytes StageLayers::bytes(int layer, std::string_view name) const {
  for (const LayerBuffer& buffer : buffers(layer)) {
    if (buffer.name == name) return Arena::rounded(size(buffer));
  }
  return 0;
}

bool StageLayers::arrives(int layer, std::string_view name) const {
  if (name == "x") return layer > 0 && std::find(begins_.begin(), begins_.end(), layer) != begins_.end();
  return name == "dy" && layer + 1 < begins_.back() &&
         std::find(begins_.begin(), begins_.end(), layer + 1) != begins_.end();
}

StageFootprint StageLayers::footprint(std::int32_t stage) const {
  StageFootprint sum;
  for (int layer = first(stage); layer < end(stage); ++layer) {
    for (const LayerBuffer& buffer : buffers(layer)) {
      if (buffer.element == Element::kInt) continue;  // tokens and targets: there before the run, and after it
      const Bytes bytes = Arena::rounded(size(buffer));
      const Bytes placed = arrives(layer, buffer.name) ? 0 : bytes;
      if (buffer.purpose == Purpose::kKept) sum.regions[0] += placed;
      if (buffer.purpose == Purpose::kKeptForW) sum.regions[1] += placed;
      if (buffer.purpose == Purpose::kHeld) sum.regions[2] += placed;
      if (buffer.purpose == Purpose::kKept || buffer.purpose == Purpose::kKeptForW) sum.activation += bytes;
      if (buffer.purpose == Purpose::kKeptForW || buffer.purpose == Purpose::kHeld) sum.weight_grad_held += bytes;
    }
  }
  return sum;
}

StageCost StageLayers::memory(std::int32_t stage) const {
  const StageFootprint footprint = this->footprint(stage);
  StageCost cost;
  cost.activation = footprint.activation;
  cost.weight_grad_held = footprint.weight_grad_held;
  cost.output = bytes(end(stage) - 1, "y");
  cost.workspace = scratch() + at(footprint.regions, Region::kHeld);  // I fills what W reads
  for (int layer = first(stage); layer < end(stage); ++layer) {
    for (const LayerBuffer& buffer : buffers(layer)) {
      if (buffer.purpose == Purpose::kParameter) cost.weights += size(buffer);
      if (buffer.purpose == Purpose::kGradient) cost.gradients += size(buffer);
    }
  }
  return cost;
}

Bytes StageLayers::scratch() const {
  Bytes most = 0;
  for (const std::vector<LayerBuffer>& kind : buffers_) {
    for (const LayerBuffer& buffer : kind) {
      if (buffer.purpose == Purpose::kScratch) most = std::max(most, Arena::rounded(size(buffer)));
    }
  }
  return most;
}

}  // namespace debubble::live
