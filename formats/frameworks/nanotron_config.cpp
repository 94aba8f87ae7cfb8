// Nanotron's YAML, in Megatron-LM's arguments.
#include <algorithm>

#include "formats/frameworks/megatron_words.hpp"
#include "formats/text/text.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

// Nanotron: a Hugging Face configuration of the model, and degrees.
class NanotronReader {
 public:
  NanotronReader(ConfigTree& tree, const FrameworkRequest& request)
      : tree_(tree), request_(request), words_(tree, request) {}

  FrameworkScenario run() {
    tree_.pass_words("checkpoints data_stages general lighteval logging profiler tokenizer s3_upload metrics_logging");
    read_model();
    read_parallelism();
    read_tokens();
    read_optimizer();
    words_.cut("nanotron");
    FrameworkScenario scenario = words_.scenario(world_, "");
    if (all_forward_ && pipeline_ > 1) scenario.set("param", std::string("backward=ascending"));
    for (auto& [flag, value] : scenario.flags) {
      if (flag == "schedule" && all_forward_) value = "gpipe";
      if (flag == "model-size" && window_ > 0) value += ",window=" + std::to_string(window_);
    }
    return scenario;
  }

 private:
  void read_model() {
    const std::string model = "model.model_config.";
    if (tree_.flag(model + "is_mamba_config") || tree_.has(model + "ssm_cfg") || tree_.has(model + "d_model")) {
      const char* key = tree_.has(model + "ssm_cfg") ? "ssm_cfg" : "is_mamba_config";
      tree_.complain("F033", model + key, "a state-space (Mamba) model is not modelled", "transformers are");
      return tree_.pass("model");
    }
    words_.copy(model + "num_hidden_layers", "num-layers");
    words_.copy(model + "hidden_size", "hidden-size");
    words_.copy(model + "num_attention_heads", "num-attention-heads");
    words_.copy(model + "intermediate_size", "ffn-hidden-size");
    words_.copy(model + "max_position_embeddings", "max-position-embeddings");
    words_.copy(model + "vocab_size", "padded-vocab-size");
    words_.copy("model.make_vocab_size_divisible_by", "make-vocab-size-divisible-by");
    if (tree_.has(model + "num_key_value_heads")) {
      words_.flag("group-query-attention");
      words_.copy(model + "num_key_value_heads", "num-query-groups");
    }
    for (const char* word : {"swiglu", "disable-bias-linear"}) words_.flag(word);
    words_.argument("normalization", std::string("RMSNorm"));
    words_.argument("position-embedding-type", std::string("rope"));
    if (tree_.flag(model + "attention_bias", tree_.flag(model + "is_qwen2_config"))) words_.flag("add-qkv-bias");
    if (!tree_.flag(model + "tie_word_embeddings")) words_.flag("untie-embeddings-and-output-weights");
    read_experts(model + "moe_config.");
    window_ = tree_.number(model + "sliding_window_size", 1).value_or(0);
    const std::string type = tree_.word("model.dtype").value_or("bfloat16");
    if (type == "bfloat16") words_.flag("bf16");
    if (type == "float16") words_.flag("fp16");
    tree_.pass_words(
        "bos_token_id eos_token_id pad_token_id hidden_act initializer_range is_llama_config is_qwen2_config "
        "pretraining_tp rms_norm_eps rope_scaling rope_theta rope_interleaved use_cache "
        "rope_seq_len_interpolation_factor _attn_implementation attention_dropout z_loss_enabled z_loss_coefficient "
        "no_rope_layer _fused_rotary_emb _fused_rms_norm _use_qkv_packed _use_doc_masking flex_attention_mask "
        "log_attn_probs ring_attn_heads_k_stride",
        model);
    tree_.pass("model.init_method");
    tree_.pass("model.ddp_bucket_cap_mb");
    words_.flag("use-flash-attn");
    for (const char* dropout : {"hidden-dropout", "attention-dropout"}) words_.argument(dropout, std::string("0.0"));
  }

  void read_experts(const std::string& section) {
    if (!tree_.has(section + "num_experts")) return;
    words_.copy(section + "num_experts", "num-experts");
    words_.copy(section + "top_k", "moe-router-topk");
    words_.copy(section + "moe_hidden_size", "hidden-size");
    words_.copy(section + "moe_intermediate_size", "moe-ffn-hidden-size");
    const auto shared = tree_.number(section + "shared_expert_intermediate_size");
    const bool beside = tree_.flag(section + "enable_shared_expert");
    if (beside && shared && *shared > 0) words_.argument("moe-shared-expert-intermediate-size", *shared);
    if (beside && !shared)
      words_.find("moe_config.enable_shared_expert without its width: the shared expert is left out");
    if (tree_.has(section + "layers") && tree_.find(section + "layers")->children.size() != 1) {
      words_.find("moe_config.layers: all blocks count with experts");
    }
    tree_.pass(section + "layers");
    tree_.pass_words("token_dispatcher_type use_torch_permute use_haste", section);
  }

  void read_parallelism() {
    const std::int64_t data = tree_.number("parallelism.dp", 1).value_or(1);
    const std::int64_t tensor = tree_.number("parallelism.tp", 1, kMostMeshRanks).value_or(1);
    const std::int64_t pipeline = tree_.number("parallelism.pp", 1, kMostMeshRanks).value_or(1);
    const std::int64_t expert = tree_.number("parallelism.expert_parallel_size", 1, kMostMeshRanks).value_or(1);
    const std::int64_t context = tree_.number("parallelism.context_parallel_size", 1, kMostMeshRanks).value_or(1);
    world_ = data * tensor * pipeline * context;
    data_ =
        request_.world_size ? std::max<std::int64_t>(1, *request_.world_size / (tensor * pipeline * context)) : data;
    words_.argument("tensor-model-parallel-size", tensor);
    words_.argument("pipeline-model-parallel-size", pipeline);
    if (context > 1) words_.argument("context-parallel-size", context);
    if (expert > 1) words_.argument("expert-model-parallel-size", expert);
    std::string mode = tree_.word("parallelism.tp_mode").value_or("all_reduce");
    std::transform(mode.begin(), mode.end(), mode.begin(), lower_case);
    if (mode == "reduce_scatter") words_.flag("sequence-parallel");
    const std::string engine = tree_.word("parallelism.pp_engine").value_or("afab");
    all_forward_ = engine == "afab";
    pipeline_ = pipeline;
    if (engine != "1f1b" && engine != "afab") {
      tree_.complain("P011", "parallelism.pp_engine", in_quotes(engine) + " is none of 1f1b and afab",
                     "write one of them");
    }
    if (tree_.flag("parallelism.recompute_layer")) {
      words_.argument("recompute-granularity", std::string("full"));
      words_.argument("recompute-method", std::string("uniform"));
    }
    tree_.pass_words(
        "tp_linear_async_communication tp_recompute_allgather expert_data_parallel_size moe_layer_recompute",
        "parallelism.");
  }

  void read_tokens() {
    const std::int64_t micro = tree_.number("tokens.micro_batch_size", 1).value_or(1);
    const std::int64_t steps = tree_.number("tokens.batch_accumulation_per_replica", 1).value_or(1);
    RuleFacts facts;
    facts.set("ENGINE", RuleFacts::Words{all_forward_ ? "afab" : "1f1b"});
    facts.set("MICROBATCHES", steps);
    facts.set("PIPELINE", pipeline_);
    refuse_by_rules(tree_, "nanotron", facts);
    words_.argument("micro-batch-size", micro);
    words_.argument("global-batch-size", micro * steps * data_);
    words_.copy("tokens.sequence_length", "seq-length");
    tree_.pass("tokens");
  }

  void read_optimizer() {
    const std::int64_t zero = tree_.number("optimizer.zero_stage").value_or(0);
    if (zero > 0) words_.flag("use-distributed-optimizer");  // each stage above 0 shards the optimizer alone
    if (!tree_.flag("optimizer.accumulate_grad_in_fp32", true)) {
      words_.find("accumulate_grad_in_fp32 is false: gradients are counted in 32 bits; write grad-dtype = \"bf16\"");
    }
    tree_.pass("optimizer");
  }

  ConfigTree& tree_;
  const FrameworkRequest& request_;
  MegatronWords words_;
  std::int64_t world_ = 1;
  std::int64_t data_ = 1;
  std::int64_t pipeline_ = 1;
  std::int64_t window_ = 0;
  bool all_forward_ = false;
};

}  // namespace

FrameworkScenario read_nanotron(ConfigTree& tree, const FrameworkRequest& request) {
  return NanotronReader(tree, request).run();
}

}  // namespace debubble
