// Families that are built like LLaMA, without experts.
#include <cstdlib>

#include "formats/text/text.hpp"
#include "scenario/request/hf_reading.hpp"

namespace debubble {
namespace {

// Gemma's own activation is the newer key's; files leave out what is as the class has it.
void read_gemma_like(const ConfigReading& in, const ClassSizes& of_class) {
  const bool newer = in.reader.find("hidden_activation") != nullptr;
  read_llama_like(in, "gelu_pytorch_tanh", of_class);
  if (newer) read_activation(in, "hidden_activation", "gelu_pytorch_tanh");
  in.shape().tied_embedding = in.reader.flag("tie_word_embeddings", true);
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

const std::vector<FamilyReader>& llama_readers() {
  static const std::vector<FamilyReader> readers{
      {"switched-window", read_switched_window},
      // Qwen's first: the key counts both ways up.
      {"halved-mlp", [](const ConfigReading& in) { in.shape().feed_forward /= 2; }},
      {"gemma-sizes", [](const ConfigReading& in) { read_gemma_like(in, {.head_size = 256}); }},
      {"gemma2-sizes",
       [](const ConfigReading& in) {
         read_gemma_like(in, {8, 4, 256, 256'000});
       }},
      {"gemma3-sizes",
       [](const ConfigReading& in) {
         read_gemma_like(in, {8, 4, 256, 262'208});
       }},
      {"internlm", read_internlm},
      {"chatglm", read_chatglm},
      {"nemotron-nas", read_nemotron_nas},
      {"starcoder2", read_starcoder2},
      {"exaone", read_exaone}};
  return readers;
}

}  // namespace debubble
