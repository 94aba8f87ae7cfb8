#include "formats/megatron/rule_table.hpp"

namespace debubble {
namespace {

constexpr const char* kOptimizer = "core/optimizer/optimizer_config.py: OptimizerConfig";
constexpr const char* kBuckets = "core/distributed/distributed_data_parallel_config.py: DistributedDataParallelConfig";
constexpr const char* kTranslate = "training/argument_utils.py: core_transformer_config_from_args";

void add_recomputation(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kRefused, "RECOMPUTE outside full,selective", "recomputation is full or selective", kTransformerConfig,
        "--recompute-granularity some"},
       {kRefused, "RECOMPUTE == full and not --recompute-method",
        "full recomputation goes with --recompute-method block or uniform", kTransformerConfig,
        "--recompute-granularity full --recompute-num-layers 1"},
       {kRefused, "RECOMPUTE and --recompute-method outside block,uniform", "the method is block or uniform",
        kTransformerConfig, "--recompute-granularity full --recompute-method some --recompute-num-layers 1"},
       {kRefused, "RECOMPUTE == full and not given --recompute-num-layers",
        "full recomputation goes with --recompute-num-layers", kTransformerConfig,
        "--recompute-granularity full --recompute-method uniform"},
       {kRefused, "RECOMPUTE == selective and --recompute-method", "selective recomputation has no --recompute-method",
        kValidateArgs, "--recompute-activations --recompute-method uniform"},
       {kRefused, "RECOMPUTE == selective and given --recompute-num-layers",
        "selective recomputation has no --recompute-num-layers", kTransformerConfig,
        "--recompute-granularity selective --recompute-num-layers 1"},
       {kRefused,
        "RECOMPUTE == selective and MODULES outside "
        "core_attn,moe_act,layernorm,mla_up_proj,mlp,moe,shared_experts,gdn_norm_out",
        "no such module is recomputed", kTransformerConfig,
        "--recompute-granularity selective --recompute-modules attn"},
       {kRefused, "RECOMPUTE == selective and MODULES in moe_act and not --moe-grouped-gemm",
        "moe_act is recomputed with --moe-grouped-gemm alone", kTransformerConfig,
        "--recompute-granularity selective --recompute-modules moe_act"},
       {kRefused, "RECOMPUTE == selective and MODULES in mla_up_proj and not --multi-latent-attention",
        "mla_up_proj is recomputed with --multi-latent-attention alone", kTransformerConfig,
        "--recompute-granularity selective --recompute-modules mla_up_proj"},
       {kRefused,
        "RECOMPUTE == selective and MODULES in gdn_norm_out and --experimental-attention-variant != "
        "gated_delta_net",
        "gdn_norm_out is recomputed with gated_delta_net alone", kTransformerConfig,
        "--recompute-granularity selective --recompute-modules gdn_norm_out "
        "--experimental-attention-variant dsa"},
       {kRefused,
        "RECOMPUTE == selective and MODULES in shared_experts and --moe-shared-expert-intermediate-size and "
        "--moe-shared-expert-overlap",
        "shared experts that overlap the exchange are not recomputed", kTransformerConfig,
        "--num-experts 8 --moe-token-dispatcher-type alltoall --moe-shared-expert-intermediate-size 64 "
        "--moe-shared-expert-overlap --recompute-granularity selective --recompute-modules shared_experts"},
       {kRefused,
        "RECOMPUTE == selective and MODULES in moe_act,layernorm and --fp8-format and --fp8-recipe == delayed",
        "scales of earlier steps (delayed) do not go with recomputing moe_act or layernorm", kTransformerConfig,
        "--fp8-format hybrid --recompute-granularity selective --recompute-modules layernorm"},
       {kRefused, "--moe-layer-recompute and RECOMPUTE == full", "--moe-layer-recompute is selective recomputation",
        kTransformerConfig,
        "--num-experts 8 --moe-layer-recompute --recompute-granularity full --recompute-method uniform "
        "--recompute-num-layers 1"},
       {kRefused, "--distribute-saved-activations and --tensor-model-parallel-size < 2",
        "saved activations are distributed over tensor ranks", kValidateArgs, "--distribute-saved-activations"},
       {kRefused, "--distribute-saved-activations and ( RECOMPUTE != full or not RECOMPUTE or not --recompute-method )",
        "saved activations are distributed with full recomputation and a method", kValidateArgs,
        "--tensor-model-parallel-size 2 --distribute-saved-activations"},
       {kRefused, "--distribute-saved-activations and RECOMPUTE and SEQUENCE_PARALLEL",
        "with sequence parallelism saved activations are distributed already", kTransformerConfig,
        "--tensor-model-parallel-size 2 --sequence-parallel --distribute-saved-activations "
        "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1"},
       {kRefused, "OFFLOADED and ( OFFLOADED < 0 or OFFLOADED > --num-layers - 1 )",
        "fewer layers are offloaded than there are", kTransformerConfig, "--cpu-offloading-num-layers 32"},
       {kRefused, "OFFLOADED and --pipeline-model-parallel-size > 1", "offloading to the host knows no pipeline",
        kTransformerConfig, "--cpu-offloading-num-layers 3 --pipeline-model-parallel-size 2"},
       {kRefused, "OFFLOADED and RECOMPUTE", "offloading to the host goes without recomputation", kTransformerConfig,
        "--cpu-offloading-num-layers 3 --recompute-granularity selective"},
       {kRefused, "--fine-grained-activation-offloading and not OFFLOAD_MODULES",
        "what is offloaded is named by --offload-modules", kTransformerConfig, "--fine-grained-activation-offloading"},
       {kRefused,
        "--fine-grained-activation-offloading and OFFLOAD_MODULES outside "
        "core_attn,attn_proj,expert_fc1,fused_group_mlp,moe_act,attn_norm,mlp_norm,qkv_linear",
        "no such module is offloaded", kTransformerConfig,
        "--fine-grained-activation-offloading --offload-modules mlp"},
       {kRefused,
        "--fine-grained-activation-offloading and OFFLOAD_MODULES in attn_proj and not ( OFFLOAD_MODULES in "
        "core_attn )",
        "attn_proj is offloaded together with core_attn", kTransformerConfig,
        "--fine-grained-activation-offloading --offload-modules attn_proj"},
       {kRefused, "--fine-grained-activation-offloading and OFFLOADED",
        "activations leave by one way: in fine grain or by layers", kTransformerConfig,
        "--fine-grained-activation-offloading --offload-modules core_attn --cpu-offloading-num-layers 3"},
       {kRefused, "GRAPHS outside none,full_iteration and RECOMPUTE == full",
        "full recomputation goes with CUDA graphs of a full iteration alone", kTransformerConfig,
        "--cuda-graph-impl local --recompute-granularity full --recompute-method uniform "
        "--recompute-num-layers 1"},
       {kRefused, "GRAPHS == full_iteration and not --no-check-for-nan-in-loss-and-grad",
        "a graph of a full iteration goes with --no-check-for-nan-in-loss-and-grad", kValidateArgs,
        "--cuda-graph-impl full_iteration"},
       {kRefused, "GRAPHS outside none,full_iteration and OFFLOADED", "CUDA graphs of layers go without offloading",
        kTransformerConfig, "--cuda-graph-impl local --cpu-offloading-num-layers 3"},
       {kRefused,
        "( --enable-cuda-graph or --external-cuda-graph ) and --cuda-graph-impl and --cuda-graph-impl != none or "
        "--enable-cuda-graph and --external-cuda-graph",
        "one kind of CUDA graphs", kValidateArgs, "--enable-cuda-graph --cuda-graph-impl local"}});
}

void add_formats(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kRefused, "--fp16 and --bf16", "fp16 or bf16", kValidateArgs, "--fp16 --bf16"},
       {kRefused, "--fp8-format and --fp4-format", "products in 8 or in 4 bits", kValidateArgs,
        "--fp8-format hybrid --fp4-format e2m1"},
       {kRefused, "--fp8-param-gather and not --fp8-format", "--fp8-param-gather goes with --fp8-format",
        kTransformerConfig, "--fp8-param-gather --use-distributed-optimizer"},
       {kRefused,
        "--fp8-param-gather and not --use-distributed-optimizer and not --use-torch-fsdp2 and not "
        "--use-megatron-fsdp",
        "weights are gathered in 8 bits where the optimizer is sharded", kValidateArgs,
        "--fp8-format hybrid --fp8-param-gather"},
       {kRefused, "--fp4-param-gather and not --fp4-format", "--fp4-param-gather goes with --fp4-format", kValidateArgs,
        "--fp4-param-gather"},
       {kRefused, "SHARDS > 1 and --fp4-format and not --fp4-param-gather",
        "weight shards in 4 bits go with --fp4-param-gather", kValidateArgs,
        "--tensor-parallel-num-weight-shards 2 --fp4-format e2m1"},
       {kRefused, "SHARDS > 1 and --fp8-recipe == mxfp8 and not --fp8-param-gather",
        "weight shards in mxfp8 go with --fp8-param-gather", kValidateArgs,
        "--tensor-parallel-num-weight-shards 2 --fp8-format e4m3 --fp8-recipe mxfp8"},
       {kRefused, "--fp8-format and --first-last-layers-bf16 and --fp8-recipe == delayed",
        "scales of earlier steps (delayed) do not go with first and last layers in bf16", kTransformerConfig,
        "--fp8-format hybrid --first-last-layers-bf16"},
       {kRefused,
        "--fp8-format and --first-last-layers-bf16 and ( --num-layers-at-start-in-bf16 > --num-layers / "
        "--pipeline-model-parallel-size or --num-layers-at-end-in-bf16 > --num-layers / "
        "--pipeline-model-parallel-size )",
        "layers in bf16 lie on the first and the last rank", kTransformerConfig,
        "--pipeline-model-parallel-size 8 --fp8-format hybrid --fp8-recipe tensorwise --first-last-layers-bf16 "
        "--num-layers-at-start-in-bf16 5"},
       {kRefused, "--fp16-lm-cross-entropy and not --fp16", "a loss in fp16 goes with --fp16", kValidateArgs,
        "--fp16-lm-cross-entropy"},
       {kRefused, "--fp32-residual-connection and not --fp16 and not --bf16",
        "a residual stream in fp32 goes with fp16 or bf16", kValidateArgs, "--fp32-residual-connection"},
       {kRefused, "--accumulate-allreduce-grads-in-fp32 and --bf16 and --main-grads-dtype != fp32",
        "gradients that are summed in fp32 are kept in it", kValidateArgs,
        "--bf16 --accumulate-allreduce-grads-in-fp32 --main-grads-dtype bf16 --use-precision-aware-optimizer "
        "--use-distributed-optimizer"},
       {kRefused,
        "not --use-precision-aware-optimizer and ( --main-grads-dtype != fp32 or --main-params-dtype != fp32 or "
        "--exp-avg-dtype != fp32 or --exp-avg-sq-dtype != fp32 )",
        "other formats than fp32 in the optimizer go with --use-precision-aware-optimizer", kOptimizer,
        "--use-distributed-optimizer --exp-avg-dtype bf16"},
       {kRefused,
        "--use-precision-aware-optimizer and ( not --use-distributed-optimizer and not --use-megatron-fsdp or "
        "--optimizer != adam )",
        "--use-precision-aware-optimizer goes with Adam and --use-distributed-optimizer", kOptimizer,
        "--use-precision-aware-optimizer"},
       {kRefused, "--main-grads-dtype outside fp32,bf16", "gradients are kept in fp32 or bf16", kParseArgs,
        "--main-grads-dtype fp16 --use-precision-aware-optimizer --use-distributed-optimizer"},
       {kRefused, "--exp-avg-dtype outside fp32,fp16,bf16,fp8 or --exp-avg-sq-dtype outside fp32,fp16,bf16,fp8",
        "moments are kept in fp32, fp16, bf16 or fp8", kParseArgs,
        "--exp-avg-dtype fp4 --use-precision-aware-optimizer --use-distributed-optimizer"},
       {kRefused, "--optimizer outside adam,sgd,muon,dist_muon,lion,soap,adaptive_muon", "no such optimizer",
        kParseArgs, "--optimizer lamb"},
       {kRefused, "--swiglu and ( --squared-relu or --quick-geglu )", "one activation function", kTranslate,
        "--swiglu --squared-relu"},
       {kRefused, "--cross-entropy-loss-fusion and --cross-entropy-fusion-impl == te",
        "Transformer Engine's fused loss is switched off in this release", kValidateArgs,
        "--cross-entropy-loss-fusion --cross-entropy-fusion-impl te"},
       {kRefused, "--multi-latent-attention and --group-query-attention", "latent attention has no query groups",
        kValidateArgs, "--multi-latent-attention --group-query-attention --num-query-groups 8"},
       {kRefused,
        "--multi-latent-attention and --rope-type == rope and --position-embedding-type == rope and not "
        "--no-rope-fusion",
        "fused rotation of latent attention is that of --rope-type yarn", kTransformerConfig,
        "--multi-latent-attention --rope-type rope"},
       {kRefused, "not --multi-latent-attention and given --rope-type and --rope-type != rope",
        "--rope-type yarn is of latent attention", kTranslate, "--rope-type yarn"},
       {kRefused, "--attention-backend == local and not ( --spec in local )",
        "--attention-backend local goes with --spec local", kValidateArgs, "--attention-backend local"},
       {kRefused, "--multi-latent-attention and --rotary-interleaved", "latent attention does not interleave rotation",
        kTransformerConfig, "--multi-latent-attention --rotary-interleaved"},
       {kRefused, "--no-position-embedding and --position-embedding-type != rope",
        "a model without positions is asked for by --position-embedding-type none", kValidateArgs,
        "--no-position-embedding --position-embedding-type learned_absolute"}});
}

void add_sharding(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kRefused,
        "--overlap-param-gather and not --use-distributed-optimizer and not --use-megatron-fsdp and --optimizer != "
        "dist_muon",
        "weights are gathered beside computing where the optimizer is sharded", kValidateArgs,
        "--overlap-grad-reduce --overlap-param-gather"},
       {kRefused, "--overlap-param-gather and not --overlap-grad-reduce",
        "--overlap-param-gather goes with --overlap-grad-reduce", kValidateArgs,
        "--use-distributed-optimizer --overlap-param-gather"},
       {kRefused,
        "--overlap-param-gather-with-optimizer-step and ( not --use-distributed-optimizer or not "
        "--overlap-param-gather or CHUNKS < 2 or --ckpt-format != torch )",
        "a gather beside the optimizer step goes with a sharded optimizer, --overlap-param-gather, virtual stages "
        "and "
        "--ckpt-format torch",
        kValidateArgs,
        "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather "
        "--overlap-param-gather-with-optimizer-step"},
       {kRefused, "--tp-comm-overlap and not SEQUENCE_PARALLEL",
        "--tp-comm-overlap goes with --sequence-parallel over several tensor ranks", kValidateArgs,
        "--tensor-model-parallel-size 2 --tp-comm-overlap"},
       {kRefused, "given --ddp-bucket-size and given --ddp-num-buckets", "buckets are given by size or by number",
        kBuckets, "--ddp-bucket-size 1000000 --ddp-num-buckets 4"},
       {kRefused, "--reuse-grad-buf-for-mxfp8-param-ag and not --fp8-param-gather",
        "the gradients' buffer is used again for weights in 8 bits alone", kBuckets,
        "--reuse-grad-buf-for-mxfp8-param-ag"},
       {kRefused, "--data-parallel-sharding-strategy outside no_shard,optim,optim_grads,optim_grads_params",
        "no such sharding", kParseArgs, "--data-parallel-sharding-strategy all"},
       {kRefused,
        "--use-torch-fsdp2 and ( --pipeline-model-parallel-size > 1 or --expert-model-parallel-size > 1 or "
        "--use-distributed-optimizer or not --no-gradient-accumulation-fusion or --ckpt-format outside "
        "torch_dist,torch_dcp or not --untie-embeddings-and-output-weights or --fp16 )",
        "PyTorch's FSDP2 goes without pipeline, expert ranks, --use-distributed-optimizer and --fp16, with "
        "--no-gradient-accumulation-fusion, --untie-embeddings-and-output-weights and --ckpt-format torch_dist",
        kValidateArgs, "--use-torch-fsdp2 --untie-embeddings-and-output-weights"},
       {kRefused, "( --use-torch-fsdp2 or --use-megatron-fsdp ) and CUDA_DEVICE_MAX_CONNECTIONS == 1",
        "FSDP needs several connections to the device: CUDA_DEVICE_MAX_CONNECTIONS is not 1", kValidateArgs,
        "--use-megatron-fsdp --ckpt-format fsdp_dtensor"},
       {kRefused, "--use-megatron-fsdp and given --ckpt-format and --ckpt-format != fsdp_dtensor",
        "Megatron-FSDP saves as fsdp_dtensor", kValidateArgs, "--use-megatron-fsdp --ckpt-format torch_dist"},
       {kRefused, "--ckpt-format == fsdp_dtensor and not --use-megatron-fsdp", "fsdp_dtensor is Megatron-FSDP's format",
        kValidateArgs, "--ckpt-format fsdp_dtensor"},
       {kRefused,
        "--ckpt-format == torch_dcp and ( not --use-torch-fsdp2 or --tensor-model-parallel-size > 1 or "
        "--pipeline-model-parallel-size > 1 )",
        "torch_dcp is the format of FSDP2 without tensor or pipeline ranks", kValidateArgs, "--ckpt-format torch_dcp"},
       {kRefused, "--use-megatron-fsdp and --optimizer outside adam,sgd", "Megatron-FSDP runs Adam or SGD",
        kValidateArgs, "--use-megatron-fsdp --ckpt-format fsdp_dtensor --optimizer muon"},
       {kRefused,
        "--use-megatron-fsdp and --init-model-with-meta-device and --data-parallel-sharding-strategy == no_shard",
        "what is not sharded is not made on the meta device", kValidateArgs,
        "--use-megatron-fsdp --ckpt-format fsdp_dtensor --init-model-with-meta-device "
        "--data-parallel-sharding-strategy no_shard"},
       {kRefused, "--fsdp-manual-registration and not ( --use-megatron-fsdp and --use-nccl-ub )",
        "buffers are registered by hand with --use-megatron-fsdp and --use-nccl-ub", kValidateArgs,
        "--fsdp-manual-registration"},
       {kRefused, "--hybrid-context-parallel and --use-megatron-fsdp",
        "hybrid context parallelism does not go with Megatron-FSDP", kValidateArgs,
        "--use-megatron-fsdp --ckpt-format fsdp_dtensor --hybrid-context-parallel --calculate-per-token-loss"},
       {kRefused, "--optimizer outside adam,sgd and ( --use-torch-fsdp2 or --ckpt-format outside torch,torch_dist )",
        "this optimizer knows neither FSDP2 nor other formats of checkpoints than torch and torch_dist", kValidateArgs,
        "--optimizer muon --ckpt-format zarr"},
       {kRefused, "--optimizer-cpu-offload and not --use-precision-aware-optimizer",
        "an optimizer on the host goes with --use-precision-aware-optimizer", kValidateArgs, "--optimizer-cpu-offload"},
       {kRefused, "--optimizer-cpu-offload and --fp8-param-gather and --fp8-recipe != delayed",
        "an optimizer on the host goes with weights in 8 bits of delayed scales alone", kValidateArgs,
        "--use-distributed-optimizer --use-precision-aware-optimizer --optimizer-cpu-offload --fp8-format hybrid "
        "--fp8-param-gather --fp8-recipe tensorwise"}});
}

}  // namespace

void add_megatron_step_rules(std::vector<FrameworkRule>& rows) {
  add_recomputation(rows);
  add_formats(rows);
  add_sharding(rows);
}

}  // namespace debubble
