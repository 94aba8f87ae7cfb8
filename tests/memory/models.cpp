#include "tests/memory/models.hpp"

#include <algorithm>

#include "cost_models/profiled.hpp"
#include "cost_models/transformer/hardware.hpp"
#include "cost_models/transformer/modelled_profile.hpp"

namespace debubble::testing {

TrainingSetup gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t sequence,
                  std::int64_t microbatch_size) {
  TrainingSetup setup;
  TransformerShape& shape = setup.shape;
  shape.name = "gpt";
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = shape.kv_heads = heads;
  shape.head_size = hidden / heads;
  shape.feed_forward = 4 * hidden;
  shape.vocabulary = 51200;
  shape.positions = sequence;
  setup.sequence = sequence;
  setup.microbatch_size = microbatch_size;
  setup.flash_attention = false;
  setup.dropout = true;
  return setup;
}

TrainingSetup llama(std::int64_t layers, std::int64_t hidden, std::int64_t feed_forward, std::int64_t heads,
                    std::int64_t kv_heads, std::int64_t sequence) {
  TrainingSetup setup;
  TransformerShape& shape = setup.shape;
  shape.name = "llama";
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.kv_heads = kv_heads;
  shape.head_size = 128;
  shape.feed_forward = feed_forward;
  shape.vocabulary = 128256;
  shape.norm = NormKind::kRmsNorm;
  shape.activation = ActivationKind::kSilu;
  shape.gated = true;
  shape.biases = false;
  shape.tied_embedding = false;
  setup.sequence = sequence;
  return setup;
}

TrainingSetup deepseek(std::int64_t layers, std::int64_t hidden, std::int64_t feed_forward, const Experts& experts,
                       std::int64_t vocabulary, std::int64_t sequence) {
  TrainingSetup setup = llama(layers, hidden, feed_forward, 128, 128, sequence);
  TransformerShape& shape = setup.shape;
  shape.name = "deepseek";
  shape.vocabulary = vocabulary;
  shape.experts = experts.number;
  shape.experts_per_token = experts.per_token;
  shape.shared_experts = 1;
  shape.expert_feed_forward = experts.width;
  shape.shared_feed_forward = experts.shared_width;
  shape.dense_layers = 1;
  shape.query_rank = 1536;
  shape.kv_rank = 512;
  shape.rope_size = 64;
  shape.value_size = 128;
  return setup;
}

Profile profile_of(const TrainingSetup& setup) {
  ModelRequest request;
  request.setup = setup;
  request.kernels.hardware = *find_hardware("h100");
  return modelled_profile(request);
}

Profile blocks_of(const TrainingSetup& setup) {
  Profile profile = profile_of(setup);
  std::erase_if(profile.layers, [](const ProfileLayer& layer) { return !layer.name.starts_with("block"); });
  return profile;
}

StageCosts stages_of(const Profile& profile, const std::vector<int>& partition) {
  std::vector<Assumption> assumptions;
  return profiled_costs(profile, partition, {}, 1.0, assumptions);
}

}  // namespace debubble::testing
