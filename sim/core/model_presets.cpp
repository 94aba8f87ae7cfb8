#include "sim/core/model_presets.hpp"

#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

constexpr const char* kGpt2 =
    "A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019, table 2, and the released models";
constexpr const char* kGpt3 = "T. Brown et al., Language Models are Few-Shot Learners, NeurIPS 2020, table 2.1";
constexpr const char* kGptXl =
    "T. Brown et al., Language Models are Few-Shot Learners, NeurIPS 2020, table 2.1, GPT-3 XL, with 16 heads of 128, "
    "since the table's 24 do not fit its width";
constexpr const char* kGpt13 =
    "T. Brown et al., Language Models are Few-Shot Learners, NeurIPS 2020, table 2.1, with 5120 for the table's 5140, "
    "which 40 heads of 128 do not make";
constexpr const char* kLlama2Citation =
    "H. Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023, and the released config.json";
constexpr const char* kLlama3Citation =
    "A. Grattafiori et al., The Llama 3 Herd of Models, 2024, table 3, and the released config.json";
constexpr const char* kMistral = "A. Jiang et al., Mistral 7B, 2023, table 1, without its sliding window";
constexpr const char* kQwen2 = "A. Yang et al., Qwen2 Technical Report, 2024, table 1, and the released config.json";
constexpr const char* kTiny = "for tests";

TransformerShape gpt_preset(const char* name, std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                            std::int64_t positions) {
  TransformerShape shape;
  shape.name = name;
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.kv_heads = heads;
  shape.head_size = hidden / heads;
  shape.feed_forward = 4 * hidden;
  shape.vocabulary = 50257;
  shape.positions = positions;
  return shape;
}

struct LlamaPreset {
  std::int64_t layers, hidden, heads, kv_heads, feed_forward, vocabulary;
  double rotary_base;
};

TransformerShape llama_preset(const char* name, const LlamaPreset& sizes) {
  TransformerShape shape;
  shape.name = name;
  shape.layers = sizes.layers;
  shape.hidden = sizes.hidden;
  shape.heads = sizes.heads;
  shape.kv_heads = sizes.kv_heads;
  shape.head_size = sizes.hidden / sizes.heads;
  shape.feed_forward = sizes.feed_forward;
  shape.vocabulary = sizes.vocabulary;
  shape.rotary_base = sizes.rotary_base;
  shape.norm = NormKind::kRmsNorm;
  shape.activation = ActivationKind::kSilu;
  shape.gated = true;
  shape.biases = false;
  shape.tied_embedding = false;
  return shape;
}

TransformerShape qwen(const char* name, const LlamaPreset& sizes) {
  TransformerShape shape = llama_preset(name, sizes);
  shape.qkv_biases = true;
  return shape;
}

TransformerShape tiny_gpt() {
  TransformerShape shape = gpt_preset("tiny-gpt", 2, 64, 4, 128);
  shape.feed_forward = 128;
  shape.vocabulary = 100;
  return shape;
}

std::vector<ModelPreset> make_model_presets() {
  return {{gpt_preset("gpt2-small", 12, 768, 12, 1024), kGpt2},
          {gpt_preset("gpt2-medium", 24, 1024, 16, 1024), kGpt2},
          {gpt_preset("gpt2-large", 36, 1280, 20, 1024), kGpt2},
          {gpt_preset("gpt2-xl", 48, 1600, 25, 1024), kGpt2},
          {gpt_preset("gpt-1.3b", 24, 2048, 16, 2048), kGptXl},
          {gpt_preset("gpt-2.7b", 32, 2560, 32, 2048), kGpt3},
          {gpt_preset("gpt-6.7b", 32, 4096, 32, 2048), kGpt3},
          {gpt_preset("gpt-13b", 40, 5120, 40, 2048), kGpt13},
          {gpt_preset("gpt-175b", 96, 12288, 96, 2048), kGpt3},
          {llama_preset("llama-7b", {32, 4096, 32, 32, 11008, 32000, 1e4}), kLlama2Citation},
          {llama_preset("llama-13b", {40, 5120, 40, 40, 13824, 32000, 1e4}), kLlama2Citation},
          {llama_preset("llama-70b", {80, 8192, 64, 8, 28672, 32000, 1e4}), kLlama2Citation},
          {llama_preset("llama-8b", {32, 4096, 32, 8, 14336, 128256, 5e5}), kLlama3Citation},
          {llama_preset("llama3-70b", {80, 8192, 64, 8, 28672, 128256, 5e5}), kLlama3Citation},
          {llama_preset("mistral-7b", {32, 4096, 32, 8, 14336, 32000, 1e4}), kMistral},
          {qwen("qwen2-7b", {28, 3584, 28, 4, 18944, 152064, 1e6}), kQwen2},
          {tiny_gpt(), kTiny},
          {llama_preset("tiny-llama", {2, 64, 4, 2, 96, 100, 1e4}), kTiny}};
}

const std::vector<ModelPreset>& presets() {
  static const std::vector<ModelPreset> list = make_model_presets();
  return list;
}

}  // namespace

std::span<const ModelPreset> model_presets() { return presets(); }

TransformerShape model_preset(const std::string& name) {
  std::vector<std::string> names;
  std::string all;
  for (const ModelPreset& preset : presets()) {
    if (preset.shape.name == name) return preset.shape;
    names.push_back(preset.shape.name);
    all += (all.empty() ? "" : ", ") + preset.shape.name;
  }
  const std::string meant = closest_name(name, names);
  const std::string help = meant.empty() ? "presets: " + all + "; or give a Hugging Face config.json"
                                         : "did you mean \"" + meant + "\"? all presets: " + all;
  throw InputError(Diagnostic{"C003", "--model", "no model preset is named \"" + name + "\"", help});
}

}  // namespace debubble
