// FLOPs as model FLOPs utilisation counts them: all pairs of tokens, masked or not, and no recomputation (Chowdhery et
// al., PaLM, JMLR 2023, appendix B; Korthikanti et al., MLSys 2023, section 6.3).
#include <algorithm>

#include "cost_models/transformer/layer_ops.hpp"

namespace debubble {
namespace {

// Multiply-adds per token of a block's attention: weights, and pairs with all tokens of the sample.
double attention_work(const TransformerShape& shape, double sequence) {
  const auto hidden = static_cast<double>(shape.hidden);
  const auto heads = static_cast<double>(shape.heads);
  const auto size = static_cast<double>(shape.head_size);
  if (shape.window > 0) sequence = std::min(sequence, static_cast<double>(shape.window));
  if (shape.kv_rank == 0) {
    const double width = heads * size;
    const double kv_width = static_cast<double>(shape.kv_heads) * size;
    return hidden * (2 * width + 2 * kv_width) + 2 * sequence * width;
  }
  const auto rank = static_cast<double>(shape.kv_rank);
  const auto rope = static_cast<double>(shape.rope_size);
  const auto value = static_cast<double>(shape.value_size);
  const auto query_rank = static_cast<double>(shape.query_rank);
  const double query_in = shape.query_rank > 0 ? query_rank : hidden;
  const double queries = (shape.query_rank > 0 ? hidden * query_rank : 0) + query_in * heads * (size + rope);
  const double keys = hidden * (rank + rope) + rank * heads * (size + value);
  return queries + keys + heads * value * hidden + sequence * heads * (size + rope + value);
}

double mlp_work(const TransformerShape& shape, bool moe) {
  const auto hidden = static_cast<double>(shape.hidden);
  const double products = shape.gated ? 3 : 2;
  if (!moe) return products * hidden * static_cast<double>(shape.feed_forward);
  const double routed = static_cast<double>(shape.experts_per_token) * static_cast<double>(shape.expert_feed_forward);
  return products * hidden * (routed + static_cast<double>(shape.shared_feed_forward)) +
         hidden * static_cast<double>(shape.experts);
}

double layer_work(const TransformerShape& shape, const LayerPlace& layer, double sequence) {
  const auto hidden = static_cast<double>(shape.hidden);
  const double outputs =
      hidden * static_cast<double>(shape.vocabulary) * static_cast<double>(output_layers(shape, layer));
  const auto block = [&] {
    return (has_attention(shape) ? attention_work(shape, sequence) : 0) +
           (has_mlp(shape) ? mlp_work(shape, layer.moe) : 0);
  };
  switch (layer.kind) {
    case LayerPlace::Kind::kEmbedding:
      return 0;  // a lookup
    case LayerPlace::Kind::kBlock:
      return block();
    case LayerPlace::Kind::kHead:
      return outputs;
    case LayerPlace::Kind::kPredictor:
      return 2 * hidden * hidden + block() + outputs;
  }
  return 0;
}

}  // namespace

double model_flops(const TrainingSetup& setup, const LayerPlace& layer) {
  constexpr double kMultiplyAdd = 2;
  constexpr double kForwardAndBackward = 3;
  const auto sequence = static_cast<double>(setup.sequence);
  const LayerSetup own(setup, layer);
  return kMultiplyAdd * kForwardAndBackward * sequence * layer_work((*own).shape, layer, sequence);
}

}  // namespace debubble
