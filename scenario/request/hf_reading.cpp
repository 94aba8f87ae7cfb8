#include "scenario/request/hf_reading.hpp"

#include <algorithm>

#include "formats/text/text.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {

void ConfigReading::refuse(std::string_view key, const std::string& what) const {
  reader.complain("F033", key, what + " is not modelled",
                  "measure a run of it (debubble profile), or remove the key to see what the rest costs");
}

void ConfigReading::pass(std::string_view keys) const {
  for (const std::string_view key : words_in(keys)) (void)reader.find(key);
}

std::int64_t ConfigReading::size_or_none(std::string_view key) const {
  const JsonValue* value = reader.find(key);
  if (value == nullptr) return 0;
  if (value->kind == JsonValue::Kind::kInteger && value->integer == 0) return 0;
  return reader.size(key);
}

std::int64_t ConfigReading::size_of(std::string_view key, std::string_view other) const {
  return reader.find(key) == nullptr && reader.find(other) != nullptr ? reader.size(other) : reader.size(key);
}

void read_activation(const ConfigReading& in, std::string_view key, const char* fallback) {
  const std::string word = in.reader.word(key, fallback);
  constexpr std::string_view kLikeGelu =
      "gelu gelu_new gelu_pytorch_tanh gelu_fast relu quick_gelu relu2 relu_squared gelu_python xielu";
  if (word == "silu" || word == "swish" || word == "swiglu") {
    in.shape().activation = ActivationKind::kSilu;
    return;
  }
  in.shape().activation = ActivationKind::kGelu;
  if (is_word_in(kLikeGelu, word)) return;
  in.note("the activation " + in_quotes(word) + " is not known; it counts as one pass over its input, as GELU");
}

void read_common_sizes(const ConfigReading& in, const ClassSizes& of_class) {
  const auto size = [&](const char* key, std::int64_t own) {
    return own > 0 ? in.reader.size(key, own) : in.reader.size(key);
  };
  in.shape().layers = in.reader.size("num_hidden_layers");
  in.shape().hidden = in.reader.size("hidden_size");
  in.shape().heads = size("num_attention_heads", of_class.heads);
  in.shape().vocabulary = size("vocab_size", of_class.vocabulary);
  in.file.longest = in.reader.size("max_position_embeddings", 1);
  if (in.file.longest == 1) in.file.longest = 0;
}

void read_rotary(const ConfigReading& in) {
  in.shape().positions = 0;
  in.shape().rotary_base = in.reader.positive("rope_theta", in.shape().rotary_base);
  // Fewer numbers turned: less than a kernel's spread.
  in.pass(
      "rope_parameters rope_interleave partial_rotary_factor rope_local_base_freq rotary_pct rotary_emb_base "
      "rotary_dim no_rope_layer_interval no_rope_layers rope_pct original_max_position_embeddings use_rope rope_ratio "
      "original_rope rope_scaling_type");
}

void read_llama_biases(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  const bool attention = in.reader.flag("attention_bias", false);
  shape.biases = false;
  shape.qkv_biases = attention;
  shape.output_bias = attention;
  shape.mlp_biases = in.reader.flag("mlp_bias", false);
}

void read_llama_like(const ConfigReading& in, const char* activation, const ClassSizes& of_class) {
  TransformerShape& shape = in.shape();
  read_common_sizes(in, of_class);
  shape.kv_heads = in.reader.size("num_key_value_heads", of_class.kv_heads > 0 ? of_class.kv_heads : shape.heads);
  shape.head_size = in.reader.find("head_dim") == nullptr ? of_class.head_size : in.reader.size("head_dim");
  shape.feed_forward = in.reader.size("intermediate_size");
  read_rotary(in);
  shape.norm = NormKind::kRmsNorm;
  shape.gated = true;
  read_llama_biases(in);
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", false);
  read_activation(in, "hidden_act", activation);
  // Factors of single numbers, which are part of kernels that are there anyway.
  in.pass(
      "embedding_multiplier residual_multiplier attention_multiplier logits_scaling logit_scale query_pre_attn_scalar "
      "attn_logit_softcapping final_logit_softcapping clip_qkv scale_depth scale_emb dim_model_base rope_type "
      "resid_dropout embedding_dropout weight_init rms_norm");
}

namespace {

// A pattern that needs no list: every so many-th block sees all, or none does. -1: there is none.
std::int64_t regular_pattern(const std::vector<bool>& windowed) {
  const auto size = static_cast<std::int64_t>(windowed.size());
  for (std::int64_t every = 0; every <= size; ++every) {
    if (every == 1) continue;
    bool same = true;
    for (std::int64_t block = 0; block < size && same; ++block) {
      const bool full = every > 0 && (block + 1) % every == 0;
      same = windowed[static_cast<std::size_t>(block)] != full;
    }
    if (same) return every;
  }
  return -1;
}

// Whether each block has a window; empty after a complaint.
std::vector<bool> windowed_blocks(const ConfigReading& in, const JsonValue& types) {
  std::vector<bool> windowed;
  for (const JsonValue& type : types.children) {
    const bool full = type.text == "full_attention" || type.text == "global" || type.text == "attention";
    const bool window =
        type.text == "sliding_attention" || type.text == "chunked_attention" || type.text == "sliding_window";
    if (!full && !window) {
      in.refuse("layer_types", "a layer of the type " + describe(type));
      return {};
    }
    windowed.push_back(window);
  }
  if (static_cast<std::int64_t>(windowed.size()) == in.shape().layers) return windowed;
  in.reader.complain("P012", "layer_types",
                     std::to_string(windowed.size()) + " types of " + std::to_string(in.shape().layers) + " layers",
                     "there is one for each layer");
  return {};
}

}  // namespace

void read_window(const ConfigReading& in, const WindowRule& rule) {
  TransformerShape& shape = in.shape();
  const bool given = in.reader.find(rule.key) != nullptr;
  const std::int64_t tokens = given ? in.size_or_none(rule.key) : rule.size;
  const JsonValue* types = in.reader.find("layer_types");
  std::vector<bool> windowed;
  if (types != nullptr && types->kind != JsonValue::Kind::kArray) {
    return in.reader.complain("P007", "layer_types", "\"layer_types\" must be a list; got " + describe(*types),
                              "there is a type for each layer");
  }
  if (types != nullptr && !types->children.empty()) {
    windowed = windowed_blocks(in, *types);
    if (windowed.empty()) return;
  }
  if (tokens <= 0 || !rule.used) return;
  if (windowed.empty()) {
    shape.window = tokens;
    shape.full_every = rule.full_every;
    return;
  }
  if (std::find(windowed.begin(), windowed.end(), true) == windowed.end()) return;
  shape.window = tokens;
  shape.full_every = regular_pattern(windowed);
  if (shape.full_every >= 0) return;
  shape.full_every = 0;
  std::vector<BlockKind> blocks = blocks_of(shape);
  for (std::size_t k = 0; k < blocks.size(); ++k) blocks[k].windowed = windowed[k];
  set_blocks(blocks, shape);
}

void read_switched_window(const ConfigReading& in) {
  const bool used = in.reader.flag("use_sliding_window", false);
  if (used) in.shape().full_first = in.size_or_none("max_window_layers");
  read_window(in, {.used = used});
}

std::vector<BlockKind> blocks_of(const TransformerShape& shape) {
  if (shape.layers > kMostConfigLayers) return {};
  std::vector<BlockKind> blocks(static_cast<std::size_t>(shape.layers));
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    if (k < shape.kind_of_block.size()) {
      blocks[k] = shape.block_kinds[shape.kind_of_block[k]];
    } else {
      blocks[k].windowed = block_variant(shape, static_cast<std::int64_t>(k)) == 1;
    }
  }
  return blocks;
}

void set_blocks(const std::vector<BlockKind>& blocks, TransformerShape& shape) {
  shape.block_kinds.clear();
  shape.kind_of_block.clear();
  for (const BlockKind& block : blocks) {
    auto same = std::find(shape.block_kinds.begin(), shape.block_kinds.end(), block);
    if (same == shape.block_kinds.end()) same = shape.block_kinds.insert(shape.block_kinds.end(), block);
    shape.kind_of_block.push_back(static_cast<std::uint16_t>(same - shape.block_kinds.begin()));
  }
}

void set_expert_blocks(const ConfigReading& in, std::string_view key, bool experts) {
  const JsonValue* named = in.reader.find(key);
  if (named != nullptr && named->kind != JsonValue::Kind::kArray) {
    return in.reader.complain("P007", key, in_quotes(key) + " must be a list; got " + describe(*named),
                              "of the numbers of layers");
  }
  if (named == nullptr || named->children.empty() || in.shape().layers > kMostConfigLayers) return;
  std::vector<BlockKind> blocks = blocks_of(in.shape());
  if (experts) {
    for (BlockKind& block : blocks) block.experts = 0;
  }
  for (const JsonValue& number : named->children) {
    const bool block = number.kind == JsonValue::Kind::kInteger && number.integer >= 0 &&
                       number.integer < static_cast<std::int64_t>(blocks.size());
    if (!block) {
      return in.reader.complain("P012", key, describe(number) + " is none of the model's layers",
                                "they count from 0 to " + std::to_string(static_cast<std::int64_t>(blocks.size()) - 1));
    }
    blocks[static_cast<std::size_t>(number.integer)].experts = experts ? 1 : 0;
  }
  set_blocks(blocks, in.shape());
}

void pass_router_constants(const ConfigReading& in) {
  in.pass(
      "router_aux_loss_coef output_router_logits router_jitter_noise input_jitter_noise aux_loss_alpha seq_aux "
      "norm_topk_prob scoring_func topk_method n_group topk_group routed_scaling_factor ep_size router_z_loss_coef "
      "moe_router_topk_scaling_factor router_dtype moe_use_aux_free moe_norm_min mtp_loss_scaling_factor "
      "moe_layer_auto_prefix");
}

}  // namespace debubble
