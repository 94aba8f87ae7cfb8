#include "cost_models/transformer/profile_waves.hpp"

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "cost_models/transformer/kernel_time.hpp"
#include "cost_models/transformer/layer_ops.hpp"

namespace debubble {
namespace {

std::optional<NumberFormat> format_of_dtype(const std::string& dtype) {
  for (const NumberFormat format : {NumberFormat::kFp32, NumberFormat::kFp16, NumberFormat::kBf16}) {
    if (dtype == to_string(format)) return format;
  }
  return std::nullopt;
}

std::optional<LayerPlace> layer_place(const ProfileLayer& layer) {
  if (layer.kind == "embedding") return LayerPlace{LayerPlace::Kind::kEmbedding, 0, false};
  if (layer.kind == "transformer") return LayerPlace{LayerPlace::Kind::kBlock, 0, false};
  if (layer.kind == "head") return LayerPlace{LayerPlace::Kind::kHead, 0, false};
  return std::nullopt;
}

TrainingSetup setup_of(const ProfiledTransformer& transformer, NumberFormat format) {
  TrainingSetup setup;
  setup.shape.layers = 1;
  setup.shape.hidden = transformer.hidden;
  setup.shape.heads = transformer.heads;
  setup.shape.kv_heads = transformer.kv_heads;
  setup.shape.head_size = transformer.head_size;
  setup.shape.feed_forward = transformer.feed_forward;
  setup.shape.vocabulary = transformer.vocabulary;
  setup.shape.vocabulary_unit = 1;  // as it was measured
  setup.shape.gated = transformer.gated;
  setup.parallel.tensor = static_cast<int>(transformer.tensor_parallel);
  setup.compute = format;
  setup.weights = format;
  setup.flash_attention = transformer.flash_attention;
  return setup;
}

// Whether sizes and bytes of that setup's ops fit into 64 bits, with room for the bytes of a number and of its copies.
bool can_be_counted(const TrainingSetup& setup) {
  const TransformerShape& shape = setup.shape;
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const double tokens = real(setup.microbatch_size) * real(setup.sequence);
  const double heads = real(shape.heads + 2 * shape.kv_heads);
  const double width = real(shape.hidden + 2 * shape.feed_forward + shape.vocabulary) + heads * real(shape.head_size);
  constexpr double kMost = 1e16;
  return tokens * width < kMost && tokens * heads * real(setup.sequence) < kMost && real(shape.hidden) * width < kMost;
}

bool belongs(LayerOp::Phase op, CostPhase phase) {
  switch (phase) {
    case CostPhase::kForward:
      return op == LayerOp::Phase::kForward;
    case CostPhase::kInputGrad:
      return op == LayerOp::Phase::kInputGrad;
    case CostPhase::kWeightGrad:
      return op == LayerOp::Phase::kWeightGrad;
    case CostPhase::kBackward:
      return op != LayerOp::Phase::kForward;
  }
  return false;
}

// Layers of one kind are the same work.
class Counter {
 public:
  Counter(const Profile& profile, const ProfiledTransformer& transformer, NumberFormat format, const Hardware& hardware)
      : setup_(setup_of(transformer, format)) {
    for (const ProfileLayer& layer : profile.layers) places_.push_back(layer_place(layer));
    model_.hardware = hardware;
    model_.efficiency = usual_efficiency(hardware);
    model_.efficiency.per_kernel = 0;
  }

  double count(std::size_t layer, CostPhase phase, const RunSize& size) {
    const std::optional<LayerPlace>& place = places_.at(layer);
    if (!place || size.sequence < 1) return 0;
    const auto key = std::tuple{place->kind, phase, size.microbatch, size.sequence};
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    setup_.microbatch_size = size.microbatch;
    setup_.sequence = size.sequence;
    if (!can_be_counted(setup_)) return 0;
    double sum = 0;
    for (const LayerOp& op : layer_ops(setup_, *place)) {
      if (op.kind == LayerOp::Kind::kCollective || !belongs(op.phase, phase)) continue;
      sum += static_cast<double>(kernel_time(op, model_));
    }
    return known_.emplace(key, sum).first->second;
  }

 private:
  TrainingSetup setup_;
  KernelModel model_;
  std::vector<std::optional<LayerPlace>> places_;
  std::map<std::tuple<LayerPlace::Kind, CostPhase, std::int64_t, std::int64_t>, double> known_;
};

}  // namespace

LayerWaves profile_waves(const Profile& profile, const Hardware& hardware) {
  const std::optional<NumberFormat> format = format_of_dtype(profile.dtype);
  if (!profile.transformer || !format) return {};
  const auto counter = std::make_shared<Counter>(profile, *profile.transformer, *format, hardware);
  return
      [counter](std::size_t layer, CostPhase phase, const RunSize& size) { return counter->count(layer, phase, size); };
}

}  // namespace debubble
