// DeepSpeed's JSON, which says neither the model nor how many ranks there are.
#include <algorithm>

#include "formats/frameworks/framework_scenario.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

class DeepSpeedReader {
 public:
  DeepSpeedReader(ConfigTree& tree, const FrameworkRequest& request) : tree_(tree), request_(request) {}

  FrameworkScenario run() {
    pass_what_costs_nothing();
    read_model_and_ranks();
    read_zero();
    read_batches();
    read_formats();
    read_rest();
    return std::move(scenario_);
  }

 private:
  void pass_what_costs_nothing() {
    for (const char* key : {"steps_per_print",
                            "wall_clock_breakdown",
                            "gradient_clipping",
                            "scheduler",
                            "dump_state",
                            "tensorboard",
                            "wandb",
                            "csv_monitor",
                            "comet",
                            "flops_profiler",
                            "comms_logger",
                            "zero_allow_untested_optimizer",
                            "memory_breakdown",
                            "checkpoint",
                            "data_sampling",
                            "aio",
                            "elasticity",
                            "autotuning",
                            "zero_force_ds_cpu_optimizer",
                            "prescale_gradients",
                            "gradient_predivide_factor",
                            "disable_allgather",
                            "timers",
                            "dataloader_drop_last",
                            "seed",
                            "graph_harvesting",
                            "use_node_local_storage",
                            "nebula"}) {
      tree_.pass(key);
    }
  }

  // Values that a launcher's own arguments fill in, as Hugging Face's do.
  std::optional<std::int64_t> count(const std::string& key) {
    const JsonValue* value = tree_.find(key);
    if (value != nullptr && value->kind == JsonValue::Kind::kString && value->text == "auto") return std::nullopt;
    return tree_.number(key, 1);
  }

  void read_model_and_ranks() {
    if (request_.model.empty()) {
      require_key(tree_, "--model", "DeepSpeed's configuration does not say which model it trains",
                  "add --model NAME or --model config.json");
    } else {
      scenario_.set("model", request_.model);
    }
    pipeline_ = request_.pipeline.value_or(1);
    if (const auto stages = tree_.word("pipeline.stages"); stages && *stages != "auto" && !request_.pipeline) {
      pipeline_ = tree_.number("pipeline.stages", 1, kMostMeshRanks).value_or(1);
    }
    tensor_ =
        request_.tensor ? *request_.tensor : tree_.number("tensor_parallel.autotp_size", 1, kMostMeshRanks).value_or(1);
    (void)tree_.find("tensor_parallel.autotp_size");
    if (request_.sequence) scenario_.set("sequence", *request_.sequence);
    scenario_.set("devices", pipeline_);
    if (tensor_ > 1) scenario_.set("tp", tensor_);
    if (pipeline_ > 1) {
      scenario_.set("schedule", std::string("1f1b"));
      scenario_.set("partition", std::string("deepspeed"));
      scenario_.find(
          "the training script says PipelineModule's partition_method: its default, parameters, is taken; write "
          "partition = \"deepspeed:METHOD\" for another");
    }
    // PipelineModule keeps the input of so many layers in a row; 0: recomputes nothing.
    const std::int64_t interval = tree_.number("pipeline.activation_checkpoint_interval").value_or(0);
    if (interval > 0) scenario_.set("recompute", std::string("full"));
    if (interval > 1) scenario_.set("recompute-blocks", "chunks:" + std::to_string(interval));
    for (const char* key :
         {"pipeline.partition", "pipeline.seed_layers", "pipeline.pipe_partitioned", "pipeline.grad_partitioned"}) {
      (void)tree_.find(key);
    }
  }

  void read_zero() {
    const std::string zero = "zero_optimization.";
    stage_ = tree_.number(zero + "stage").value_or(0);
    if (stage_ > 3) {
      tree_.complain("P004", zero + "stage", "stage " + std::to_string(stage_), "ZeRO's stages are 0 to 3");
      stage_ = 0;
    }
    if (stage_ > 1 && pipeline_ > 1) {
      tree_.complain("P012", zero + "stage",
                     "DeepSpeed's pipelines take ZeRO-1 at most; got stage " + std::to_string(stage_),
                     "leave out -p and pipeline.stages, or use stage 1");
    }
    for (const char* key : {"offload_optimizer", "offload_param"}) {
      const std::string device = tree_.word(zero + key + ".device").value_or("none");
      if (device != "none") {
        scenario_.find(zero + key + " (" + device +
                       ") is not modelled: it stays on the GPU, and its traffic costs nothing");
      }
      tree_.pass(zero + key);
    }
    for (const char* key : {"cpu_offload", "cpu_offload_params", "cpu_offload_param"}) {
      if (tree_.flag(zero + key)) scenario_.find(zero + key + " is not modelled: it stays on the GPU");
    }
    if (tree_.flag(zero + "zero_quantized_weights") || tree_.flag(zero + "zero_quantized_gradients")) {
      scenario_.find("quantised collectives of ZeRO++ are not modelled");
    }
    if (tree_.number(zero + "zero_hpz_partition_size").value_or(1) > 1) {
      scenario_.find("zero_hpz_partition_size: weights are sharded over all data ranks");
    }
    overlap_ = tree_.flag(zero + "overlap_comm", stage_ == 3);
    for (const char* key : {"contiguous_gradients",
                            "reduce_scatter",
                            "allgather_partitions",
                            "allgather_bucket_size",
                            "reduce_bucket_size",
                            "sub_group_size",
                            "round_robin_gradients",
                            "cpu_offload_use_pin_memory",
                            "load_from_fp32_weights",
                            "elastic_checkpoint",
                            "ignore_unused_parameters",
                            "legacy_stage1",
                            "stage3_gather_16bit_weights_on_model_save",
                            "stage3_gather_fp16_weights_on_model_save",
                            "stage3_max_live_parameters",
                            "stage3_max_reuse_distance",
                            "stage3_param_persistence_threshold",
                            "stage3_param_persitence_threshold",
                            "stage3_param_persitance_threshold",
                            "stage3_prefetch_bucket_size",
                            "stage3_model_persistence_threshold",
                            "memory_efficient_linear",
                            "param_persistence_threshold",
                            "prefetch_bucket_size",
                            "zero_hpz_partition_size",
                            "use_multi_rank_bucket_allreduce",
                            "allgather_sequential",
                            "use_all_reduce_for_fetch_params",
                            "module_granularity_threshold",
                            "log_trace_cache_warnings"}) {
      (void)tree_.find(zero + key);
    }
  }

  // samples of a step = samples of a microbatch x microbatches x data ranks: two and the ranks say the third.
  void read_batches() {
    const auto batch = count("train_batch_size");
    auto micro = count("train_micro_batch_size_per_gpu");
    auto steps = count("gradient_accumulation_steps");
    const std::int64_t model = pipeline_ * tensor_;
    std::optional<std::int64_t> data;
    if (request_.world_size) {
      if (*request_.world_size % model != 0) {
        require_key(tree_, "--world-size",
                    std::to_string(*request_.world_size) +
                        " ranks are no multiple of pipeline x tensor = " + std::to_string(model),
                    "give a multiple of it");
        return;
      }
      data = *request_.world_size / model;
    } else if (batch && micro && steps && *batch % (*micro * *steps) == 0) {
      data = *batch / (*micro * *steps);
    }
    if (!data) {
      require_key(tree_, "--world-size", "the file does not say how many ranks there are",
                  "add --world-size N: a configuration with all three batch sizes would say it");
      return;
    }
    if (batch && micro && !steps) steps = *batch / std::max<std::int64_t>(1, *micro * *data);
    if (batch && !micro) micro = *batch / std::max<std::int64_t>(1, steps.value_or(1) * *data);
    if (!batch && !micro) {
      require_key(tree_, "train_micro_batch_size_per_gpu", "neither a batch nor a microbatch is given as a number",
                  "write train_micro_batch_size_per_gpu");
      return;
    }
    const std::int64_t all = *micro * steps.value_or(1) * *data;
    if (*micro < 1 || (batch && all != *batch)) {
      tree_.complain("P012", "train_batch_size",
                     std::to_string(*batch) +
                         " samples are not microbatch x accumulation steps x data ranks = " + std::to_string(*micro) +
                         " x " + std::to_string(steps.value_or(1)) + " x " + std::to_string(*data),
                     "DeepSpeed refuses it, too");
    }
    if (*data > 1) scenario_.set("dp", *data);
    if (stage_ > 0 && *data > 1) scenario_.set("zero", stage_);
    if (overlap_ && *data > 1 && pipeline_ > 1)
      scenario_.find("zero_optimization.overlap_comm: see --overlap-grad-reduce");
    scenario_.set("microbatch-size", *micro);
    scenario_.set("microbatches", steps.value_or(1));
  }

  bool enabled(const std::string& section) {
    const JsonValue* value = tree_.find(section + ".enabled");
    if (value != nullptr && value->kind == JsonValue::Kind::kString && value->text == "auto") {
      scenario_.find(section + ".enabled is \"auto\": it counts as off");
      return false;
    }
    return tree_.flag(section + ".enabled");
  }

  void read_formats() {
    const bool half = enabled("fp16");
    const bool bfloat = enabled("bf16") || enabled("bfloat16");
    for (const char* section : {"fp16", "bf16", "bfloat16"}) tree_.pass(section);
    scenario_.set("dtype", std::string(bfloat ? "bf16" : half ? "fp16" : "fp32"));
    if (tree_.flag("amp.enabled")) scenario_.find("amp (Apex) is not modelled: products count in 32 bits");
    tree_.pass("amp");
    const std::string sums = tree_.word("data_types.grad_accum_dtype").value_or("");
    const bool wide = sums == "fp32" || (sums.empty() && bfloat && stage_ < 2);
    if ((half || bfloat) && !wide) scenario_.set("grad-dtype", std::string(bfloat ? "bf16" : "fp16"));
    if (bfloat && wide) scenario_.set("low-gradients", std::string("kept"));
    if (const auto type = tree_.word("communication_data_type")) {
      scenario_.find("communication_data_type " + *type + ": gradients travel as they are summed");
    }
  }

  void read_rest() {
    const JsonValue* checkpointing = tree_.find("activation_checkpointing");
    if (checkpointing != nullptr) {
      scenario_.find(
          "activation_checkpointing says how, the model's code says whether: write recompute = \"full\" where it does");
      if (tree_.flag("activation_checkpointing.cpu_checkpointing")) {
        scenario_.find("activation_checkpointing.cpu_checkpointing is not modelled");
      }
    }
    tree_.pass("activation_checkpointing");
    const std::string optimizer = tree_.word("optimizer.type").value_or("Adam");
    if (optimizer != "Adam" && optimizer != "AdamW" && optimizer != "FusedAdam" && optimizer != "DeepSpeedCPUAdam") {
      scenario_.find("optimizer.type " + optimizer + ": counts as Adam, with two moments");
    }
    tree_.pass("optimizer");
    for (const char* section :
         {"curriculum_learning", "data_efficiency", "compression_training", "progressive_layer_drop", "eigenvalue",
          "sparse_attention", "hybrid_engine", "quantize_training"}) {
      if (tree_.has(section)) scenario_.find(in_quotes(section) + " is not modelled: every step counts as a full one");
      tree_.pass(section);
    }
  }

  ConfigTree& tree_;
  const FrameworkRequest& request_;
  FrameworkScenario scenario_;
  std::int64_t pipeline_ = 1;
  std::int64_t tensor_ = 1;
  std::int64_t stage_ = 0;
  bool overlap_ = false;
};

}  // namespace

FrameworkScenario read_deepspeed(ConfigTree& tree, const FrameworkRequest& request) {
  return DeepSpeedReader(tree, request).run();
}

}  // namespace debubble
