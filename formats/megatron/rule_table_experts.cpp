#include "formats/megatron/rule_table.hpp"

namespace debubble {
namespace {

constexpr const char* kBlocks = "core/models/gpt/gpt_layer_specs.py: get_gpt_decoder_layer_specs";

void add_routing(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kRefused, "--expert-model-parallel-size > 1 and not EXPERTS", "expert ranks go with experts", kValidateArgs,
        "--expert-model-parallel-size 2"},
       {kRefused, "EXPERTS % --expert-model-parallel-size != 0", "experts are a multiple of the expert ranks",
        kValidateArgs, "--num-experts 10 --expert-model-parallel-size 4"},
       {kRefused, "given --moe-ffn-hidden-size and not EXPERTS and not MIXED",
        "--moe-ffn-hidden-size goes with experts", kTransformerConfig, "--moe-ffn-hidden-size 1000"},
       {kRefused, "EXPERTS and not --disable-bias-linear and ETP > 1",
        "biases of experts go with one expert tensor rank", kTransformerConfig,
        "--num-experts 8 --tensor-model-parallel-size 2"},
       {kRefused, "EXPERTS and given --moe-layer-freq and PATTERN_LENGTH != --num-layers",
        "--moe-layer-freq as a list has an item for each layer", kBlocks, "--num-experts 8 --moe-layer-freq [0,1]*15"},
       {kRefused, "EXPERTS and PATTERN == unreadable", "--moe-layer-freq is a number or a list of 0 and 1", kBlocks,
        "--num-experts 8 --moe-layer-freq [0,2]*16"},
       {kRefused,
        "--moe-router-topk == 1 and --moe-router-score-function == softmax and not --moe-router-pre-softmax and "
        "--moe-router-load-balancing-type != sinkhorn",
        "one expert per token goes with --moe-router-pre-softmax", kTransformerConfig,
        "--num-experts 8 --moe-router-topk 1"},
       {kRefused, "--moe-router-group-topk and not --moe-router-num-groups",
        "--moe-router-group-topk goes with --moe-router-num-groups", kTransformerConfig,
        "--num-experts 8 --moe-router-group-topk 2"},
       {kRefused, "--moe-router-group-topk and EXPERTS % --moe-router-num-groups != 0",
        "experts are a multiple of their groups", kTransformerConfig,
        "--num-experts 8 --moe-router-num-groups 3 --moe-router-group-topk 2"},
       {kRefused, "--moe-router-group-topk > --moe-router-num-groups", "a token has no more groups than there are",
        kTransformerConfig, "--num-experts 8 --moe-router-num-groups 4 --moe-router-group-topk 5"},
       {kRefused, "--moe-router-group-topk and --moe-router-topk-limited-devices",
        "groups are limited by --moe-router-group-topk alone", kTransformerConfig,
        "--num-experts 8 --moe-router-num-groups 4 --moe-router-group-topk 2 --moe-router-topk-limited-devices 2"},
       {kRefused, "--moe-router-enable-expert-bias and --moe-router-score-function outside sigmoid,sqrtsoftplus",
        "a bias of experts goes with the score function sigmoid or sqrtsoftplus", kTransformerConfig,
        "--num-experts 8 --moe-router-enable-expert-bias"},
       {kRefused,
        "given --moe-expert-capacity-factor and --moe-router-load-balancing-type outside "
        "aux_loss,seq_aux_loss,global_aux_loss,none",
        "a capacity goes with balancing by losses or none", kTransformerConfig,
        "--num-experts 8 --moe-router-load-balancing-type sinkhorn --moe-expert-capacity-factor 1.0"},
       {kRefused, "BALANCINGS > 1 and BALANCINGS != BALANCING_COEFFICIENTS",
        "each loss that balances has a coefficient", kTransformerConfig,
        "--num-experts 8 --moe-router-load-balancing-type aux_loss seq_aux_loss"},
       {kRefused,
        "--moe-router-load-balancing-type outside "
        "aux_loss,seq_aux_loss,global_aux_loss,sinkhorn,quantile_balancing,none",
        "no such balancing", kParseArgs, "--num-experts 8 --moe-router-load-balancing-type even"},
       {kRefused,
        "--moe-pad-expert-input-to-capacity and ( not given --moe-expert-capacity-factor or "
        "--moe-expert-capacity-factor < 0 )",
        "padding to a capacity goes with --moe-expert-capacity-factor", kTransformerConfig,
        "--num-experts 8 --moe-pad-expert-input-to-capacity"},
       {kRefused, "given --moe-shared-expert-intermediate-size and --moe-shared-expert-intermediate-size < 1",
        "shared experts have a size", kTransformerConfig, "--num-experts 8 --moe-shared-expert-intermediate-size 0"},
       {kRefused, "given --moe-latent-size and --moe-latent-size < 1", "a latent size of experts is above 0",
        kValidateArgs, "--num-experts 8 --moe-latent-size 0"},
       {kRefused, "given --moe-latent-size and not EXPERTS", "--moe-latent-size goes with experts", kValidateArgs,
        "--moe-latent-size 512"},
       {kRefused,
        "( --moe-router-padding-for-quantization or --moe-router-padding-for-fp8 ) and not --fp8-format and not "
        "--fp4-format",
        "padding for quantization goes with products in 8 or 4 bits", kTransformerConfig,
        "--num-experts 8 --moe-router-padding-for-quantization"},
       {kRefused,
        "( --moe-router-padding-for-quantization or --moe-router-padding-for-fp8 ) and --moe-token-dispatcher-type "
        "in allgather,alltoall_seq",
        "padding for quantization does not go with the allgather dispatcher", kTransformerConfig,
        "--num-experts 8 --moe-router-padding-for-quantization --fp8-format hybrid"}});
}

void add_exchange(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kRefused, "--moe-token-dispatcher-type outside allgather,alltoall,flex", "no such dispatcher", kParseArgs,
        "--num-experts 8 --moe-token-dispatcher-type pairs"},
       {kRefused, "--moe-enable-deepep and --moe-token-dispatcher-type != flex",
        "DeepEP goes with --moe-token-dispatcher-type flex", kTransformerConfig, "--num-experts 8 --moe-enable-deepep"},
       {kRefused, "--moe-enable-deepep and --moe-flex-dispatcher-backend == hybridep",
        "one backend of the flex dispatcher", kTransformerConfig,
        "--num-experts 8 --moe-token-dispatcher-type flex --moe-enable-deepep --moe-flex-dispatcher-backend "
        "hybridep"},
       {kRefused, "--moe-flex-dispatcher-backend == ncclep and --moe-token-dispatcher-type != flex",
        "NCCL EP goes with --moe-token-dispatcher-type flex", kTransformerConfig,
        "--num-experts 8 --moe-flex-dispatcher-backend ncclep"},
       {kRefused,
        "--moe-token-dispatcher-type == flex and --moe-pad-expert-input-to-capacity and ( --moe-enable-deepep or "
        "--moe-flex-dispatcher-backend == deepep )",
        "DeepEP does not pad to a capacity", kTransformerConfig,
        "--num-experts 8 --moe-token-dispatcher-type flex --moe-pad-expert-input-to-capacity "
        "--moe-expert-capacity-factor 1"},
       {kRefused,
        "--moe-shared-expert-overlap and given --moe-shared-expert-intermediate-size and "
        "--moe-token-dispatcher-type outside alltoall,flex",
        "shared experts overlap the exchange of the alltoall or flex dispatcher", kTransformerConfig,
        "--num-experts 8 --moe-shared-expert-intermediate-size 64 --moe-shared-expert-overlap"},
       {kRefused, "--overlap-moe-expert-parallel-comm and --pipeline-model-parallel-size > 1 and CHUNKS < 2",
        "an exchange beside the other pass goes with virtual stages", kTransformerConfig,
        "--pipeline-model-parallel-size 2 --bf16 --num-experts 8 --expert-model-parallel-size 2 "
        "--moe-token-dispatcher-type alltoall --overlap-moe-expert-parallel-comm"},
       {kRefused, "--overlap-moe-expert-parallel-comm and --expert-model-parallel-size < 2",
        "an exchange beside the other pass goes with several expert ranks", kTransformerConfig,
        "--bf16 --num-experts 8 --moe-token-dispatcher-type alltoall --overlap-moe-expert-parallel-comm"},
       {kRefused, "--overlap-moe-expert-parallel-comm and --moe-token-dispatcher-type outside alltoall,flex",
        "an exchange beside the other pass is that of the alltoall or flex dispatcher", kTransformerConfig,
        "--bf16 --num-experts 8 --expert-model-parallel-size 2 --overlap-moe-expert-parallel-comm"},
       {kRefused,
        "--overlap-moe-expert-parallel-comm and ( RECOMPUTE == full or --recompute-method or given "
        "--recompute-num-layers or MODULES in moe )",
        "an exchange beside the other pass goes without recomputing its block", kTransformerConfig,
        "--bf16 --num-experts 8 --expert-model-parallel-size 2 --moe-token-dispatcher-type alltoall "
        "--overlap-moe-expert-parallel-comm --recompute-granularity selective --recompute-modules moe"},
       {kRefused, "--overlap-moe-expert-parallel-comm and not --bf16 and not --fp16",
        "an exchange beside the other pass is of fp16 or bf16", kTransformerConfig,
        "--num-experts 8 --expert-model-parallel-size 2 --moe-token-dispatcher-type alltoall "
        "--overlap-moe-expert-parallel-comm"},
       {kRefused, "--overlap-moe-expert-parallel-comm and --moe-shared-expert-overlap",
        "an exchange overlaps the other pass or shared experts", kTransformerConfig,
        "--bf16 --num-experts 8 --expert-model-parallel-size 2 --moe-token-dispatcher-type alltoall "
        "--overlap-moe-expert-parallel-comm --moe-shared-expert-intermediate-size 64 --moe-shared-expert-overlap"},
       {kRefused, "--overlap-moe-expert-parallel-comm and PREDICTORS > 1",
        "an exchange beside the other pass goes with one predicted token at most", kTransformerConfig,
        "--bf16 --num-experts 8 --expert-model-parallel-size 2 --moe-token-dispatcher-type alltoall "
        "--overlap-moe-expert-parallel-comm --mtp-num-layers 2"},
       {kRefused, "--delay-wgrad-compute and not --overlap-moe-expert-parallel-comm",
        "weight gradients are delayed beside the exchange alone", kTransformerConfig, "--delay-wgrad-compute"},
       {kRefused,
        "--overlap-dispatch-backward-with-experts-wgrad and ( --overlap-moe-expert-parallel-comm or "
        "--delay-wgrad-compute )",
        "one thing overlaps the exchange", kTransformerConfig,
        "--bf16 --num-experts 8 --expert-model-parallel-size 2 --moe-token-dispatcher-type alltoall "
        "--overlap-moe-expert-parallel-comm --overlap-dispatch-backward-with-experts-wgrad"},
       {kRefused, "--ep-overlap-early-attn-memory-release and not --overlap-moe-expert-parallel-comm",
        "an early release of attention goes with the overlapped exchange", kTransformerConfig,
        "--num-experts 8 --ep-overlap-early-attn-memory-release"}});
}

}  // namespace

void add_megatron_expert_rules(std::vector<FrameworkRule>& rows) {
  add_routing(rows);
  add_exchange(rows);
}

}  // namespace debubble
