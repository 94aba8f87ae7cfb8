// Families that are built like GPT.
#include "formats/text/text.hpp"
#include "scenario/request/hf_reading.hpp"

namespace debubble {
namespace {

void pass_gpt2_details(const ConfigReading& in) {
  in.pass(
      "scale_attn_weights scale_attn_by_inverse_layer_idx attention_softmax_in_fp32 scale_attention_softmax_in_fp32 "
      "validate_runner_input pad_key_length inference_runner pre_allocate_kv_cache max_sequence_length max_batch_size "
      "runner_max_sequence_length");
  if (in.reader.flag("reorder_and_upcast_attn", false)) in.note("attention in fp32 counts as in the model's format");
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
  pass_gpt2_details(in);
  if (in.reader.flag("add_cross_attention", false)) in.refuse("add_cross_attention", "attention to an encoder");
}

// StarCoder: one head of keys and values.
void read_gpt_bigcode(const ConfigReading& in) {
  read_gpt2_config(in);
  in.shape().kv_heads = in.reader.flag("multi_query", true) ? 1 : in.shape().heads;
}

// Windows of 256 tokens in every second block.
void read_gpt_neo(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.layers = in.reader.size("num_layers");
  shape.hidden = in.reader.size("hidden_size");
  shape.heads = in.reader.size("num_heads");
  shape.feed_forward =
      in.reader.find("intermediate_size") == nullptr ? 4 * shape.hidden : in.reader.size("intermediate_size");
  shape.vocabulary = in.reader.size("vocab_size");
  shape.positions = in.reader.size("max_position_embeddings");
  in.file.longest = shape.positions;
  read_activation(in, "activation_function", "gelu_new");
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", true);
  shape.biases = false;
  shape.output_bias = true;
  shape.mlp_biases = true;
  in.pass("embed_dropout resid_dropout window_size attention_types");
  const JsonValue* kinds = in.reader.find("attention_layers");
  std::vector<BlockKind> blocks = blocks_of(shape);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const bool listed = kinds != nullptr && k < kinds->children.size();
    blocks[k].windowed = listed ? kinds->children[k].text == "local" : k % 2 == 1;
  }
  shape.window = in.reader.size("window_size", 256);
  set_blocks(blocks, shape);
}

void read_gpt_neox_config(const ConfigReading& in) {
  read_common_sizes(in);
  in.shape().feed_forward = in.reader.size("intermediate_size");
  in.shape().tied_embedding = in.reader.flag("tie_word_embeddings", false);
  read_activation(in, "hidden_act", "gelu");
  read_rotary(in);
  in.pass("use_parallel_residual");
  if (in.reader.flag("attention_bias", true)) return;
  in.shape().biases = false;
  in.shape().mlp_biases = true;
}

// Two rows of positions more than it says.
void read_opt(const ConfigReading& in) {
  read_common_sizes(in);
  TransformerShape& shape = in.shape();
  shape.feed_forward = in.reader.size("ffn_dim");
  shape.positions = in.reader.size("max_position_embeddings") + 2;
  read_activation(in, "activation_function", "relu");
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", true);
  shape.biases = in.reader.flag("enable_bias", true);
  if (in.reader.size("word_embed_proj_dim", shape.hidden) != shape.hidden) {
    in.refuse("word_embed_proj_dim", "an embedding that is narrower than the model");
  }
  if (!in.reader.flag("do_layer_norm_before", true)) {
    in.refuse("do_layer_norm_before", "a model whose norms lie behind its residuals");
  }
  if (!in.reader.flag("layer_norm_elementwise_affine", true)) shape.norm_vectors = 0;
  in.pass("_remove_final_layer_norm activation_dropout dropout init_std layerdrop");
}

// Positions by a slope (ALiBi), and a norm behind the embedding.
void read_bloom(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.layers = in.size_of("n_layer", "num_hidden_layers");
  shape.hidden = in.size_of("hidden_size", "n_embed");
  shape.heads = in.size_of("n_head", "num_attention_heads");
  shape.vocabulary = in.reader.size("vocab_size");
  shape.feed_forward = 4 * shape.hidden;
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", true);
  shape.embedding_norm = true;
  in.file.longest = in.size_or_none("seq_length");
  in.pass(
      "apply_residual_connection_post_layernorm attention_softmax_in_fp32 masked_softmax_fusion offset_alibi "
      "skip_bias_add skip_bias_add_qkv slow_but_exact bias_dropout_fusion unk_token_id n_inner n_embed "
      "num_attention_heads num_hidden_layers hidden_size n_head n_layer");
}

// Falcon's three designs: the first has one head of keys and values whatever num_kv_heads says.
void read_falcon(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.layers = in.size_of("num_hidden_layers", "n_layer");
  shape.hidden = in.reader.size("hidden_size");
  shape.heads = in.size_of("num_attention_heads", "n_head");
  shape.vocabulary = in.reader.size("vocab_size");
  in.file.longest = in.size_or_none("max_position_embeddings");
  shape.feed_forward =
      in.reader.find("ffn_hidden_size") == nullptr ? 4 * shape.hidden : in.reader.size("ffn_hidden_size");
  const bool newer = in.reader.flag("new_decoder_architecture", false);
  const bool one = in.reader.flag("multi_query", true);
  const std::int64_t groups =
      in.reader.find("num_kv_heads") == nullptr ? in.size_or_none("n_head_kv") : in.reader.size("num_kv_heads");
  shape.kv_heads = newer ? (groups > 0 ? groups : shape.heads) : one ? 1 : shape.heads;
  shape.biases = in.reader.flag("bias", false);
  const bool parallel = in.reader.flag("parallel_attn", true);
  const std::int64_t norms = in.reader.size("num_ln_in_parallel_attn", newer ? 2 : 1);
  if (parallel || newer) shape.block_norms = norms;
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", true);
  read_activation(in, "activation", "gelu");
  read_rotary(in);
  in.pass("alibi apply_residual_connection_post_layernorm n_head_kv n_head n_layer num_kv_heads");
}

void read_phi(const ConfigReading& in) {
  read_common_sizes(in);
  TransformerShape& shape = in.shape();
  shape.kv_heads = in.reader.size("num_key_value_heads", shape.heads);
  shape.feed_forward = in.reader.size("intermediate_size");
  read_activation(in, "hidden_act", "gelu_new");
  read_rotary(in);
  shape.block_norms = 1;
  shape.head_bias = true;
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", false);
  if (in.reader.flag("qk_layernorm", false)) in.refuse("qk_layernorm", "a LayerNorm with biases of queries and keys");
}

void read_mpt(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.layers = in.reader.size("n_layers");
  shape.hidden = in.reader.size("d_model");
  shape.heads = in.reader.size("n_heads");
  shape.vocabulary = in.reader.size("vocab_size");
  shape.feed_forward = in.reader.size("expansion_ratio", 4) * shape.hidden;
  in.file.longest = in.size_or_none("max_seq_len");
  shape.biases = !in.reader.flag("no_bias", true);
  if (!shape.biases) shape.norm_vectors = 1;
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", true);
  bool sloped = false;
  if (const JsonValue* attention = in.reader.find("attn_config"); attention != nullptr) {
    ConfigReader half(*attention, in.problems, "/attn_config");
    sloped = half.flag("alibi", false);
    const std::string kind = half.word("attn_type", "multihead_attention");
    shape.kv_heads = kind == "multiquery_attention" ? 1 : half.size("kv_n_heads", shape.heads);
    if (half.flag("qk_ln", false)) in.refuse("attn_config", "\"qk_ln\"");
  }
  if (!sloped && in.reader.flag("learned_pos_emb", true)) shape.positions = in.reader.size("max_seq_len");
  in.pass(
      "emb_pdrop resid_pdrop embedding_fraction init_config init_device logit_scale norm_type verbose "
      "use_pad_tok_in_ffn learned_pos_emb layer_norm_epsilon ffn_config");
}

}  // namespace

const std::vector<FamilyReader>& gpt_readers() {
  static const std::vector<FamilyReader> readers{{"gpt2", read_gpt2_config}, {"gpt-bigcode", read_gpt_bigcode},
                                                 {"gpt-neo", read_gpt_neo},  {"gpt-neox", read_gpt_neox_config},
                                                 {"opt", read_opt},          {"bloom", read_bloom},
                                                 {"falcon", read_falcon},    {"phi", read_phi},
                                                 {"mpt", read_mpt}};
  return readers;
}

}  // namespace debubble
