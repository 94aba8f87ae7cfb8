// GPT-NeoX's YAML, in Megatron-LM's arguments.
#include <algorithm>

#include "formats/frameworks/megatron_words.hpp"
#include "formats/text/text.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

// GPT-NeoX: underscores or hyphens, DeepSpeed's sections among its own keys.
class NeoxReader {
 public:
  NeoxReader(ConfigTree& tree, const FrameworkRequest& request)
      : tree_(tree), request_(request), words_(tree, request) {}

  FrameworkScenario run() {
    read_model();
    read_split();
    read_precision();
    read_rest();
    FrameworkScenario scenario = words_.scenario(world_, "");
    bool replicas = false;
    for (auto& [flag, value] : scenario.flags) {
      replicas = replicas || flag == "dp";
      if (flag == "model-size" && window_ > 0) value += ",window=" + std::to_string(window_);
    }
    if (zero_ > 1 && replicas) scenario.set("zero", zero_);
    return scenario;
  }

 private:
  std::string key(const std::string& name) {
    std::string hyphens = name;
    std::replace(hyphens.begin(), hyphens.end(), '_', '-');
    return tree_.has(hyphens) ? hyphens : name;
  }

  void copy(const std::string& name, const std::string& argument) { words_.copy(key(name), argument); }

  void read_model() {
    copy("num_layers", "num-layers");
    copy("hidden_size", "hidden-size");
    copy("num_attention_heads", "num-attention-heads");
    copy("seq_length", "seq-length");
    copy("max_position_embeddings", "max-position-embeddings");
    copy("intermediate_size", "ffn-hidden-size");
    copy("make_vocab_size_divisible_by", "make-vocab-size-divisible-by");
    copy("padded_vocab_size", "padded-vocab-size");
    if (tree_.has(key("num_kv_heads"))) {
      words_.flag("group-query-attention");
      copy("num_kv_heads", "num-query-groups");
    }
    if (tree_.word(key("norm")).value_or("layernorm") == "rmsnorm")
      words_.argument("normalization", std::string("RMSNorm"));
    const std::string positions = tree_.word(key("pos_emb")).value_or("learned");
    if (positions == "rotary") words_.argument("position-embedding-type", std::string("rope"));
    if (positions != "rotary" && positions != "learned") words_.argument("position-embedding-type", positions);
    const std::string activation = tree_.word(key("activation")).value_or("gelu");
    if (activation == "swiglu" || tree_.word(key("mlp_type")).value_or("regular") == "llama") words_.flag("swiglu");
    if (!tree_.flag(key("use_bias_in_attn_linear"), true) && !tree_.flag(key("use_bias_in_mlp"), true)) {
      words_.flag("disable-bias-linear");
    } else if (tree_.has(key("use_bias_in_attn_linear")) && !tree_.flag(key("use_bias_in_attn_linear"), true)) {
      words_.find("use_bias_in_attn_linear is false: attention counts with its biases");
    }
    if (tree_.flag(key("no_weight_tying"))) words_.flag("untie-embeddings-and-output-weights");
    if (tree_.flag(key("gpt_j_residual"))) {
      words_.find(
          "gpt_j_residual: attention and MLP count one after the other; what they sum over tensor ranks does, too");
    }
    const std::string tokenizer = tree_.word(key("tokenizer_type")).value_or("GPT2BPETokenizer");
    words_.argument("tokenizer-type", tokenizer);
    read_experts();
    read_attention();
  }

  void read_experts() {
    const auto experts = tree_.number(key("moe_num_experts"), 1);
    if (!experts || *experts < 2) return;
    words_.argument("num-experts", *experts);
    words_.argument("moe-router-topk", tree_.number(key("moe_top_k"), 1).value_or(1));
    const std::int64_t every = tree_.number(key("moe_expert_interval"), 1).value_or(1);
    if (every > 1) words_.argument("moe-layer-freq", every);
    copy("moe_expert_parallel_size", "expert-model-parallel-size");
    for (const std::string_view name :
         words_in("moe_type moe_loss_coeff moe_router_type moe_aux_loss_coeff moe_lbl_in_fp32 moe_jitter_eps "
                  "enable_expert_tensor_parallelism moe_glu moe_num_layers"))
      tree_.pass(key(std::string(name)));
  }

  // A list of pairs, [[["flash"], 12]].
  void read_attention() {
    std::vector<std::string> kinds;
    const auto collect = [&](const auto& self, const JsonValue& value) -> void {
      if (value.kind == JsonValue::Kind::kString) kinds.push_back(value.text);
      for (const JsonValue& item : value.children) self(self, item);
    };
    if (const JsonValue* list = tree_.find(key("attention_config")); list != nullptr) collect(collect, *list);
    bool flash = false;
    for (const std::string& kind : kinds) {
      if (kind == "flash") flash = true;
      if (kind != "flash" && kind != "global" && kind != "all") {
        tree_.complain("F033", key("attention_config"), "attention of the kind " + in_quotes(kind) + " is not modelled",
                       "global and flash are");
      }
    }
    if (flash) {
      words_.flag("use-flash-attn");
    } else {
      words_.argument("transformer-impl", std::string("local"));
    }
    window_ = tree_.number(key("sliding_window_width"), 1).value_or(0);
  }

  void read_split() {
    const std::int64_t tensor = tree_.number(key("model_parallel_size"), 1, kMostMeshRanks).value_or(1);
    pipeline_ = std::max<std::int64_t>(1, tree_.number(key("pipe_parallel_size"), 0, kMostMeshRanks).value_or(1));
    const std::int64_t context = tree_.number(key("context_parallel_size"), 1, kMostMeshRanks).value_or(1);
    words_.argument("tensor-model-parallel-size", tensor);
    words_.argument("pipeline-model-parallel-size", pipeline_);
    if (context > 1) words_.argument("context-parallel-size", context);
    if (tree_.flag(key("sequence_parallel"))) words_.flag("sequence-parallel");
    const auto ranks = tree_.number(key("global_num_gpus"), 1);
    const auto micro = tree_.number(key("train_micro_batch_size_per_gpu"), 1);
    const auto steps = tree_.number(key("gradient_accumulation_steps"), 1);
    const auto batch = tree_.number(key("train_batch_size"), 1);
    const std::int64_t model = tensor * pipeline_ * context;
    if (ranks) world_ = *ranks;
    if (request_.world_size) world_ = *request_.world_size;
    if (world_ == 0 && batch && micro && steps) world_ = *batch / (*micro * *steps) * model;
    if (world_ == 0) return;
    const std::int64_t data = std::max<std::int64_t>(1, world_ / model);
    const std::int64_t size = micro ? *micro : batch ? *batch / (data * steps.value_or(1)) : 1;
    if (!micro && !batch) tree_.complain("F001", "train_micro_batch_size_per_gpu", "no batch is given", "write it");
    words_.argument("micro-batch-size", std::max<std::int64_t>(1, size));
    words_.argument("global-batch-size", batch ? *batch : size * steps.value_or(1) * data);
  }

  void read_precision() {
    const std::string precision = tree_.word(key("precision")).value_or("");
    const bool bfloat =
        precision == "bfloat16" || tree_.flag("bf16.enabled") || tree_.word("fp16.type").value_or("") == "bfloat16";
    const bool half = precision == "fp16" || tree_.flag("fp16.enabled");
    if (bfloat) words_.flag("bf16");
    if (half && !bfloat) words_.flag("fp16");
    tree_.pass_words("fp16 bf16");
    if (tree_.word("data_types.grad_accum_dtype").value_or("fp32") != "fp32") words_.flag("grad-reduce-in-bf16");
    tree_.pass("data_types");
    copy("hidden_dropout", "hidden-dropout");
    copy("attention_dropout", "attention-dropout");
    if (!tree_.has(key("hidden_dropout"))) words_.argument("hidden-dropout", std::string("0.0"));
    if (!tree_.has(key("attention_dropout"))) words_.argument("attention-dropout", std::string("0.0"));
  }

  void read_rest() {
    if (tree_.flag(key("checkpoint_activations"))) {
      words_.argument("recompute-granularity", std::string("full"));
      words_.argument("recompute-method", std::string("uniform"));
      words_.argument("recompute-num-layers", tree_.number(key("checkpoint_num_layers"), 1).value_or(1));
    }
    (void)tree_.find(key("checkpoint_num_layers"));
    if (tree_.flag(key("partition_activations"))) words_.flag("distribute-saved-activations");
    const std::int64_t stage = tree_.number(key("zero_optimization") + ".stage").value_or(0);
    if (stage == 1) words_.flag("use-distributed-optimizer");
    if (stage > 3) {
      tree_.complain("P004", key("zero_optimization") + ".stage", "stage " + std::to_string(stage),
                     "ZeRO's stages are 0 to 3");
    }
    if (stage > 1 && pipeline_ > 1) {
      tree_.complain("P035", key("zero_optimization") + ".stage",
                     "DeepSpeed's pipelines take ZeRO-1 at most; got stage " + std::to_string(stage),
                     "write pipe_parallel_size 0 or 1, or stage 1");
    }
    zero_ = stage;
    tree_.pass(key("zero_optimization"));
    read_cut();
    for (const std::string_view name :
         words_in("optimizer init_method output_layer_init_method lr_decay_style lr_decay_iters warmup min_lr "
                  "train_iters eval_interval eval_iters log_interval steps_per_print keep_last_n_checkpoints "
                  "wall_clock_breakdown gradient_clipping weight_decay data_impl data_path split vocab_file merge_file "
                  "save load checkpoint_factor distributed_backend launcher hostfile include tensorboard_dir log_dir "
                  "use_wandb wandb_project wandb_team wandb_host wandb_group scaled_upper_triang_masked_softmax_fusion "
                  "bias_gelu_fusion rope_fusion layernorm_fusion rmsnorm_fusion scaled_masked_softmax_fusion "
                  "synchronize_each_layer rotary_pct rotary_emb_base rotary_ndims layernorm_epsilon rms_norm_epsilon "
                  "attention_softmax_in_fp32 gpt_j_tied output_layer_parallelism num_workers data_types "
                  "deepspeed_slurm deepspeed_mpi checkpoint finetune checkpoint_validation_with_forward_pass "
                  "extra_save_iters apply_query_key_layer_scaling fp32_allreduce loss_scale loss_scale_window "
                  "hysteresis min_scale seed contiguous_checkpointing tokenizer_vocab_file train_data_paths "
                  "valid_data_paths test_data_paths onnx_safe no_ssh_check zero_allow_untested_optimizer "
                  "prescale_gradients lr wandb_init_all_ranks async_tensor_model_parallel_allreduce"))
      tree_.pass(key(std::string(name)));
  }

  void read_cut() {
    std::string method = tree_.word(key("pipe_partition_method")).value_or("");
    std::transform(method.begin(), method.end(), method.begin(), [](unsigned char c) { return std::tolower(c); });
    if (method == "type:transformer|mlp") method.clear();
    if (pipeline_ > 1) words_.cut(method.empty() ? "neox" : "neox:" + method);
  }

  ConfigTree& tree_;
  const FrameworkRequest& request_;
  MegatronWords words_;
  std::int64_t world_ = 0;
  std::int64_t pipeline_ = 1;
  std::int64_t window_ = 0;
  std::int64_t zero_ = 0;
};

}  // namespace

FrameworkScenario read_neox(ConfigTree& tree, const FrameworkRequest& request) {
  return NeoxReader(tree, request).run();
}

}  // namespace debubble
