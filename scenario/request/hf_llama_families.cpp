// Families that are built like LLaMA, without experts.
#include <algorithm>
#include <cmath>
#include <map>

#include "formats/text/text.hpp"
#include "scenario/request/hf_reading.hpp"

namespace debubble {
namespace {

void read_llama_config(const ConfigReading& in) {
  read_llama_like(in);
  read_window(in, {.used = false});
}

void read_mistral(const ConfigReading& in) {
  read_llama_like(in);
  read_window(in);
}

// Biases of queries, keys and values alone.
void read_qwen2(const ConfigReading& in) {
  read_llama_like(in);
  in.shape().qkv_biases = true;
  in.shape().output_bias = false;
  read_switched_window(in);
  in.pass("use_mrope mrope_section");
  in.shape().predicted_tokens = in.size_or_none("num_nextn_predict_layers");
}

void read_qwen3(const ConfigReading& in) {
  read_llama_like(in, "silu", {.head_size = 128});
  in.shape().qk_norm = QueryKeyNorm::kHead;
  read_switched_window(in);
  in.pass("use_qk_norm qkv_bias");
}

// Qwen's first: the key counts both ways up.
void read_qwen(const ConfigReading& in) {
  read_llama_like(in);
  in.shape().feed_forward /= 2;
  in.shape().qkv_biases = true;
  in.pass(
      "no_bias kv_channels use_dynamic_ntk use_logn_attn use_flash_attn seq_length bf16 fp16 fp32 scale_attn_weights "
      "attn_dropout_prob emb_dropout_prob onnx_safe rotary_emb_base use_cache_quantization use_cache_kernel "
      "softmax_in_fp32");
}

// Gemma's own activation is the newer key's.
void read_gemma_like(const ConfigReading& in, const ClassSizes& of_class) {
  const bool newer = in.reader.find("hidden_activation") != nullptr;
  read_llama_like(in, "gelu_pytorch_tanh", of_class);
  if (newer) read_activation(in, "hidden_activation", "gelu_pytorch_tanh");
  in.shape().tied_embedding = in.reader.flag("tie_word_embeddings", true);
}

void read_gemma(const ConfigReading& in) { read_gemma_like(in, {.head_size = 256}); }

void read_gemma2(const ConfigReading& in) {
  read_gemma_like(in, {.heads = 8, .kv_heads = 4, .head_size = 256, .vocabulary = 256'000});
  in.shape().block_norms = 4;
  read_window(in, {.full_every = 2, .size = 4096});
  in.pass("cache_implementation use_bidirectional_attention");
}

// Files of Gemma 3 leave out what is as its class has it.
void read_gemma3(const ConfigReading& in) {
  read_gemma_like(in, {.heads = 8, .kv_heads = 4, .head_size = 256, .vocabulary = 262'208});
  TransformerShape& shape = in.shape();
  shape.block_norms = 4;
  shape.qk_norm = QueryKeyNorm::kHead;
  const std::int64_t every = in.reader.size("sliding_window_pattern", 6);
  read_window(in, {.full_every = every, .size = 4096});
  in.pass("cache_implementation mm_tokens_per_image use_bidirectional_attention");
}

// One projection of queries, keys and values, and one of gate and up, of the same sizes.
void read_phi3(const ConfigReading& in) {
  read_llama_like(in);
  read_window(in);
  in.pass("embd_layer ff_intermediate_size");
}

void read_baichuan(const ConfigReading& in) {
  read_llama_like(in);
  in.pass("model_max_length z_loss_weight gradient_checkpointing");
}

// One flag for the biases of all four projections.
void read_internlm(const ConfigReading& in) {
  read_llama_like(in);
  const bool biases = in.reader.flag("bias", false);
  in.shape().qkv_biases = biases || in.reader.flag("qkv_bias", false);
  in.shape().output_bias = biases;
  in.shape().mlp_biases = false;
  in.pass("attn_implementation rotary");
}

// Parallel blocks behind one norm without a bias.
void read_cohere(const ConfigReading& in) {
  read_llama_like(in);
  TransformerShape& shape = in.shape();
  shape.norm = NormKind::kLayerNorm;
  shape.norm_vectors = 1;
  shape.block_norms = 1;
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", true);
  if (in.reader.flag("use_qk_norm", false)) shape.qk_norm = QueryKeyNorm::kWhole;
}

void read_cohere2(const ConfigReading& in) {
  read_cohere(in);
  const std::int64_t every = in.reader.size("sliding_window_pattern", 4);
  read_window(in, {.full_every = every});
  in.pass(
      "cache_implementation use_gated_activation use_parallel_block use_parallel_embedding position_embedding_type "
      "order_of_interleaved_layers rotary_pct");
}

void read_stablelm(const ConfigReading& in) {
  read_llama_like(in);
  TransformerShape& shape = in.shape();
  shape.norm = NormKind::kLayerNorm;
  shape.qkv_biases = in.reader.flag("use_qkv_bias", false);
  shape.output_bias = false;
  if (in.reader.flag("use_parallel_residual", false)) shape.block_norms = 1;
  if (in.reader.flag("qk_layernorm", false)) shape.qk_norm = QueryKeyNorm::kWhole;
}

// Norms without anything to train.
void read_olmo(const ConfigReading& in) {
  read_llama_like(in);
  in.shape().norm = NormKind::kLayerNorm;
  in.shape().norm_vectors = 0;
}

// Norms of both halves' outputs, none of their inputs: as many.
void read_olmo2(const ConfigReading& in) {
  read_llama_like(in);
  in.shape().qk_norm = QueryKeyNorm::kWhole;
  read_window(in, {.full_every = 4, .used = in.reader.find("sliding_window") != nullptr});
}

void read_glm(const ConfigReading& in) {
  read_llama_like(in);
  in.shape().output_bias = false;
  in.shape().qkv_biases = in.reader.flag("attention_bias", true);
}

void read_glm4(const ConfigReading& in) {
  read_glm(in);
  in.shape().qkv_biases = in.reader.flag("attention_bias", false);
  in.shape().block_norms = 4;
}

// Names of its own for everything.
void read_chatglm(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.layers = in.reader.size("num_layers");
  shape.hidden = in.reader.size("hidden_size");
  shape.heads = in.reader.size("num_attention_heads");
  shape.head_size = in.reader.size("kv_channels", shape.heads > 0 ? shape.hidden / shape.heads : 1);
  if (in.reader.flag("multi_query_attention", false)) shape.kv_heads = in.reader.size("multi_query_group_num");
  shape.feed_forward = in.reader.size("ffn_hidden_size");
  shape.vocabulary = in.size_of("padded_vocab_size", "vocab_size");
  in.file.longest = in.size_or_none("seq_length");
  read_rotary(in);
  shape.gated = true;
  shape.activation = ActivationKind::kSilu;
  shape.norm = in.reader.flag("rmsnorm", true) ? NormKind::kRmsNorm : NormKind::kLayerNorm;
  shape.biases = in.reader.flag("add_bias_linear", false);
  shape.qkv_biases = in.reader.flag("add_qkv_bias", false);
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", false);
  in.pass(
      "apply_query_key_layer_scaling apply_residual_connection_post_layernorm attention_softmax_in_fp32 "
      "bias_dropout_fusion fp32_residual_connection interleaved_qkv layernorm_epsilon original_rope post_layer_norm "
      "pre_seq_len prefix_projection quantization_bit multi_query_group_num vocab_size classifier_dropout");
}

// Biases of queries, keys and values; no gate; a squared ReLU.
void read_nemotron(const ConfigReading& in) {
  read_llama_like(in, "relu2");
  in.shape().norm = NormKind::kLayerNorm;
  in.shape().gated = false;
  in.pass("norm_eps");
}

void read_starcoder2(const ConfigReading& in) {
  read_llama_like(in, "gelu_pytorch_tanh");
  TransformerShape& shape = in.shape();
  shape.biases = in.reader.flag("use_bias", true);
  shape.gated = in.reader.word("mlp_type", "default") == "gated";
  if (in.reader.word("norm_type", "layer_norm") == "layer_norm") shape.norm = NormKind::kLayerNorm;
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", true);
  read_window(in);
  in.pass(
      "norm_epsilon residual_dropout activation_function attention_softmax_in_fp32 scale_attention_softmax_in_fp32 "
      "scale_attn_weights");
}

void read_ernie(const ConfigReading& in) {
  read_llama_like(in);
  const bool biases = in.reader.flag("use_bias", false);
  in.shape().biases = biases;
  in.shape().tied_embedding = in.reader.flag("tie_word_embeddings", true);
  in.pass("compression_ratio dpo_config freq_allocation fuse_rms_norm pixel_hidden_size");
}

// Its own flag for the bias behind attention.
void read_seed_oss(const ConfigReading& in) {
  read_llama_like(in);
  in.shape().output_bias = in.reader.flag("attention_out_bias", false);
  in.pass("residual_dropout");
}

// Names of its own for layers and activation.
void read_exaone(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.layers = in.size_of("num_layers", "num_hidden_layers");
  shape.hidden = in.reader.size("hidden_size");
  shape.heads = in.reader.size("num_attention_heads");
  shape.kv_heads = in.reader.size("num_key_value_heads", shape.heads);
  shape.head_size = in.reader.find("head_dim") == nullptr ? 0 : in.reader.size("head_dim");
  shape.feed_forward = in.reader.size("intermediate_size");
  shape.vocabulary = in.reader.size("vocab_size");
  in.file.longest = in.size_or_none("max_position_embeddings");
  read_rotary(in);
  shape.norm = NormKind::kRmsNorm;
  shape.gated = true;
  shape.biases = false;
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", false);
  read_activation(in, "activation_function", "silu");
  in.pass("num_layers num_hidden_layers embed_dropout");
}

// Norms of both halves' outputs, none of their inputs: as many. The pattern of windows is in layer_types.
void read_exaone4(const ConfigReading& in) {
  read_llama_like(in);
  in.shape().qk_norm = QueryKeyNorm::kHead;
  read_window(in, {.full_every = 4});
  in.pass("sliding_window_pattern");
}

void read_hunyuan(const ConfigReading& in) {
  read_llama_like(in);
  if (in.reader.flag("use_qk_norm", true)) in.shape().qk_norm = QueryKeyNorm::kHead;
  in.pass("use_cla cla_share_factor org_vocab_size");
}

// Multiplications of a search: attention or the MLP of a block narrower, or not there.
std::int64_t nas_width(const ConfigReading& in, const JsonValue& half) {
  double times = 0;
  for (const JsonValue& member : half.children) {
    if (member.key == "ffn_mult" && member.kind == JsonValue::Kind::kFraction) times = std::atof(member.text.c_str());
    if (member.key == "ffn_mult" && member.kind == JsonValue::Kind::kInteger)
      times = static_cast<double>(member.integer);
  }
  if (times <= 0 || times > 1000) return 0;
  const auto width = static_cast<std::int64_t>(2 * times * static_cast<double>(in.shape().hidden) / 3);
  return (width + 255) / 256 * 256;
}

const JsonValue* nas_member(const JsonValue& object, std::string_view key) {
  for (const JsonValue& member : object.children) {
    if (member.key == key) return member.kind == JsonValue::Kind::kNull ? nullptr : &member;
  }
  return nullptr;
}

bool nas_yes(const JsonValue* half, std::string_view key) {
  const JsonValue* value = half == nullptr ? nullptr : nas_member(*half, key);
  return value != nullptr && value->kind == JsonValue::Kind::kBoolean && value->text == "true";
}

void read_nas_block(const ConfigReading& in, const JsonValue& one, BlockKind& block) {
  const JsonValue* attention = nas_member(one, "attention");
  const JsonValue* ffn = nas_member(one, "ffn");
  for (const JsonValue* half : {attention, ffn}) {
    if (nas_yes(half, "replace_with_linear")) return in.refuse("block_configs", "\"replace_with_linear\" of a block");
    if (half != nullptr && nas_member(*half, "sparsify") != nullptr) {
      return in.refuse("block_configs", "\"sparsify\" of a block");
    }
  }
  if (attention == nullptr || ffn == nullptr) {
    return in.reader.complain("P012", "block_configs", "a block without \"attention\" or \"ffn\"",
                              "each block has both, with \"no_op\" where it has none");
  }
  if (nas_member(*attention, "window_length") != nullptr)
    return in.refuse("block_configs", "\"window_length\" of a block");
  block.attention = !nas_yes(attention, "no_op");
  block.mlp = !nas_yes(ffn, "no_op");
  const JsonValue* group = nas_member(*attention, "n_heads_in_group");
  if (block.attention && group != nullptr && group->integer > 0 && in.shape().heads % group->integer == 0) {
    block.kv_heads = in.shape().heads / group->integer;
  } else if (block.attention) {
    in.reader.complain("P012", "block_configs", "\"n_heads_in_group\" of a block does not divide its heads",
                       "it is how many heads share keys and values");
  }
  if (!block.mlp) return;
  block.feed_forward = nas_width(in, *ffn);
  if (block.feed_forward == 0) {
    in.reader.complain("P012", "block_configs", "a block without \"ffn_mult\"", "it says how wide the MLP is");
  }
}

void read_nemotron_nas(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  read_common_sizes(in);
  read_rotary(in);
  shape.norm = NormKind::kRmsNorm;
  shape.gated = true;
  read_llama_biases(in);
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", false);
  read_activation(in, "hidden_act", "silu");
  in.pass("intermediate_size num_key_value_heads");
  const JsonValue* blocks = in.reader.find("block_configs");
  const auto given = blocks == nullptr ? 0 : static_cast<std::int64_t>(blocks->children.size());
  if (given != shape.layers) {
    return in.reader.complain("P012", "block_configs",
                              std::to_string(given) + " blocks of " + std::to_string(shape.layers) + " layers",
                              "there is one for each layer");
  }
  std::vector<BlockKind> kinds(static_cast<std::size_t>(shape.layers));
  for (std::size_t k = 0; k < kinds.size(); ++k) read_nas_block(in, blocks->children[k], kinds[k]);
  set_blocks(kinds, shape);
}

}  // namespace

const std::vector<ModelFamily>& llama_families() {
  static const std::vector<ModelFamily> families{
      {"llama", read_llama_config},
      {"mistral ministral ministral3", read_mistral},
      {"smollm3 granite Yi", read_llama_config},
      {"qwen", read_qwen},
      {"qwen2 qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text mimo", read_qwen2},
      {"qwen3 qwen3_vl_text", read_qwen3},
      {"gemma", read_gemma},
      {"gemma2", read_gemma2},
      {"gemma3 gemma3_text", read_gemma3},
      {"phi3", read_phi3},
      {"baichuan", read_baichuan},
      {"internlm internlm2 internlm3", read_internlm},
      {"cohere", read_cohere},
      {"cohere2", read_cohere2},
      {"stablelm stablelm_epoch", read_stablelm},
      {"olmo", read_olmo},
      {"olmo2 olmo3", read_olmo2},
      {"glm", read_glm},
      {"glm4", read_glm4},
      {"chatglm", read_chatglm},
      {"nemotron", read_nemotron},
      {"nemotron-nas", read_nemotron_nas},
      {"starcoder2", read_starcoder2},
      {"ernie4_5", read_ernie},
      {"seed_oss", read_seed_oss},
      {"exaone", read_exaone},
      {"exaone4", read_exaone4},
      {"hunyuan_v1_dense", read_hunyuan}};
  return families;
}

}  // namespace debubble
