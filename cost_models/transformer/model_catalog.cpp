#include "cost_models/transformer/model_catalog.hpp"

namespace debubble {
namespace {

constexpr const char* kKorthikanti =
    "V. Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, MLSys 2023, table 3";
constexpr const char* kSc21 =
    "D. Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, SC 2021, table 1";
constexpr const char* kLlama2Paper =
    "H. Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023, and the released config.json";
constexpr const char* kLlama3Paper =
    "A. Grattafiori et al., The Llama 3 Herd of Models, 2024, table 3, and the released config.json";
constexpr const char* kMixtral = "A. Jiang et al., Mixtral of Experts, 2024, table 1";
constexpr const char* kDeepSeekV2 = "DeepSeek-AI, DeepSeek-V2, 2024, section 3.1.2, and the released config.json";
constexpr const char* kDeepSeekV3 =
    "DeepSeek-AI, DeepSeek-V3 Technical Report, 2024, section 4.2, and the released config.json";

TransformerShape gpt_family() {
  TransformerShape shape;
  shape.name = "gpt";
  return shape;
}

TransformerShape llama_family() {
  TransformerShape shape;
  shape.name = "llama";
  shape.norm = NormKind::kRmsNorm;
  shape.activation = ActivationKind::kSilu;
  shape.gated = true;
  shape.biases = false;
  shape.tied_embedding = false;
  return shape;
}

// Megatron's GPT: 51,200 tokens, samples of 2048.
TransformerShape gpt_shape(const char* name, std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  TransformerShape shape = gpt_family();
  shape.name = name;
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.vocabulary = 51200;
  shape.positions = 2048;
  complete_shape(shape);
  return shape;
}

struct LlamaShape {
  std::int64_t layers, hidden, heads, kv_heads, feed_forward, vocabulary;
  double rotary_base;
};

TransformerShape llama_shape(const char* name, const LlamaShape& sizes) {
  TransformerShape shape = llama_family();
  shape.name = name;
  shape.layers = sizes.layers;
  shape.hidden = sizes.hidden;
  shape.heads = sizes.heads;
  shape.kv_heads = sizes.kv_heads;
  shape.feed_forward = sizes.feed_forward;
  shape.vocabulary = sizes.vocabulary;
  shape.rotary_base = sizes.rotary_base;
  complete_shape(shape);
  return shape;
}

TransformerShape mixtral() {
  TransformerShape shape = llama_shape("mixtral-8x7b", {32, 4096, 32, 8, 14336, 32000, 1e6});
  shape.experts = 8;
  shape.experts_per_token = 2;
  shape.expert_feed_forward = 14336;
  return shape;
}

TransformerShape deepseek(const char* name, const LlamaShape& sizes, std::int64_t experts, std::int64_t per_token,
                          std::int64_t expert_feed_forward, std::int64_t shared, std::int64_t dense_layers) {
  TransformerShape shape = llama_shape(name, sizes);
  shape.head_size = 128;
  shape.rope_size = 64;
  shape.value_size = 128;
  shape.query_rank = 1536;
  shape.kv_rank = 512;
  shape.experts = experts;
  shape.experts_per_token = per_token;
  shape.expert_groups = 8;
  shape.groups_per_token = 3;
  shape.expert_feed_forward = expert_feed_forward;
  shape.shared_experts = shared;
  shape.shared_feed_forward = shared * expert_feed_forward;
  shape.dense_layers = dense_layers;
  return shape;
}

TransformerShape deepseek_v3() {
  TransformerShape shape = deepseek("deepseek-v3", {61, 7168, 128, 128, 18432, 129280, 1e4}, 256, 8, 2048, 1, 3);
  shape.predicted_tokens = 1;
  shape.expert_balance = true;
  shape.groups_per_token = 4;
  return shape;
}

std::vector<CatalogModel> make_catalog() {
  return {{gpt_shape("gpt3-22b", 48, 6144, 64), kKorthikanti},
          {gpt_shape("gpt3-175b", 96, 12288, 96), kKorthikanti},
          {gpt_shape("gpt3-530b", 105, 20480, 128), kKorthikanti},
          {gpt_shape("gpt3-1t", 128, 25600, 160), kKorthikanti},
          {gpt_shape("gpt-1.7b-sc21", 24, 2304, 24), kSc21},
          {gpt_shape("gpt-3.6b-sc21", 30, 3072, 32), kSc21},
          {gpt_shape("gpt-7.5b-sc21", 36, 4096, 32), kSc21},
          {gpt_shape("gpt-18b-sc21", 40, 6144, 48), kSc21},
          {gpt_shape("gpt-39b-sc21", 48, 8192, 64), kSc21},
          {gpt_shape("gpt-76b-sc21", 60, 10240, 80), kSc21},
          {gpt_shape("gpt-145b-sc21", 80, 12288, 96), kSc21},
          {gpt_shape("gpt-310b-sc21", 96, 16384, 128), kSc21},
          {gpt_shape("gpt-530b-sc21", 105, 20480, 128), kSc21},
          {gpt_shape("gpt-1t-sc21", 128, 25600, 160), kSc21},
          {llama_shape("llama2-7b", {32, 4096, 32, 32, 11008, 32000, 1e4}), kLlama2Paper},
          {llama_shape("llama2-13b", {40, 5120, 40, 40, 13824, 32000, 1e4}), kLlama2Paper},
          {llama_shape("llama2-70b", {80, 8192, 64, 8, 28672, 32000, 1e4}), kLlama2Paper},
          {llama_shape("llama3-8b", {32, 4096, 32, 8, 14336, 128256, 5e5}), kLlama3Paper},
          {llama_shape("llama3-405b", {126, 16384, 128, 8, 53248, 128256, 5e5}), kLlama3Paper},
          {mixtral(), kMixtral},
          {deepseek("deepseek-v2", {60, 5120, 128, 128, 12288, 102400, 1e4}, 160, 6, 1536, 2, 1), kDeepSeekV2},
          {deepseek_v3(), kDeepSeekV3}};
}

}  // namespace

const std::vector<CatalogModel>& model_catalog() {
  static const std::vector<CatalogModel> catalog = make_catalog();
  return catalog;
}

const std::vector<TransformerShape>& model_families() {
  static const std::vector<TransformerShape> families{gpt_family(), llama_family()};
  return families;
}

void complete_shape(TransformerShape& shape) {
  if (shape.kv_heads == 0) shape.kv_heads = shape.heads;
  if (shape.head_size == 0 && shape.heads > 0) shape.head_size = shape.hidden / shape.heads;
  // A gated MLP has a third projection, so it is as large as four times the width at two thirds of that.
  if (shape.feed_forward == 0) shape.feed_forward = (shape.gated ? shape.hidden * 8 / 3 : 4 * shape.hidden);
  if (shape.value_size == 0 && shape.kv_rank > 0) shape.value_size = shape.head_size;
}

}  // namespace debubble
