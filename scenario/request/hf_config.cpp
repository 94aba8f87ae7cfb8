#include "scenario/request/hf_config.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "cost_models/transformer/model_catalog.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/model/config_reader.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

// What one family's reader works on.
struct ConfigReading {
  ConfigReader& reader;
  ModelFile& file;

  [[nodiscard]] TransformerShape& shape() const { return file.shape; }
  void note(std::string text) const { file.notes.push_back(std::move(text)); }
};

void read_activation(const ConfigReading& in, std::string_view key, const char* fallback) {
  const std::string word = in.reader.word(key, fallback);
  constexpr std::array<std::string_view, 6> kLikeGelu{"gelu",      "gelu_new", "gelu_pytorch_tanh",
                                                      "gelu_fast", "relu",     "quick_gelu"};
  if (word == "silu" || word == "swish") {
    in.shape().activation = ActivationKind::kSilu;
    return;
  }
  in.shape().activation = ActivationKind::kGelu;
  if (std::find(kLikeGelu.begin(), kLikeGelu.end(), word) != kLikeGelu.end()) return;
  in.note("the activation " + in_quotes(word) + " is not known; it counts as one pass over its input, as GELU");
}

// Attention over a window touches fewer pairs than are counted.
void note_window(const ConfigReading& in, bool used) {
  const JsonValue* window = in.reader.find("sliding_window");
  (void)in.reader.find("max_window_layers");
  if (window == nullptr || !used) return;
  in.note("\"sliding_window\" (" + window->text + " tokens) is not modelled: attention counts all earlier tokens");
}

void note_layer_types(const ConfigReading& in) {
  const JsonValue* types = in.reader.find("layer_types");
  if (types == nullptr) return;
  const bool full = std::all_of(types->children.begin(), types->children.end(),
                                [](const JsonValue& type) { return type.text == "full_attention"; });
  if (!full) in.note("\"layer_types\" names layers without full attention; all count as full attention");
}

void read_common(const ConfigReading& in) {
  in.shape().layers = in.reader.size("num_hidden_layers");
  in.shape().hidden = in.reader.size("hidden_size");
  in.shape().heads = in.reader.size("num_attention_heads");
  in.shape().vocabulary = in.reader.size("vocab_size");
  in.file.longest = in.reader.size("max_position_embeddings", 1);
  if (in.file.longest == 1) in.file.longest = 0;
}

void read_gpt2_config(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.layers = in.reader.size("n_layer");
  shape.hidden = in.reader.size("n_embd");
  shape.heads = in.reader.size("n_head");
  shape.feed_forward = in.reader.size("n_inner", 4 * shape.hidden);
  shape.vocabulary = in.reader.size("vocab_size");
  shape.positions = in.reader.size("n_positions");
  in.file.longest = shape.positions;
  read_activation(in, "activation_function", "gelu_new");
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", true);
  (void)in.reader.flag("scale_attn_weights", true);
  (void)in.reader.flag("scale_attn_by_inverse_layer_idx", false);
  if (in.reader.flag("reorder_and_upcast_attn", false)) in.note("attention in fp32 counts as in the model's format");
  if (in.reader.flag("add_cross_attention", false)) in.note("attention to an encoder is not modelled");
}

void read_gpt_neox_config(const ConfigReading& in) {
  read_common(in);
  in.shape().feed_forward = in.reader.size("intermediate_size");
  in.shape().tied_embedding = in.reader.flag("tie_word_embeddings", false);
  read_activation(in, "hidden_act", "gelu");
  (void)in.reader.find("rotary_pct");  // fewer numbers turned: less than a kernel's spread
  (void)in.reader.find("rotary_emb_base");
  (void)in.reader.find("rope_parameters");
  (void)in.reader.flag("use_parallel_residual", true);
  if (!in.reader.flag("attention_bias", true)) in.note("attention without biases counts with them");
}

void read_rotary_config(const ConfigReading& in) {
  in.shape().positions = 0;
  in.shape().rotary_base = in.reader.positive("rope_theta", in.shape().rotary_base);
  (void)in.reader.find("rope_parameters");
  (void)in.reader.find("rope_interleave");
}

// A size that may be 0, and is where nothing is said.
std::int64_t size_or_none(const ConfigReading& in, const char* key) {
  const JsonValue* value = in.reader.find(key);
  if (value == nullptr || value->kind == JsonValue::Kind::kNull) return 0;
  if (value->kind == JsonValue::Kind::kInteger && value->integer == 0) return 0;
  return in.reader.size(key);
}

// LLaMA and what is built like it: no biases, RMSNorm, a gated MLP.
void read_llama_like(const ConfigReading& in, const char* activation) {
  TransformerShape& shape = in.shape();
  read_common(in);
  shape.kv_heads = in.reader.size("num_key_value_heads", shape.heads);
  shape.head_size = in.reader.size("head_dim", 0);
  shape.feed_forward = in.reader.size("intermediate_size");
  read_rotary_config(in);
  shape.norm = NormKind::kRmsNorm;
  shape.gated = true;
  shape.biases = in.reader.flag("mlp_bias", false);
  shape.qkv_biases = in.reader.flag("attention_bias", false);
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", false);
  read_activation(in, "hidden_act", activation);
  note_layer_types(in);
}

void read_llama_config(const ConfigReading& in) {
  read_llama_like(in, "silu");
  note_window(in, false);
}

void read_mistral(const ConfigReading& in) {
  read_llama_like(in, "silu");
  note_window(in, true);
}

void read_qwen2(const ConfigReading& in) {
  read_llama_like(in, "silu");
  in.shape().qkv_biases = true;
  note_window(in, in.reader.flag("use_sliding_window", false));
  if (in.reader.flag("use_mrope", false)) in.note("rotary positions along several axes count as along one");
}

void read_qwen3(const ConfigReading& in) {
  read_llama_like(in, "silu");
  note_window(in, in.reader.flag("use_sliding_window", false));
  in.note("the norms of queries and keys are not modelled");
}

void read_gemma(const ConfigReading& in) {
  (void)in.reader.find("hidden_activation");
  read_llama_like(in, "gelu_pytorch_tanh");
  in.shape().tied_embedding = in.reader.flag("tie_word_embeddings", true);
}

// Nothing that trains needs these.
void pass_router_constants(const ConfigReading& in) {
  for (const char* key :
       {"router_aux_loss_coef", "output_router_logits", "router_jitter_noise", "aux_loss_alpha", "seq_aux",
        "norm_topk_prob", "scoring_func", "topk_method", "n_group", "topk_group", "routed_scaling_factor", "ep_size"}) {
    (void)in.reader.find(key);
  }
}

void read_mixtral(const ConfigReading& in) {
  read_mistral(in);
  TransformerShape& shape = in.shape();
  shape.experts = in.reader.size("num_local_experts");
  shape.experts_per_token = in.reader.size("num_experts_per_tok");
  shape.expert_feed_forward = shape.feed_forward;
  pass_router_constants(in);
}

// Qwen's: experts in every `decoder_sparse_step`-th block but those named.
void read_qwen_moe(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.experts = in.reader.size("num_experts");
  shape.experts_per_token = in.reader.size("num_experts_per_tok");
  shape.expert_feed_forward = in.reader.size("moe_intermediate_size");
  shape.moe_every = in.reader.size("decoder_sparse_step", 1);
  if (shape.moe_every > 1) shape.dense_layers = shape.moe_every - 1;
  const JsonValue* dense = in.reader.find("mlp_only_layers");
  if (dense != nullptr && (!dense->children.empty() || !dense->integers.empty())) {
    in.note("\"mlp_only_layers\" names blocks without experts; they count with experts");
  }
  pass_router_constants(in);
}

void read_qwen2_moe(const ConfigReading& in) {
  read_qwen2(in);
  read_qwen_moe(in);
  in.shape().shared_experts = 1;
  in.shape().shared_feed_forward = in.reader.size("shared_expert_intermediate_size");
  in.note("the gate of the shared expert is not modelled");
}

void read_qwen3_moe(const ConfigReading& in) {
  read_qwen3(in);
  read_qwen_moe(in);
}

void read_deepseek(const ConfigReading& in) {
  read_llama_like(in, "silu");
  TransformerShape& shape = in.shape();
  shape.query_rank = in.reader.find("q_lora_rank") == nullptr ? 0 : in.reader.size("q_lora_rank");
  shape.kv_rank = in.reader.size("kv_lora_rank");
  shape.head_size = in.reader.size("qk_nope_head_dim");
  shape.rope_size = in.reader.size("qk_rope_head_dim");
  shape.value_size = in.reader.size("v_head_dim");
  (void)in.reader.find("qk_head_dim");
  shape.kv_heads = shape.heads;
  shape.experts = in.reader.size("n_routed_experts", 1);
  if (shape.experts == 1) shape.experts = 0;
  pass_router_constants(in);
  if (shape.experts == 0) return;
  shape.experts_per_token = in.reader.size("num_experts_per_tok");
  shape.expert_feed_forward = in.reader.size("moe_intermediate_size");
  shape.shared_experts = in.reader.find("n_shared_experts") == nullptr ? 0 : in.reader.size("n_shared_experts");
  shape.shared_feed_forward = shape.shared_experts * shape.expert_feed_forward;
  shape.dense_layers = size_or_none(in, "first_k_dense_replace");
  shape.moe_every = in.reader.size("moe_layer_freq", 1);
  shape.predicted_tokens = size_or_none(in, "num_nextn_predict_layers");
}

struct ModelFamily {
  const char* model_type;
  void (*read)(const ConfigReading&);
};
constexpr std::array<ModelFamily, 12> kFamilies{{{"gpt2", read_gpt2_config},
                                                 {"gpt_neox", read_gpt_neox_config},
                                                 {"llama", read_llama_config},
                                                 {"mistral", read_mistral},
                                                 {"qwen2", read_qwen2},
                                                 {"qwen3", read_qwen3},
                                                 {"gemma", read_gemma},
                                                 {"mixtral", read_mixtral},
                                                 {"qwen2_moe", read_qwen2_moe},
                                                 {"qwen3_moe", read_qwen3_moe},
                                                 {"deepseek_v2", read_deepseek},
                                                 {"deepseek_v3", read_deepseek}}};

std::string family_names() {
  std::string names;
  for (const ModelFamily& family : kFamilies) names += (names.empty() ? "" : ", ") + std::string(family.model_type);
  return names;
}

const ModelFamily* find_family(const JsonValue& root, ProblemList& problems) {
  if (root.kind != JsonValue::Kind::kObject) {
    problems.add("P010", problems.name(), "a model config is an object; got " + describe(root),
                 "give the config.json of a Hugging Face model");
    return nullptr;
  }
  ConfigReader reader(root, problems);
  const std::string type = reader.word("model_type", "");
  std::vector<std::string> names;
  for (const ModelFamily& family : kFamilies) {
    if (type == family.model_type) return &family;
    names.emplace_back(family.model_type);
  }
  if (type.empty()) {
    problems.add("P010", problems.name(), "\"model_type\" is missing, so this is not a model config",
                 "give the config.json of a Hugging Face model");
    return nullptr;
  }
  const std::string meant = closest_name(type, names);
  problems.add_at_pointer("P011", "/model_type", "models of the type " + in_quotes(type) + " are not known",
                          (meant.empty() ? "" : "did you mean " + in_quotes(meant) + "? ") +
                              ("known: " + family_names()) +
                              "; sizes alone will do: --model llama --model-size layers=32,hidden=4096,...");
  return nullptr;
}

void check_read_heads(const ConfigReading& in) {
  const TransformerShape& shape = in.shape();
  if (shape.kv_heads > 0 && shape.heads % shape.kv_heads != 0) {
    in.reader.complain("P012", "num_key_value_heads",
                       std::to_string(shape.kv_heads) + " key/value heads cannot serve " + std::to_string(shape.heads) +
                           " heads evenly",
                       "the number of heads must be a multiple of it");
  }
  if (shape.head_size == 0 && shape.heads > 0 && shape.hidden % shape.heads != 0) {
    in.reader.complain(
        "P012", "",
        std::to_string(shape.heads) + " heads do not share " + std::to_string(shape.hidden) + " numbers evenly",
        "the number of heads must divide the width of the model");
  }
  if (shape.experts > 0 && shape.experts_per_token > shape.experts) {
    in.reader.complain(
        "P012", "num_experts_per_tok",
        std::to_string(shape.experts_per_token) + " experts per token of " + std::to_string(shape.experts),
        "a token goes to at most all experts");
  }
}

}  // namespace

ModelFile read_hf_config(std::string_view text, const std::string& name) {
  ProblemList problems(name, config_dialect());
  ModelFile file;
  file.shape.name = name;
  if (const std::optional<JsonValue> root = parse_json(text, problems)) {
    if (const ModelFamily* family = find_family(*root, problems)) {
      ConfigReader reader(*root, problems);
      const ConfigReading in{reader, file};
      family->read(in);
      if (reader.find("quantization_config") != nullptr) {
        in.note("\"quantization_config\" is not modelled: --dtype says what products are computed in");
      }
      if (reader.flag("is_encoder_decoder", false)) in.note("an encoder is not modelled");
      for (const std::string& key : reader.unknown_keys()) {
        in.note("unknown key " + in_quotes(key) + ", which may change time or memory, is left out");
      }
      check_read_heads(in);
    }
  }
  problems.throw_if_any();
  complete_shape(file.shape);
  return file;
}

}  // namespace debubble
