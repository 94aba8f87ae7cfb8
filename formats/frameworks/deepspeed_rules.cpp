#include "formats/frameworks/deepspeed_rules.hpp"

#include "formats/rules/run_rows.hpp"

namespace debubble {
namespace {

constexpr RuleKind kDsRefuses = RuleKind::kRefuses;
constexpr const char* kDsConfig = "runtime/config.py: DeepSpeedConfig";
constexpr const char* kDsEngine = "runtime/engine.py: DeepSpeedEngine";
constexpr const char* kDsPipe = "runtime/pipe/engine.py: PipelineEngine";
constexpr const char* kDsZero = "runtime/zero/config.py: DeepSpeedZeroConfig";
constexpr const char* kDsStage2 = "runtime/zero/stage_1_and_2.py: DeepSpeedZeroOptimizer";
constexpr const char* kDsMasters = "runtime/base_optimizer.py: ZeROOptimizer";
constexpr const char* kDsMoe3 = "runtime/engine.py: _validate_zero3_moe_compatibility";
constexpr const char* kDsExperts = "module_inject/auto_ep_config.py, auto_ep_folding.py";

void add_batches(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kDsRefuses, "NO_BATCH", "train_batch_size or train_micro_batch_size_per_gpu is given", kDsConfig,
        R"({"gradient_accumulation_steps": 2})"},
       {kDsRefuses, "MICRO < 1 or STEPS < 1", "microbatch and accumulation steps are at least 1", kDsConfig,
        R"({"train_batch_size": 8, "gradient_accumulation_steps": 2})"},
       {kDsRefuses, "MICRO > 0 and STEPS > 0 and BATCH != PRODUCT",
        "train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x ranks; what is left out "
        "is divided without rest",
        kDsConfig, R"({"train_batch_size": 20, "train_micro_batch_size_per_gpu": 1})"},
       {kDsRefuses, "REMOVED", "features that the release has no more: their keys are left out", kDsConfig,
        R"({"train_batch_size": 8, "amp": {"enabled": false}})"},
       {kDsRefuses, "UNKNOWN", "its sections take no other keys", "runtime/config_utils.py: DeepSpeedConfigModel",
        R"({"train_batch_size": 8, "zero_optimization": {"stages": 2}})"},
       {kDsRefuses, "DATA_SIZE * SEQUENCE > WORLD",
        "data_parallel_size x sequence_parallel_size are no more than all ranks",
        "comm/comm.py: initialize_mesh_device",
        R"({"train_micro_batch_size_per_gpu": 1, "sequence_parallel_size": 2, "data_parallel_size": 8})"},
       {kDsRefuses, "SEQUENCE > 1 and PIPELINE > 1",
        "a pipeline has no sequence ranks: PipelineModule's ranks are data, pipeline and tensor ranks",
        "__init__.py: initialize, runtime/pipe/topology.py: PipelineParallelGrid",
        R"(--stages 2 {"train_micro_batch_size_per_gpu": 1, "sequence_parallel_size": 2})"},
       {kDsRefuses, "STAGE > 1 and PIPELINE > 1", "ZeRO-2 and ZeRO-3 do not go with pipelines", kDsPipe,
        R"(--stages 2 {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2}})"},
       {kDsRefuses, "UNMANAGED and PIPELINE > 1", "managed_gradient_accumulation false does not go with pipelines",
        kDsEngine, R"(--stages 2 {"train_micro_batch_size_per_gpu": 1, "managed_gradient_accumulation": false})"},
       {kDsRefuses, "UNMANAGED and OVERLAP and STAGE < 2",
        "managed_gradient_accumulation false takes overlap_comm with ZeRO-2 or 3", kDsEngine,
        R"({"train_micro_batch_size_per_gpu": 1, "managed_gradient_accumulation": false,
                "zero_optimization": {"stage": 1, "overlap_comm": true}})"}});
}

void add_number_formats(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kDsRefuses, "FP16 and BF16", "fp16 and bf16 are not both on", kDsConfig,
        R"({"train_batch_size": 8, "bf16": {"enabled": true}, "fp16": {"enabled": true}})"},
       {kDsRefuses, "STAGE == 0 and SUMS != FORMAT", "without ZeRO, gradients are summed in the model's format",
        kDsEngine, R"({"train_batch_size": 8, "bf16": {"enabled": true}, "data_types": {"grad_accum_dtype": "fp32"}})"},
       {kDsRefuses, "PARAM_FORMAT != FORMAT", "data_types.param_dtype is the format of the fp16 or bf16 section",
        kDsEngine, R"({"train_batch_size": 8, "data_types": {"param_dtype": "bf16"}})"},
       {kDsRefuses, "( MASTERS_16 or MASTERS_FP16 or STATES_16 ) and STAGE < 1",
        "master weights and moments in 16 bits go with ZeRO", kDsConfig,
        R"({"train_batch_size": 8, "bf16": {"enabled": true, "bf16_master_weights_and_grads": true,
                "bf16_optimizer_states": true}})"},
       {kDsRefuses, "STATES_16 and not MASTERS_16", "bf16_optimizer_states goes with bf16_master_weights_and_grads",
        kDsConfig,
        R"({"train_batch_size": 8, "bf16": {"enabled": true, "bf16_optimizer_states": true},
                "zero_optimization": {"stage": 1}})"},
       {kDsRefuses,
        "STAGE > 0 and not BF16_OPTIMIZER and not OFFLOAD and ( MASTERS_FP16 or MASTERS_16 and not STATES_16 )",
        "16-bit master weights with 32-bit moments go with ZeRO-Offload and DeepSpeedCPUAdam", kDsMasters,
        R"({"train_batch_size": 8, "bf16": {"enabled": true, "bf16_master_weights_and_grads": true},
                "zero_optimization": {"stage": 1}})"},
       {kDsRefuses, "MASTERS_FP16 and MASTERS_16", "master weights are in one format", kDsMasters,
        R"({"train_batch_size": 8, "bf16": {"enabled": true, "bf16_master_weights_and_grads": true},
                "fp16": {"fp16_master_weights_and_grads": true},
                "zero_optimization": {"stage": 1, "offload_optimizer": {"device": "cpu"}}})"},
       {kDsRefuses, "AUTOCAST and QUANTIZED", "torch_autocast does not go with zero_quantized_weights",
        "runtime/torch_autocast.py: init_autocast_params",
        R"({"train_batch_size": 8, "torch_autocast": {"enabled": true, "dtype": "bfloat16"},
                "zero_optimization": {"stage": 3, "zero_quantized_weights": true}})"},
       {kDsRefuses, "COMM_FORMAT outside fp32,fp16,bf16", "communication_data_type is fp32, fp16 or bf16", kDsConfig,
        R"({"train_batch_size": 8, "communication_data_type": "fp8"})"}});
}

void add_zero(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kDsRefuses, "STAGE > 3", "ZeRO's stages are 0 to 3", kDsZero,
        R"({"train_batch_size": 8, "zero_optimization": {"stage": 4}})"},
       {kDsRefuses, "LEGACY and STAGE > 0", "legacy_stage1 is gone", kDsEngine,
        R"({"train_batch_size": 8, "zero_optimization": {"stage": 1, "legacy_stage1": true}})"},
       {kDsRefuses, "OFFLOAD_RATIO < 1 and STAGE != 3", "a part of the optimizer is offloaded with ZeRO-3 alone",
        kDsZero,
        R"({"train_batch_size": 8, "zero_optimization": {"stage": 2, "offload_optimizer":
                {"device": "cpu", "ratio": 0.3}}})"},
       {kDsRefuses, "NO_NORM and STAGE outside 1,2", "compute_grad_norm false goes with ZeRO-1 and ZeRO-2", kDsZero,
        R"({"train_batch_size": 8, "zero_optimization": {"stage": 3, "compute_grad_norm": false}})"},
       {kDsRefuses, "NO_NORM and ( CLIPPING > 0 or OFFLOAD )",
        "compute_grad_norm false takes no gradient_clipping and no offload of the optimizer", kDsStage2,
        R"({"train_batch_size": 8,
                "zero_optimization": {"stage": 2, "compute_grad_norm": false}})"},
       {kDsRefuses, "NO_NORM and BF16_OPTIMIZER",
        "compute_grad_norm false does not go with ZeRO-1, bf16 and sums in fp32", kDsEngine,
        R"({"train_batch_size": 8, "bf16": {"enabled": true}, "data_types": {"grad_accum_dtype": "fp32"},
                "zero_optimization": {"stage": 1, "compute_grad_norm": false}})"},
       {kDsRefuses, "REDUCE_BY outside mean,sum", "gradient_allreduce_op is mean or sum", kDsConfig,
        R"({"train_batch_size": 8, "gradient_allreduce_op": "max"})"},
       {kDsRefuses, "REDUCE_BY == sum and STAGE == 3", "gradient_allreduce_op sum does not go with ZeRO-3", kDsConfig,
        R"({"train_batch_size": 8, "gradient_allreduce_op": "sum", "zero_optimization": {"stage": 3}})"},
       {kDsRefuses, "STAGE in 2,3 and REDUCE_SCATTER and REDUCE_BY != sum and ( PRESCALE or PREDIVIDE != 1 )",
        "ZeRO-2 and ZeRO-3 with reduce_scatter neither prescale gradients nor divide them before", kDsStage2,
        R"({"train_batch_size": 8, "prescale_gradients": true, "zero_optimization": {"stage": 2}})"}});
}

void add_optimizers(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kDsRefuses, "NO_OPTIMIZER", "an optimizer of its own or of torch.optim", kDsEngine,
        R"({"train_batch_size": 8, "optimizer": {"type": "OneBitAdam"}})"},
       {kDsRefuses, "STAGE > 0 and UNTESTED and not ALLOWED",
        "ZeRO takes Adam, AdamW, Adagrad, Lion and Muon, others with zero_allow_untested_optimizer", kDsEngine,
        R"({"train_batch_size": 8, "optimizer": {"type": "SGD", "params": {"lr": 0.1}},
                "zero_optimization": {"stage": 1}})"},
       {kDsRefuses, "CLIPS", "gradient_clipping in place of max_grad_norm among the optimizer's parameters", kDsEngine,
        R"({"train_batch_size": 8, "optimizer": {"type": "Adam", "params": {"max_grad_norm": 1.0}}})"},
       {kDsRefuses, "OPTIMIZER == lamb and STATIC_SCALE", "lamb takes dynamic loss scaling", kDsEngine,
        R"({"train_batch_size": 8, "fp16": {"enabled": true, "loss_scale": 128}, "optimizer": {"type": "Lamb"}})"},
       {kDsRefuses, "OPTIMIZER == muon and STAGE == 3 and REDUCE_SCATTER",
        "muon with ZeRO-3 goes with reduce_scatter false", "runtime/zero/stage3.py: DeepSpeedZeroOptimizer_Stage3",
        R"({"train_batch_size": 8, "bf16": {"enabled": true}, "optimizer": {"type": "Muon"},
                "zero_optimization": {"stage": 3}})"},
       {kDsRefuses,
        "OPTIMIZER == muon and BF16_OPTIMIZER and ( SUMS != fp32 or PIPELINE > 1 or TENSOR > 1 or AUTO_EP )",
        "muon beside ZeRO sums in fp32 and takes no pipeline, no tensor ranks and no experts",
        "runtime/bf16_optimizer.py: BF16_Optimizer",
        R"(--stages 2 {"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true},
                "optimizer": {"type": "Muon"}})"}});
}

void add_experts(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kDsRefuses, "AUTO_EP and WORLD % ( PIPELINE * EXPERT * EXPERT_TENSOR ) != 0",
        "the ranks of a stage are a multiple of autoep_size", kDsExperts,
        R"({"train_micro_batch_size_per_gpu": 1, "expert_parallel": {"enabled": true, "autoep_size": 3}})"},
       {kDsRefuses, "AUTO_EP and EXPERT_TENSOR != 1", "expert_tensor_parallel_size is 1", kDsExperts,
        R"({"train_micro_batch_size_per_gpu": 1,
                "expert_parallel": {"enabled": true, "autoep_size": 2, "expert_tensor_parallel_size": 2}})"},
       {kDsRefuses, "AUTO_EP and TENSOR > 1 and ( TENSOR_BY_FLAG or PIPELINE > 1 )",
        "AutoEP takes tensor ranks of AutoTP alone, without a pipeline", kDsEngine,
        R"(--tp 2 {"train_micro_batch_size_per_gpu": 1, "expert_parallel": {"enabled": true, "autoep_size": 2}})"},
       {kDsRefuses, "AUTO_EP and TENSOR > 1 and ( SEQUENCE > 1 or EXPERT == 1 or OFFLOAD or OFFLOAD_PARAM )",
        "AutoEP with AutoTP takes several expert ranks, no sequence ranks and no offload", kDsExperts,
        R"({"train_micro_batch_size_per_gpu": 1, "tensor_parallel": {"autotp_size": 2},
                "expert_parallel": {"enabled": true, "autoep_size": 1}})"},
       {kDsRefuses, "AUTO_EP and EXPERT_BACKEND == deepep and EXPERT_TOKENS < 1",
        "comm_backend deepep takes comm_max_tokens_per_rank: microbatch x sequence",
        "module_inject/auto_ep_config.py: validate_autoep_config",
        R"({"train_micro_batch_size_per_gpu": 1,
                "expert_parallel": {"enabled": true, "autoep_size": 2, "comm_backend": "deepep"}})"},
       {kDsRefuses, "AUTO_EP and STAGE == 3 and ( SEQUENCE > 1 or QUANTIZED_SUMS or SECONDARY > 1 )",
        "AutoEP with ZeRO-3 takes no sequence ranks, no zero_quantized_gradients and no zero_hpz_partition_size",
        kDsMoe3,
        R"({"train_micro_batch_size_per_gpu": 1, "expert_parallel": {"enabled": true, "autoep_size": 2},
                "zero_optimization": {"stage": 3, "zero_quantized_gradients": true}})"},
       {kDsRefuses, "AUTO_EP and STAGE in 1,2 and not BF16_OPTIMIZER and ( UNSCATTERED or STAGE == 2 and UNJOINED )",
        "AutoEP with ZeRO-1 and ZeRO-2 takes reduce_scatter, and with ZeRO-2 contiguous_gradients", kDsStage2,
        R"({"train_micro_batch_size_per_gpu": 1, "expert_parallel": {"enabled": true, "autoep_size": 2},
                "zero_optimization": {"stage": 2, "reduce_scatter": false}})"}});
}

void add_others(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{RuleKind::kCut, "PipelineModule's partition_method, parameters by default",
        "weights of stages as alike as its program makes them; the final norm is a layer of its own",
        "runtime/pipe/module.py: PipelineModule"},
       {RuleKind::kDefault, "data_types.grad_accum_dtype", "the model's format, at every stage of ZeRO", kDsEngine},
       {RuleKind::kDefault, "bf16 in a pipeline without ZeRO, or ZeRO-1 with sums in fp32",
        "BF16_Optimizer: the optimizer's state is shared as with ZeRO-1, and 16-bit gradients stay beside the sums "
        "unless immediate_grad_update is on",
        "runtime/bf16_optimizer.py: BF16_Optimizer"},
       {RuleKind::kDefault, "zero_optimization.stage above 0 with 32-bit weights",
        "the optimizer updates a copy of them", kDsStage2},
       {RuleKind::kDefault, "torch_autocast.dtype", "float16", "runtime/torch_autocast.py: autocast_if_enabled"},
       {RuleKind::kDefault, "pipeline.pipe_partitioned, pipeline.grad_partitioned",
        "true: tensor ranks send a share each of what goes to the next stage, and gather", kDsPipe},
       {RuleKind::kDefault, "gradient_accumulation_steps", "1, or what the two batch sizes leave", kDsConfig},
       {RuleKind::kDefault, "tensor_parallel.autotp_size",
        "batch sizes are divided by all ranks, those of one model's tensor among them", kDsConfig},
       {RuleKind::kNotModelled, "offload_optimizer, offload_param", "the state stays on the GPU, traffic is free", ""},
       {RuleKind::kNotModelled, "pipeline.stages, pipeline.partition",
        "DeepSpeed reads them nowhere; here the first is a number of stages where --stages is not given", kDsPipe},
       {RuleKind::kNotModelled, "pipeline.activation_checkpoint_interval",
        "embedding and head run again, too; here blocks do", "runtime/pipe/module.py: PipelineModule"},
       {RuleKind::kNotModelled, "spellings of releases without checks (stage3_param_persitence_threshold)",
        "the release refuses them; here they change nothing", ""}});
}

void add_deepspeed_runs(std::vector<FrameworkRule>& rows) {
  const std::size_t begin = rows.size();
  rows.insert(
      rows.end(),
      {{kDsRefuses, "RING", "ranks that share a sequence exchange heads (Ulysses): --context-exchange all-to-all",
        "sequence/layer.py: DistributedAttention", "--cp 2"},
       {kDsRefuses, "EXCHANGE_OVERLAP", "no other pass hides an exchange of experts: --moe-overlap off", kDsExperts,
        "--model mixtral-8x7b --dp 4 --ep 4 --moe-overlap on"},
       {kDsRefuses, "RUN_FORMAT == fp8", "it has no products in 8 bits", kDsConfig, "--dtype fp8"},
       {kDsRefuses, "RECOMPUTED_BLOCKS outside chunks",
        "activation_checkpoint_interval N keeps the input of N layers in a row: chunks:N",
        "runtime/pipe/module.py: PipelineModule", "-p 4 -m 8 --recompute full --recompute-blocks first:2"},
       {kDsRefuses, "RECOMPUTED_MODULES in op,budget", "whole layers are recomputed, not ops",
        "runtime/activation_checkpointing/checkpointing.py", "--recompute selective --recompute-modules op"}});
  mark_of_run(rows, begin);
  add_run_rules(rows);
}

std::vector<RuleFact> deepspeed_fact_names() {
  return {{"STAGE", "zero_optimization.stage"},
          {"PIPELINE", "pipeline stages"},
          {"TENSOR", "tensor ranks"},
          {"SEQUENCE", "sequence_parallel_size"},
          {"EXPERT", "expert ranks"},
          {"WORLD", "ranks in all"},
          {"DATA_SIZE", "data_parallel_size"},
          {"BATCH", "train_batch_size"},
          {"MICRO", "train_micro_batch_size_per_gpu"},
          {"STEPS", "gradient_accumulation_steps"},
          {"PRODUCT", "microbatch x steps x ranks that share the batch"},
          {"NO_BATCH", "neither batch size is given"},
          {"FORMAT", "format of weights in products"},
          {"SUMS", "format of gradients' sums"},
          {"PARAM_FORMAT", "data_types.param_dtype"},
          {"FP16", "fp16.enabled"},
          {"BF16", "bf16.enabled"},
          {"AUTOCAST", "torch_autocast.enabled"},
          {"MASTERS_16", "bf16.bf16_master_weights_and_grads"},
          {"MASTERS_FP16", "fp16.fp16_master_weights_and_grads"},
          {"STATES_16", "bf16.bf16_optimizer_states"},
          {"BF16_OPTIMIZER", "BF16_Optimizer sums the gradients"},
          {"OPTIMIZER", "optimizer.type"},
          {"NO_OPTIMIZER", "no such optimizer.type"},
          {"UNTESTED", "an optimizer that ZeRO was not tested with"},
          {"ALLOWED", "zero_allow_untested_optimizer"},
          {"CLIPS", "optimizer.params.max_grad_norm"},
          {"STATIC_SCALE", "fp16.loss_scale"},
          {"OFFLOAD", "zero_optimization.offload_optimizer"},
          {"OFFLOAD_PARAM", "zero_optimization.offload_param"},
          {"OFFLOAD_RATIO", "zero_optimization.offload_optimizer.ratio"},
          {"OVERLAP", "zero_optimization.overlap_comm"},
          {"REDUCE_SCATTER", "zero_optimization.reduce_scatter"},
          {"PRESCALE", "prescale_gradients"},
          {"PREDIVIDE", "gradient_predivide_factor"},
          {"REDUCE_BY", "gradient_allreduce_op"},
          {"COMM_FORMAT", "communication_data_type"},
          {"NO_NORM", "compute_grad_norm is false"},
          {"CLIPPING", "gradient_clipping"},
          {"UNSCATTERED", "reduce_scatter is false"},
          {"UNJOINED", "contiguous_gradients is false"},
          {"QUANTIZED_SUMS", "zero_optimization.zero_quantized_gradients"},
          {"SECONDARY", "zero_optimization.zero_hpz_partition_size"},
          {"LEGACY", "zero_optimization.legacy_stage1"},
          {"QUANTIZED", "zero_optimization.zero_quantized_weights"},
          {"UNMANAGED", "managed_gradient_accumulation is false"},
          {"AUTO_EP", "expert_parallel.enabled"},
          {"EXPERT_TENSOR", "expert tensor ranks"},
          {"EXPERT_BACKEND", "expert_parallel.comm_backend"},
          {"EXPERT_TOKENS", "expert_parallel.comm_max_tokens_per_rank"},
          {"TENSOR_BY_FLAG", "tensor ranks by --tp"},
          {"REMOVED", "removed keys"},
          {"UNKNOWN", "unknown keys"},
          {"RING", "context ranks that send keys and values around"}};
}

}  // namespace

FrameworkRules deepspeed_rules() {
  FrameworkRules rules{
      "deepspeed", "DeepSpeed",           "DeepSpeed 0.19.8", R"({"train_micro_batch_size_per_gpu": 1})",
      {},          deepspeed_fact_names()};
  add_run_facts(rules.facts);
  add_batches(rules.rows);
  add_number_formats(rules.rows);
  add_zero(rules.rows);
  add_optimizers(rules.rows);
  add_experts(rules.rows);
  add_deepspeed_runs(rules.rows);
  add_others(rules.rows);
  return rules;
}

}  // namespace debubble
