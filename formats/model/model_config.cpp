#include "formats/model/model_config.hpp"

#include <array>
#include <utility>

#include "formats/json/json_tree.hpp"
#include "formats/model/config_reader.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

// The tanh form of GELU only: the exact form is another kernel.
ActivationKind activation_of(ConfigReader& reader, std::string_view key, const std::string& fallback) {
  const std::string word = reader.word(key, fallback);
  constexpr std::array<std::string_view, 3> kTanhForms{"gelu_new", "gelu_pytorch_tanh", "gelu_fast"};
  for (const std::string_view form : kTanhForms) {
    if (word == form) return ActivationKind::kGelu;
  }
  if (word == "silu" || word == "swish") return ActivationKind::kSilu;
  reader.complain("W012", key, "the activation " + in_quotes(word) + " is not part of the built-in workload",
                  word == "gelu" ? "write \"gelu_new\" to measure GELU in its tanh form"
                                 : "it has \"gelu_new\", \"gelu_pytorch_tanh\", \"gelu_fast\" and \"silu\"");
  return ActivationKind::kGelu;
}

// Heads that share the width evenly, unless the size of a head is given.
void set_heads(ConfigReader& reader, TransformerShape& shape, std::string_view heads_key, std::string_view size_key) {
  shape.heads = reader.size(heads_key);
  const std::int64_t even = shape.hidden / shape.heads;
  shape.head_size = size_key.empty() ? even : reader.size(size_key, even == 0 ? 1 : even);
  const bool given = !size_key.empty() && reader.find(size_key) != nullptr;
  if (given || shape.hidden % shape.heads == 0) return;
  reader.complain(
      "P012", heads_key,
      std::to_string(shape.heads) + " heads do not share " + std::to_string(shape.hidden) + " numbers evenly",
      "the number of heads must divide the width of the model");
}

void read_gpt2_shape(ConfigReader& reader, TransformerShape& shape) {
  shape.layers = reader.size("n_layer");
  shape.hidden = reader.size("n_embd");
  set_heads(reader, shape, "n_head", "");
  shape.kv_heads = shape.heads;
  shape.feed_forward = reader.size("n_inner", 4 * shape.hidden);
  shape.vocabulary = reader.size("vocab_size");
  shape.positions = reader.size("n_positions");
  shape.activation = activation_of(reader, "activation_function", "gelu_new");
  shape.tied_embedding = reader.flag("tie_word_embeddings", true);
  reader.insist("scale_attn_weights", true, true, "attention without a scale");
  reader.insist("scale_attn_by_inverse_layer_idx", false, false, "a scale that depends on the layer");
  reader.insist("reorder_and_upcast_attn", false, false, "attention in fp32");
  reader.insist("add_cross_attention", false, false, "attention to an encoder");
}

// Newer files put the angles in an object of their own.
void read_rotary_shape(ConfigReader& reader, TransformerShape& shape, ProblemList& problems, std::string_view key) {
  shape.positions = 0;
  shape.rotary_base = reader.positive(key, shape.rotary_base);
  const JsonValue* parameters = reader.find("rope_parameters");
  if (parameters == nullptr) return;
  if (parameters->kind != JsonValue::Kind::kObject) {
    return reader.complain("P007", "rope_parameters",
                           "\"rope_parameters\" must be an object; got " + describe(*parameters),
                           "for example {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}");
  }
  ConfigReader angles(*parameters, problems);
  shape.rotary_base = angles.positive("rope_theta", shape.rotary_base);
}

void read_gpt_neox_shape(ConfigReader& reader, TransformerShape& shape, ProblemList& problems) {
  shape.layers = reader.size("num_hidden_layers");
  shape.hidden = reader.size("hidden_size");
  set_heads(reader, shape, "num_attention_heads", "");
  shape.kv_heads = shape.heads;
  shape.feed_forward = reader.size("intermediate_size");
  shape.vocabulary = reader.size("vocab_size");
  read_rotary_shape(reader, shape, problems, "rotary_emb_base");
  shape.activation = activation_of(reader, "hidden_act", "gelu");
  shape.tied_embedding = reader.flag("tie_word_embeddings", false);
  reader.insist("use_parallel_residual", false, true, "attention and MLP side by side");
  reader.insist("attention_bias", true, true, "attention without biases");
  if (reader.positive("rotary_pct", 0.25) != 1.0) {
    reader.complain("W012", "rotary_pct", "rotary positions on a part of a head are not part of the built-in workload",
                    "it computes models with \"rotary_pct\": 1.0");
  }
}

// A window as long as every sequence changes nothing.
void check_window(ConfigReader& reader, bool used) {
  const JsonValue* window = reader.find("sliding_window");
  if (window == nullptr || !used) return;
  reader.complain(
      "W012", "sliding_window", "sliding-window attention is not part of the built-in workload",
      "it is " + describe(*window) + " here: write null where no sequence is longer, for then it changes nothing");
}

void check_layer_types(ConfigReader& reader) {
  const JsonValue* types = reader.find("layer_types");
  if (types == nullptr) return;
  for (const JsonValue& type : types->children) {
    if (type.text == "full_attention") continue;
    return reader.complain("W012", "layer_types",
                           "layers of the type " + describe(type) + " are not part of the built-in workload",
                           "it has \"full_attention\"");
  }
}

void read_biases(ConfigReader& reader, TransformerShape& shape, const std::string& family) {
  const bool attention = reader.flag("attention_bias", false);
  const bool mlp = reader.flag("mlp_bias", false);
  shape.biases = attention && mlp;
  shape.qkv_biases = family == "qwen2";
  if (attention == mlp) return;
  reader.complain("W012", attention ? "attention_bias" : "mlp_bias",
                  "biases in one half of a block are not part of the built-in workload",
                  "\"attention_bias\" and \"mlp_bias\" must be equal");
}

void read_llama_shape(ConfigReader& reader, TransformerShape& shape, ProblemList& problems, const std::string& family) {
  shape.layers = reader.size("num_hidden_layers");
  shape.hidden = reader.size("hidden_size");
  set_heads(reader, shape, "num_attention_heads", "head_dim");
  // Only LLaMA itself lets this default to the number of heads.
  shape.kv_heads =
      family == "llama" ? reader.size("num_key_value_heads", shape.heads) : reader.size("num_key_value_heads");
  shape.feed_forward = reader.size("intermediate_size");
  shape.vocabulary = reader.size("vocab_size");
  read_rotary_shape(reader, shape, problems, "rope_theta");
  shape.norm = NormKind::kRmsNorm;
  shape.activation = activation_of(reader, "hidden_act", "silu");
  shape.gated = true;
  shape.tied_embedding = reader.flag("tie_word_embeddings", false);
  read_biases(reader, shape, family);
  check_window(reader, family == "mistral" || reader.flag("use_sliding_window", false));
  check_layer_types(reader);
  reader.insist("use_mrope", false, false, "rotary positions along several axes");
  if (shape.heads % shape.kv_heads == 0) return;
  reader.complain(
      "P012", "num_key_value_heads",
      std::to_string(shape.kv_heads) + " key/value heads cannot serve " + std::to_string(shape.heads) + " heads evenly",
      "the number of heads must be a multiple of it");
}

void read_family(const JsonValue& root, const std::string& family, TransformerShape& shape, ProblemList& problems) {
  ConfigReader reader(root, problems);
  if (family == "gpt2") {
    read_gpt2_shape(reader, shape);
  } else if (family == "gpt_neox") {
    read_gpt_neox_shape(reader, shape, problems);
  } else {
    read_llama_shape(reader, shape, problems, family);
  }
  reader.insist("is_encoder_decoder", false, false, "an encoder");
  reader.refuse("quantization_config", "quantised computation");
  reader.refuse("pruned_heads", "the pruning of heads");
  reader.finish();
}

// "" after a complaint.
std::string family_of(const JsonValue& root, ProblemList& problems) {
  constexpr const char* kFamilies = "gpt2, gpt_neox, llama, mistral and qwen2 can be measured this way";
  if (root.kind != JsonValue::Kind::kObject) {
    problems.add("P010", problems.name(), "a model config is an object; got " + describe(root), kFamilies);
    return {};
  }
  ConfigReader reader(root, problems);
  std::string family = reader.word("model_type", "");
  if (family.empty()) {
    problems.add("P010", problems.name(), "\"model_type\" is missing, so this is not a model config",
                 "give the config.json of a Hugging Face model");
    return {};
  }
  for (const char* known : {"gpt2", "gpt_neox", "llama", "mistral", "qwen2"}) {
    if (family == known) return family;
  }
  problems.add_at_pointer("W012", "/model_type",
                          "models of the type " + in_quotes(family) + " have no built-in workload",
                          std::string(kFamilies) + "; others: debubble profile -- python train.py");
  return {};
}

}  // namespace

TransformerShape read_model_config(std::string_view text, const std::string& name) {
  ProblemList problems(name, config_dialect());
  TransformerShape shape;
  shape.name = name;
  if (const std::optional<JsonValue> root = parse_json(text, problems)) {
    const std::string family = family_of(*root, problems);
    if (!family.empty()) read_family(*root, family, shape, problems);
  }
  problems.throw_if_any();
  return shape;
}

}  // namespace debubble
