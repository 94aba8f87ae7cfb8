// DeepSpeed's JSON, which says neither the model nor how many ranks there are.
#include <algorithm>
#include <utility>

#include "formats/frameworks/deepspeed_keys.hpp"
#include "formats/frameworks/framework_scenario.hpp"
#include "formats/rules/rule_facts.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

class DeepSpeedReader {
 public:
  DeepSpeedReader(ConfigTree& tree, const FrameworkRequest& request) : tree_(tree), request_(request) {}

  FrameworkScenario run() {
    sort_keys("");
    for (const char* section : {"zero_optimization", "fp16", "bf16"}) sort_keys(section);
    for (const char* section : {"offload_optimizer", "offload_param"}) {
      sort_keys(std::string("zero_optimization.") + section);
    }
    read_model_and_ranks();
    read_experts();
    read_zero();
    read_optimizer();
    read_formats();
    read_batches();
    read_rest();
    refuse();
    return std::move(scenario_);
  }

 private:
  void fact(const char* name, bool holds) {
    if (holds) facts_.set(name, RuleFacts::Words{});
  }
  void fact(const char* name, const std::string& word) { facts_.set(name, RuleFacts::Words{word}); }

  // Says of each key of a section whether it is left out, refused or none of the release.
  void sort_keys(const std::string& section) {
    const JsonValue* found = section.empty() ? &tree_.root() : tree_.find(section);
    if (found == nullptr || found->kind != JsonValue::Kind::kObject) return;
    const std::string last = section.substr(section.rfind('.') + 1);
    for (const JsonValue& member : found->children) {
      const std::string path = section.empty() ? member.key : section + "." + member.key;
      const DeepSpeedKey kind = deepspeed_key(last, member.key);
      if (kind == DeepSpeedKey::kRemoved) removed_.push_back(path);
      if (kind == DeepSpeedKey::kUnknown) unknown_.push_back(path);
      if (kind == DeepSpeedKey::kFree) tree_.pass(path);
      if (kind == DeepSpeedKey::kOlder) {
        scenario_.find(path + ": a spelling that the release refuses and older ones pass over; left out");
      }
    }
    if (!section.empty()) tree_.pass(section);
  }

  [[nodiscard]] bool is_auto(const std::string& key) {
    const JsonValue* value = tree_.find(key);
    return value != nullptr && value->kind == JsonValue::Kind::kString && value->text == "auto";
  }
  // Values that a launcher's own arguments fill in, as Hugging Face's do.
  std::optional<std::int64_t> count(const std::string& key, std::int64_t least = 1) {
    return is_auto(key) ? std::nullopt : tree_.number(key, least);
  }
  bool on(const std::string& key, bool fallback = false) { return is_auto(key) ? fallback : tree_.flag(key, fallback); }

  void read_model_and_ranks() {
    if (request_.model.empty()) {
      require_key(tree_, "--model", "DeepSpeed's configuration does not say which model it trains",
                  "add --model NAME or --model config.json");
    } else {
      scenario_.set("model", request_.model);
    }
    if (request_.pipeline) {
      pipeline_ = *request_.pipeline;
    } else if (tree_.has("pipeline.stages") && !is_auto("pipeline.stages")) {
      pipeline_ = tree_.number("pipeline.stages", 1, kMostMeshRanks).value_or(1);
      scenario_.find("DeepSpeed reads pipeline.stages nowhere: its program's PipelineModule says it, as --stages does");
    }
    const std::int64_t automatic =
        std::max<std::int64_t>(1, tree_.number("tensor_parallel.autotp_size", 0, kMostMeshRanks).value_or(1));
    tensor_ = request_.tensor.value_or(automatic);
    tree_.pass("tensor_parallel");
    fact("TENSOR_BY_FLAG", request_.tensor.value_or(1) > 1);
    sequence_ = tree_.number("sequence_parallel_size", 1, kMostMeshRanks).value_or(1);
    // With both, a mesh of theirs is all that counts.
    if (tree_.has("sequence_parallel_size")) mesh_ = tree_.number("data_parallel_size", 1, kMostMeshRanks);
    (void)tree_.find("data_parallel_size");
    if (mesh_) facts_.set("DATA_SIZE", *mesh_);
    if (sequence_ > 1 && !mesh_) {
      scenario_.find(
          "sequence_parallel_size without data_parallel_size makes no sequence ranks, unless the program gives "
          "mesh_param or mpu");
    }
    facts_.set("PIPELINE", pipeline_);
    facts_.set("TENSOR", tensor_);
    facts_.set("SEQUENCE", sequence_);
    if (request_.world_size) facts_.set("WORLD", *request_.world_size);
    // Batches are divided by the ranks that share one; of AutoTP's, DeepSpeed counts each as one.
    not_sharing_ = pipeline_ * sequence_ * request_.tensor.value_or(1);
    if (request_.sequence) scenario_.set("sequence", *request_.sequence);
    scenario_.set("devices", pipeline_);
    if (tensor_ > 1) scenario_.set("tp", tensor_);
    if (sequence_ > 1) {
      scenario_.set("cp", sequence_);
      scenario_.set("context-exchange", std::string("all-to-all"));
    }
    if (pipeline_ > 1) read_pipeline();
    tree_.pass("pipeline");
  }

  void read_pipeline() {
    scenario_.set("schedule", std::string("1f1b"));
    scenario_.set("p2p", std::string("rendezvous"));
    const std::string method = tree_.word("pipeline.partition").value_or("best");
    const bool usual = method == "best" || method == "parameters";
    scenario_.set("partition", usual ? std::string("deepspeed") : "deepspeed:" + method);
    if (!usual) {
      scenario_.find("DeepSpeed reads pipeline.partition nowhere: it counts as PipelineModule's partition_method " +
                     in_quotes(method));
    }
    const bool activations = tree_.flag("pipeline.pipe_partitioned", true);
    const bool gradients = tree_.flag("pipeline.grad_partitioned", true);
    if (tensor_ > 1 && (activations || gradients)) scenario_.set("scatter-gather", std::string("true"));
    if (tensor_ > 1 && activations != gradients) {
      scenario_.find("pipe_partitioned and grad_partitioned differ: both ways count as sliced");
    }
    // PipelineModule keeps the input of so many layers in a row; 0: recomputes nothing.
    const std::int64_t interval = tree_.number("pipeline.activation_checkpoint_interval").value_or(0);
    if (interval == 0) return;
    scenario_.set("recompute", std::string("full"));
    if (interval > 1) scenario_.set("recompute-blocks", "chunks:" + std::to_string(interval));
    scenario_.find("pipeline.activation_checkpoint_interval: embedding and head, which run again too, do not here");
  }

  void read_experts() {
    const std::string section = "expert_parallel.";
    const bool enabled = on(section + "enabled");
    experts_ = enabled ? tree_.number(section + "autoep_size", 1, kMostMeshRanks).value_or(1) : 1;
    fact("AUTO_EP", enabled);
    facts_.set("EXPERT", experts_);
    facts_.set("EXPERT_TENSOR", tree_.number(section + "expert_tensor_parallel_size", 1, kMostMeshRanks).value_or(1));
    const std::string backend = tree_.word(section + "comm_backend").value_or("comm");
    fact("EXPERT_BACKEND", backend);
    facts_.set("EXPERT_TOKENS", tree_.number(section + "comm_max_tokens_per_rank", 0).value_or(0));
    if (experts_ > 1) {
      scenario_.set("ep", experts_);
      if (backend == "deepep") scenario_.set("moe-dispatch", std::string("deepep"));
      if (tensor_ > 1) scenario_.set("etp", std::int64_t{1});
    }
    tree_.pass("expert_parallel");
  }

  void note_offload(const std::string& key) {
    (key.find("param") == std::string::npos ? offloads_ : offloads_weights_) = true;
  }

  void read_zero() {
    const std::string zero = "zero_optimization.";
    const JsonValue* section = tree_.find("zero_optimization");
    if (section != nullptr && section->kind == JsonValue::Kind::kBoolean) {
      stage_ = section->text == "true" ? 1 : 0;
    } else {
      stage_ = count(zero + "stage", 0).value_or(0);
    }
    facts_.set("STAGE", stage_);
    for (const char* key : {"offload_optimizer", "offload_param"}) {
      const std::string device = tree_.word(zero + key + ".device").value_or("none");
      if (device == "none") continue;
      note_offload(key);
      scenario_.find(zero + key + " (" + device +
                     ") is not modelled: it stays on the GPU, and its traffic costs nothing");
    }
    if (const auto ratio = tree_.fraction(zero + "offload_optimizer.ratio"); ratio && *ratio < 1) {
      fact("OFFLOAD_RATIO", std::string("0"));
    }
    for (const char* key : {"cpu_offload", "cpu_offload_params", "cpu_offload_param"}) {
      if (!on(zero + key)) continue;
      note_offload(key);
      scenario_.find(zero + key + " is not modelled: it stays on the GPU");
    }
    fact("OFFLOAD", offloads_);
    fact("OFFLOAD_PARAM", offloads_weights_);
    if (on(zero + "zero_quantized_weights") || on(zero + "zero_quantized_gradients")) {
      scenario_.find("quantised collectives of ZeRO++ are not modelled");
    }
    fact("QUANTIZED", on(zero + "zero_quantized_weights"));
    fact("QUANTIZED_SUMS", on(zero + "zero_quantized_gradients"));
    const std::int64_t secondary = count(zero + "zero_hpz_partition_size", 0).value_or(1);
    facts_.set("SECONDARY", secondary);
    if (secondary > 1) {
      scenario_.find("zero_hpz_partition_size: weights are sharded over all data ranks");
    }
    overlap_ = on(zero + "overlap_comm", stage_ == 3);
    fact("OVERLAP", overlap_);
    const bool scatters = on(zero + "reduce_scatter", true);
    fact("REDUCE_SCATTER", scatters);
    fact("UNSCATTERED", !scatters);
    fact("UNJOINED", !on(zero + "contiguous_gradients", true));
    fact("LEGACY", on(zero + "legacy_stage1"));
    no_norm_ = !on(zero + "compute_grad_norm", true);
    fact("NO_NORM", no_norm_);
    fact("CLIPPING", tree_.word("gradient_clipping").value_or("1"));
    fact("PRESCALE", on("prescale_gradients"));
    fact("PREDIVIDE", tree_.word("gradient_predivide_factor").value_or("1"));
    fact("REDUCE_BY", deepspeed_lower(tree_.word("gradient_allreduce_op").value_or("mean")));
    fact("UNMANAGED", !on("managed_gradient_accumulation", true));
    if (tree_.has(zero + "zenflow")) scenario_.find(zero + "zenflow is not modelled");
  }

  void read_optimizer() {
    const auto type = tree_.word("optimizer.type");
    const auto known = deepspeed_optimizer(type.value_or(""));
    if (type && (!known || known->name.empty())) fact("NO_OPTIMIZER", *type);
    if (!type) scenario_.find("the program's own optimizer counts as Adam, with two moments");
    if (known && type) {
      muon_ = known->name == "muon";
      fact("OPTIMIZER", std::string(known->name));
      fact("UNTESTED", !known->with_zero);
      std::string flag(known->flag);
      if (known->momentum && tree_.fraction("optimizer.params.momentum").value_or(0) > 0) {
        flag = flag == "sgd" ? "momentum" : "adam";
      }
      if (flag.empty()) scenario_.find("optimizer.type " + *type + ": counts as Adam, with two moments");
      if (!flag.empty() && flag != "adam") scenario_.set("optimizer", flag);
    }
    fact("ALLOWED", on("zero_allow_untested_optimizer"));
    fact("CLIPS", tree_.has("optimizer.params.max_grad_norm"));
    tree_.pass("optimizer");
  }

  bool enabled(const std::string& section) {
    const std::string key = section + ".enabled";
    if (!is_auto(key)) return tree_.flag(key);
    scenario_.find(key + " is \"auto\": it counts as off, as DeepSpeed takes it; a trainer may fill it in");
    return false;
  }

  void read_formats() {
    const bool half = enabled("fp16");
    const std::string section = tree_.has("bf16") ? "bf16" : "bfloat16";
    const bool bfloat = enabled(section);
    tree_.pass("bfloat16");
    const std::string model = half ? "fp16" : bfloat ? "bf16" : "fp32";
    const std::string sums = deepspeed_format(tree_.word("data_types.grad_accum_dtype").value_or(model));
    const bool autocast = on("torch_autocast.enabled");
    fact("FP16", half);
    fact("BF16", bfloat);
    fact("AUTOCAST", autocast);
    fact("FORMAT", model);
    fact("SUMS", sums);
    if (const auto given = tree_.word("data_types.param_dtype")) fact("PARAM_FORMAT", deepspeed_format(*given));
    fact("STATIC_SCALE", tree_.fraction("fp16.loss_scale").value_or(0) != 0);
    const bool masters = on(section + ".bf16_master_weights_and_grads");
    const bool states = on(section + ".bf16_optimizer_states");
    const bool half_masters = on("fp16.fp16_master_weights_and_grads");
    // Beside ZeRO's own optimizers: BF16_Optimizer, which shares the state as ZeRO-1 does.
    const bool beside = bfloat && ((stage_ == 1 && sums == "fp32" && !offloads_) || (stage_ == 0 && pipeline_ > 1));
    fact("MASTERS_16", masters);
    fact("STATES_16", states);
    fact("MASTERS_FP16", half_masters);
    fact("BF16_OPTIMIZER", beside);
    if (beside && stage_ == 0) stage_ = 1;
    set_formats(model, sums, autocast);
    if (beside && !on(section + ".immediate_grad_update")) scenario_.set("low-gradients", std::string("kept"));
    if (!beside && masters) scenario_.set("master-weights", std::string("bf16"));
    if (half_masters) scenario_.set("master-weights", std::string("fp16"));
    const bool muon_in_sums = muon_ && model != "fp32" && sums != "fp32" && (stage_ == 1 || stage_ == 2) && !offloads_;
    if (muon_in_sums || (!beside && states)) scenario_.set("moment-dtype", std::string(states ? "bf16" : sums));
    if (muon_in_sums && !states) scenario_.set("second-moment-dtype", std::string("fp32"));
    tree_.pass("data_types");
    if (const auto type = tree_.word("communication_data_type")) {
      fact("COMM_FORMAT", deepspeed_lower(*type));
      scenario_.find("communication_data_type " + *type + ": gradients travel as they are summed");
    }
    (void)tree_.find("seq_parallel_communication_data_type");
  }

  void set_formats(const std::string& model, const std::string& sums, bool autocast) {
    std::string products = model;
    if (autocast) {
      const std::string given = tree_.word("torch_autocast.dtype").value_or("");
      if (given.empty()) scenario_.find("torch_autocast.dtype is not given: PyTorch's on GPUs, fp16");
      products = given.empty() ? "fp16" : deepspeed_format(given);
    }
    tree_.pass("torch_autocast");
    scenario_.set("dtype", products);
    if (model == "fp32") {
      if (products != "fp32") scenario_.set("weight-dtype", std::string("fp32"));
      if (stage_ > 0) scenario_.set("master-weights", std::string("fp32"));
    } else if (sums != "fp32") {
      scenario_.set("grad-dtype", sums);
    }
  }

  // samples of a step = samples of a microbatch x microbatches x data ranks, of which DeepSpeed makes what is left out.
  void read_batches() {
    auto batch = count("train_batch_size");
    auto micro = count("train_micro_batch_size_per_gpu");
    auto steps = count("gradient_accumulation_steps");
    for (const char* key : {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"}) {
      if (!is_auto(key) || (batch && micro && steps)) continue;
      if (batch && (micro || steps)) continue;
      require_key(tree_, key, std::string(key) + " is \"auto\": the trainer's arguments say it", "write the number");
    }
    fact("NO_BATCH", !batch && !micro && !is_auto("train_batch_size") && !is_auto("train_micro_batch_size_per_gpu"));
    std::optional<std::int64_t> sharing;  // ranks that share a batch
    const std::int64_t model = pipeline_ * tensor_ * sequence_;
    if (mesh_) {
      sharing = *mesh_;
    } else if (request_.world_size) {
      if (*request_.world_size % model != 0) {
        require_key(tree_, "--world-size",
                    std::to_string(*request_.world_size) +
                        " ranks are no multiple of pipeline x tensor x sequence ranks = " + std::to_string(model),
                    "give a multiple of it");
        return;
      }
      sharing = *request_.world_size / not_sharing_;
    } else if (batch && micro && steps) {
      sharing = *batch / (*micro * *steps);
    }
    if (!sharing) {
      require_key(tree_, "--world-size", "the file does not say how many ranks there are",
                  "add --world-size N: a configuration with all three batch sizes would say it");
      return;
    }
    if (!batch && !micro) return;
    if (batch && micro && !steps) steps = *batch / *micro / std::max<std::int64_t>(1, *sharing);
    if (batch && !micro) micro = *batch / std::max<std::int64_t>(1, *sharing) / steps.value_or(1);
    const std::int64_t rounds = steps.value_or(1);
    facts_.set("MICRO", *micro);
    facts_.set("STEPS", rounds);
    facts_.set("PRODUCT", *micro * rounds * *sharing);
    if (batch) facts_.set("BATCH", *batch);
    const std::int64_t data = *sharing * not_sharing_ / model;
    const bool shared = data * sequence_ > 1;
    if (data > 1) scenario_.set("dp", data);
    if (stage_ > 0 && shared) scenario_.set("zero", std::min<std::int64_t>(stage_, 3));
    if (overlap_ && pipeline_ > 1) {
      scenario_.find("zero_optimization.overlap_comm: DeepSpeed turns it off in pipelines");
    } else if (overlap_ && stage_ == 1 && shared) {
      scenario_.set("overlap-grad-reduce", std::string("true"));
    }
    if (no_norm_ && shared) scenario_.set("norm", std::string("none"));
    scenario_.set("microbatch-size", *micro);
    scenario_.set("microbatches", rounds);
  }

  void read_rest() {
    if (tree_.find("activation_checkpointing") != nullptr) {
      scenario_.find(
          "activation_checkpointing says how, the model's code says whether: write recompute = \"full\" where it does");
      if (on("activation_checkpointing.cpu_checkpointing")) {
        scenario_.find("activation_checkpointing.cpu_checkpointing is not modelled");
      }
    }
    tree_.pass("activation_checkpointing");
    for (const char* section : {"data_efficiency", "hybrid_engine", "weight_quantization", "compile"}) {
      if (tree_.has(section)) scenario_.find(in_quotes(section) + " is not modelled: every step counts as a full one");
      tree_.pass(section);
    }
  }

  void refuse() {
    if (!removed_.empty()) facts_.set("REMOVED", removed_);
    if (!unknown_.empty()) facts_.set("UNKNOWN", unknown_);
    for (const std::string& key : removed_) tree_.pass(key);
    refuse_by_rules(tree_, "deepspeed", facts_);
  }

  ConfigTree& tree_;
  const FrameworkRequest& request_;
  FrameworkScenario scenario_;
  RuleFacts facts_;
  std::vector<std::string> removed_;
  std::vector<std::string> unknown_;
  std::optional<std::int64_t> mesh_;  // data_parallel_size
  std::int64_t pipeline_ = 1;
  std::int64_t tensor_ = 1;
  std::int64_t sequence_ = 1;
  std::int64_t experts_ = 1;
  std::int64_t not_sharing_ = 1;
  std::int64_t stage_ = 0;
  bool offloads_ = false;  // the optimizer
  bool offloads_weights_ = false;
  bool overlap_ = false;
  bool no_norm_ = false;
  bool muon_ = false;
};

}  // namespace

FrameworkScenario read_deepspeed(ConfigTree& tree, const FrameworkRequest& request) {
  return DeepSpeedReader(tree, request).run();
}

}  // namespace debubble
