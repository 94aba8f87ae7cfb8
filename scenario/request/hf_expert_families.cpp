// Families with experts.
#include "formats/text/text.hpp"
#include "scenario/request/hf_reading.hpp"

namespace debubble {
namespace {

// Qwen's: experts in every `decoder_sparse_step`-th block but those named.
void read_qwen_moe(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.experts = in.reader.size("num_experts");
  shape.experts_per_token = in.reader.size("num_experts_per_tok");
  shape.expert_feed_forward = in.reader.size("moe_intermediate_size");
  shape.moe_every = in.reader.size("decoder_sparse_step", 1);
  if (shape.moe_every > 1) shape.dense_layers = shape.moe_every - 1;
  set_expert_blocks(in, "mlp_only_layers", false);
  pass_router_constants(in);
}

void read_qwen3_moe(const ConfigReading& in) {
  read_llama_like(in);
  in.shape().qk_norm = QueryKeyNorm::kHead;
  read_window(in, {.used = in.reader.flag("use_sliding_window", false)});
  in.pass("use_qk_norm qkv_bias");
  if (in.size_or_none("shared_expert_intermediate_size") > 0) {
    in.refuse("shared_expert_intermediate_size", "a shared expert of Qwen3's MoE, which its model class has not");
  }
}

void read_latent_attention(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.query_rank = in.reader.find("q_lora_rank") == nullptr ? 0 : in.reader.size("q_lora_rank");
  shape.kv_rank = in.reader.size("kv_lora_rank");
  shape.head_size = in.reader.size("qk_nope_head_dim");
  shape.rope_size = in.reader.size("qk_rope_head_dim");
  shape.value_size = in.reader.size("v_head_dim");
  in.pass("qk_head_dim");
  shape.kv_heads = shape.heads;
}

// Routed without regard to groups where there is one, or where the method says so.
void read_expert_groups(const ConfigReading& in) {
  const std::int64_t groups = in.size_or_none("n_group");
  const std::int64_t per_token = in.size_or_none("topk_group");
  if (groups <= 1 || in.reader.word("topk_method", "") == "greedy") return;
  in.shape().expert_groups = groups;
  in.shape().groups_per_token = per_token;
}

// DeepSeek's: the first blocks dense, shared experts beside routed ones.
void read_deepseek_experts(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.experts = in.size_or_none("n_routed_experts");
  pass_router_constants(in);
  const bool balance = in.reader.word("topk_method", "") == "noaux_tc";
  shape.predicted_tokens = in.size_or_none("num_nextn_predict_layers");
  if (shape.experts == 0) return;
  shape.expert_balance = balance;
  shape.experts_per_token = in.reader.size("num_experts_per_tok");
  read_expert_groups(in);
  shape.expert_feed_forward = in.reader.size("moe_intermediate_size");
  shape.shared_experts = in.size_or_none("n_shared_experts");
  shape.shared_feed_forward = shape.shared_experts * shape.expert_feed_forward;
  shape.dense_layers = in.size_or_none("first_k_dense_replace");
  shape.moe_every = in.reader.size("moe_layer_freq", 1);
}

void read_indexer(const ConfigReading& in) {
  in.refuse("index_topk", "attention to the keys that an indexer picks (DeepSeek sparse attention)");
}

void read_shared_expert(const ConfigReading& in) {
  in.shape().shared_experts = in.shape().shared_feed_forward > 0 ? 1 : 0;
}

// Ling's; the second design has norms of queries and keys, a balance, and predicts further ahead.
void read_bailing(const ConfigReading& in) {
  read_llama_like(in);
  TransformerShape& shape = in.shape();
  const bool biases = in.reader.flag("use_bias", false);
  shape.qkv_biases = in.reader.flag("use_qkv_bias", false);
  shape.output_bias = biases;
  if (in.reader.flag("use_qk_norm", false)) shape.qk_norm = QueryKeyNorm::kHead;
  shape.experts = in.reader.size("num_experts");
  shape.experts_per_token = in.reader.size("num_experts_per_tok");
  shape.expert_feed_forward = in.reader.size("moe_intermediate_size");
  shape.shared_experts = in.size_or_none("num_shared_experts");
  shape.shared_feed_forward =
      shape.shared_experts * in.reader.size("moe_shared_expert_intermediate_size", shape.expert_feed_forward);
  shape.dense_layers = in.size_or_none("first_k_dense_replace");
  shape.expert_balance = in.reader.flag("moe_router_enable_expert_bias", false);
  shape.predicted_tokens = in.size_or_none("num_nextn_predict_layers");
  read_expert_groups(in);
  pass_router_constants(in);
  in.pass("norm_head norm_softmax score_function router_type use_rmsnorm multi_gate");
}

// Hunyuan's: one number, or one for each layer, which must be the same.
std::int64_t same_in_all_layers(const ConfigReading& in, const char* key, std::int64_t fallback) {
  const JsonValue* value = in.reader.find(key);
  if (value == nullptr || value->kind != JsonValue::Kind::kArray) {
    return fallback > 0 ? in.reader.size(key, fallback) : in.reader.size(key);
  }
  for (const JsonValue& one : value->children) {
    if (one.kind == JsonValue::Kind::kInteger && one.integer == value->children.front().integer) continue;
    in.refuse(key, "a number that differs from layer to layer");
    return 1;
  }
  const bool one = !value->children.empty() && value->children.front().integer >= 1;
  if (one && value->children.front().integer <= (std::int64_t{1} << 24)) return value->children.front().integer;
  in.reader.complain("P004", key, in_quotes(key) + " must have whole numbers from 1 to 2^24", "one for each layer");
  return 1;
}

void read_hunyuan_moe(const ConfigReading& in) {
  read_llama_like(in);
  TransformerShape& shape = in.shape();
  if (in.reader.flag("use_qk_norm", true)) shape.qk_norm = QueryKeyNorm::kHead;
  shape.experts = same_in_all_layers(in, "num_experts", 0);
  shape.experts_per_token = same_in_all_layers(in, "moe_topk", 1);
  shape.expert_feed_forward = same_in_all_layers(in, "moe_intermediate_size", shape.feed_forward);
  const bool shared = in.reader.flag("use_mixed_mlp_moe", true);
  shape.shared_experts = shared ? same_in_all_layers(in, "num_shared_expert", 1) : 0;
  shape.shared_feed_forward = shape.shared_experts * shape.feed_forward;
  pass_router_constants(in);
  in.pass(
      "use_cla cla_share_factor org_vocab_size attention_head_dim num_shared_expert capacity_factor moe_drop_tokens "
      "moe_random_routing_dropped_token use_mla");
}

// MiniMax-M2: ordinary attention; its modules that predict further ahead are not in the published weights' class.
void read_minimax_m2(const ConfigReading& in) {
  read_llama_like(in);
  TransformerShape& shape = in.shape();
  if (in.reader.flag("use_qk_norm", true)) shape.qk_norm = QueryKeyNorm::kWhole;
  shape.experts = in.reader.size("num_local_experts");
  shape.experts_per_token = in.reader.size("num_experts_per_tok");
  shape.expert_feed_forward = shape.feed_forward;
  shape.expert_balance = in.reader.flag("use_routing_bias", true);
  if (in.size_or_none("num_mtp_modules") > 0) in.note("\"num_mtp_modules\" is left out: the model without them");
  const JsonValue* kinds = in.reader.find("attn_type_list");
  for (const JsonValue& one : kinds == nullptr ? std::vector<JsonValue>{} : kinds->children) {
    if (one.integer != 1) return in.refuse("attn_type_list", "linear (lightning) attention");
  }
  pass_router_constants(in);
  in.pass(
      "use_mtp mtp_transformer_layers qk_norm_type scoring_func shared_intermediate_size attn_window_size rotary_dim");
}

// Experts in every so many-th block, each with one shared expert as wide as a routed one; attention begins anew at
// multiples of the chunk where a block has rotary positions.
void read_llama4(const ConfigReading& in) {
  read_llama_like(in);
  TransformerShape& shape = in.shape();
  shape.expert_feed_forward = shape.feed_forward;
  shape.feed_forward = in.reader.size("intermediate_size_mlp");
  shape.experts = in.reader.size("num_local_experts");
  shape.experts_per_token = in.reader.size("num_experts_per_tok");
  shape.shared_experts = 1;
  shape.shared_feed_forward = shape.expert_feed_forward;
  shape.moe_every = in.reader.size("interleave_moe_layer_step", 1);
  shape.dense_layers = shape.moe_every - 1;
  if (in.reader.flag("use_qk_norm", true)) shape.qk_norm = QueryKeyNorm::kPlain;
  shape.chunked_window = true;
  read_window(in, {.full_every = 4, .key = "attention_chunk_size"});
  set_expert_blocks(in, "moe_layers", true);
  in.pass("attn_scale attn_temperature_tuning floor_scale for_llm_compressor");
  pass_router_constants(in);
}

void read_ernie_moe(const ConfigReading& in) {
  read_llama_like(in);
  TransformerShape& shape = in.shape();
  shape.biases = in.reader.flag("use_bias", false);
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", true);
  shape.experts = in.reader.size("moe_num_experts");
  shape.experts_per_token = in.reader.size("moe_k", 2);
  shape.expert_feed_forward = in.reader.size("moe_intermediate_size");
  shape.shared_experts = in.size_or_none("moe_num_shared_experts");
  shape.shared_feed_forward = shape.shared_experts * shape.expert_feed_forward;
  shape.expert_balance = true;
  const std::int64_t every = in.reader.size("moe_layer_interval", 1);
  const std::int64_t first = in.size_or_none("moe_layer_start_index");
  shape.moe_every = every;
  shape.dense_layers = first == 0 ? every - 1 : (first + every - 1) / every * every + (every > 1 ? every - 1 : 0);
  in.pass(
      "moe_layer_end_index moe_capacity moe_gate moe_use_aux_free moe_aux_loss_lambda num_nextn_predict_layers "
      "use_bias moe_orthogonal_loss_lambda moe_z_loss_lambda");
  pass_router_constants(in);
}

// DBRX keeps what belongs to a half in an object of its own.
void read_dbrx(const ConfigReading& in) {
  TransformerShape& shape = in.shape();
  shape.layers = in.reader.size("n_layers");
  shape.hidden = in.reader.size("d_model");
  shape.heads = in.reader.size("n_heads");
  shape.vocabulary = in.reader.size("vocab_size");
  in.file.longest = in.size_or_none("max_seq_len");
  shape.norm = NormKind::kLayerNorm;
  shape.norm_vectors = 1;
  shape.gated = true;
  shape.biases = false;
  shape.activation = ActivationKind::kSilu;
  shape.tied_embedding = in.reader.flag("tie_word_embeddings", false);
  const JsonValue* attention = in.reader.find("attn_config");
  const JsonValue* experts = in.reader.find("ffn_config");
  if (attention == nullptr || experts == nullptr) {
    return in.reader.complain("P006", "", "\"attn_config\" or \"ffn_config\" is missing",
                              "the size of the model depends on it");
  }
  ConfigReader heads(*attention, in.problems, "/attn_config");
  shape.kv_heads = heads.size("kv_n_heads", shape.heads);
  ConfigReader ffn(*experts, in.problems, "/ffn_config");
  shape.experts = ffn.size("moe_num_experts", 4);
  shape.experts_per_token = ffn.size("moe_top_k", 1);
  shape.expert_feed_forward = ffn.size("ffn_hidden_size");
  pass_router_constants(in);
  in.pass("emb_pdrop resid_pdrop max_seq_len");
}

}  // namespace

const std::vector<FamilyReader>& expert_readers() {
  static const std::vector<FamilyReader> readers{{"router", pass_router_constants},
                                                 {"qwen-experts", read_qwen_moe},
                                                 {"qwen3-moe", read_qwen3_moe},
                                                 {"latent-attention", read_latent_attention},
                                                 {"deepseek-experts", read_deepseek_experts},
                                                 {"sparse-attention", read_indexer},
                                                 {"one-shared-expert", read_shared_expert},
                                                 {"llama4", read_llama4},
                                                 {"ernie-moe", read_ernie_moe},
                                                 {"dbrx", read_dbrx},
                                                 {"bailing", read_bailing},
                                                 {"hunyuan-moe", read_hunyuan_moe},
                                                 {"minimax-m2", read_minimax_m2}};
  return readers;
}

}  // namespace debubble
