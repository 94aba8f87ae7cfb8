#include "studies/paste/megatron_model.hpp"

#include <algorithm>

namespace debubble {
namespace {

void write_attention(const TransformerShape& shape, PastePart& part) {
  if (shape.kv_rank > 0) {
    part.flag("--multi-latent-attention");
    if (shape.query_rank > 0) part.value("--q-lora-rank", shape.query_rank);
    part.value("--kv-lora-rank", shape.kv_rank);
    part.value("--qk-head-dim", shape.head_size);
    part.value("--qk-pos-emb-head-dim", shape.rope_size);
    part.value("--v-head-dim", shape.value_size);
    part.flag("--qk-layernorm");  // of the narrow spaces
    return;
  }
  part.value("--kv-channels", shape.head_size);
  if (shape.kv_heads != shape.heads) {
    part.flag("--group-query-attention");
    part.value("--num-query-groups", shape.kv_heads);
  }
  if (shape.qk_norm != QueryKeyNorm::kNone) part.flag("--qk-layernorm");
}

void write_experts(const TransformerShape& shape, PastePart& part) {
  if (shape.predicted_tokens > 0) part.value("--mtp-num-layers", shape.predicted_tokens);
  if (shape.experts == 0) return;
  part.value("--num-experts", shape.experts);
  part.value("--moe-router-topk", shape.experts_per_token);
  if (shape.experts_per_token == 1) part.flag("--moe-router-pre-softmax");  // else it refuses one expert per token
  if (shape.expert_groups > 1) {
    part.value("--moe-router-num-groups", shape.expert_groups);
    part.value("--moe-router-group-topk", shape.groups_per_token);
  }
  part.value("--moe-ffn-hidden-size", shape.expert_feed_forward);
  part.flag("--moe-grouped-gemm");
  if (shape.shared_feed_forward > 0) part.value("--moe-shared-expert-intermediate-size", shape.shared_feed_forward);
  if (shape.shared_gate) part.flag("--moe-shared-expert-gate");
  if (shape.moe_every > 1) {
    part.value("--moe-layer-freq", shape.moe_every);
  } else if (shape.dense_layers > 0) {
    part.word("--moe-layer-freq", "([0]*" + std::to_string(shape.dense_layers) + "+[1]*" +
                                      std::to_string(shape.layers - shape.dense_layers) + ")");
  }
}

void note_losses(const TransformerShape& shape, PastePart& part) {
  if (shape.window > 0) part.note("windows: --window-size and --window-attn-skip-freq of recent Megatron-Core");
  if (!shape.kind_of_block.empty()) part.note("blocks of several kinds need a specification in Python");
  if (shape.qk_norm == QueryKeyNorm::kWhole || shape.qk_norm == QueryKeyNorm::kPlain)
    part.note("--qk-layernorm norms each head of queries and keys, the model all heads, or without weights");
  if (shape.attention_sinks) part.note("attention sinks: --softmax-type learnable of recent Megatron-Core");
  if (!shape.biases && (shape.output_bias || shape.mlp_biases || shape.router_bias || shape.head_bias))
    part.note("biases of attention's output, MLPs, routers or logits alone have no argument, and are left out");
  if (shape.moe_every > 1 && shape.dense_layers > 0) part.note("blocks with experts: as many, from the first block on");
  if (shape.block_norms != 2) part.note("its blocks have two norms, the model's " + std::to_string(shape.block_norms));
}

}  // namespace

void write_megatron_model(const RunToPaste& run, PastePart& part) {
  const TransformerShape& shape = run.setup->shape;
  part.value("--num-layers", shape.layers);
  part.value("--hidden-size", shape.hidden);
  part.value("--num-attention-heads", shape.heads);
  part.value("--ffn-hidden-size", shape.feed_forward);
  part.value("--seq-length", run.setup->sequence);
  part.value("--max-position-embeddings", std::max(run.setup->sequence, shape.positions));
  part.value("--vocab-size", shape.vocabulary);
  if (shape.vocabulary_unit != 128) part.value("--make-vocab-size-divisible-by", shape.vocabulary_unit);
  write_attention(shape, part);
  write_experts(shape, part);
  if (shape.positions == 0) part.word("--position-embedding-type", "rope");
  if (shape.norm == NormKind::kRmsNorm) part.word("--normalization", "RMSNorm");
  if (shape.gated) part.flag("--swiglu");
  if (!shape.biases) part.flag("--disable-bias-linear");
  if (!shape.biases && shape.qkv_biases) part.flag("--add-qkv-bias");
  if (!shape.tied_embedding) part.flag("--untie-embeddings-and-output-weights");
  note_losses(shape, part);
}

}  // namespace debubble
