#include "formats/megatron/rule_facts.hpp"

namespace debubble {

std::vector<RuleFact> megatron_fact_names() {
  return {
      {"WORLD", "ranks in all"},
      {"MODEL", "ranks of one replica",
       "--tensor-model-parallel-size,--pipeline-model-parallel-size,--context-parallel-size,"
       "--tensor-parallel-num-weight-shards"},
      {"EXPERT_MODEL", "ranks of one replica of the experts",
       "--tensor-model-parallel-size,--pipeline-model-parallel-size,--expert-model-parallel-size,"
       "--expert-tensor-parallel-size"},
      {"RANKS", "replicas"},
      {"ETP", "expert tensor ranks", "--tensor-model-parallel-size,--expert-tensor-parallel-size"},
      {"SHARDS", "ranks that hold a part of each weight beside the tensor ranks",
       "--tensor-parallel-num-weight-shards"},
      {"BATCH", "samples of a step", "--global-batch-size"},
      {"MICRO_BATCHES", "samples of one microbatch on all replicas", "--micro-batch-size"},
      {"EVAL_BATCH", "samples of an evaluation", "--eval-global-batch-size"},
      {"EVAL_MICRO_BATCHES", "samples of one microbatch of an evaluation on all replicas", "--eval-micro-batch-size"},
      {"MICROBATCHES", "microbatches of a step"},
      {"GROUP", "microbatches that pass a virtual stage before the next one's turn",
       "--microbatch-group-size-per-virtual-pipeline-stage"},
      {"CHUNKS", "virtual stages of a rank",
       "--num-layers-per-virtual-pipeline-stage,--num-virtual-stages-per-pipeline-rank,"
       "--pipeline-model-parallel-layout"},
      {"CHUNK_ARGUMENTS", "arguments that say the virtual stages",
       "--num-layers-per-virtual-pipeline-stage,--num-virtual-stages-per-pipeline-rank,"
       "--pipeline-model-parallel-layout"},
      {"BLOCKS", "layers, with the embedding and the loss where they count as layers",
       "--num-layers,--account-for-embedding-in-pipeline-split,--account-for-loss-in-pipeline-split"},
      {"EVEN", "an even cut"},
      {"UNEVEN", "layers of the first or last rank are given",
       "--decoder-first-pipeline-num-layers,--decoder-last-pipeline-num-layers"},
      {"MIDDLE", "layers on the ranks between the first and the last",
       "--num-layers,--decoder-first-pipeline-num-layers,--decoder-last-pipeline-num-layers"},
      {"MIDDLE_RANKS", "ranks between the first and the last", "--pipeline-model-parallel-size"},
      {"SMALLEST_STAGE", "layers of the smallest stage",
       "--num-layers,--account-for-embedding-in-pipeline-split,--account-for-loss-in-pipeline-split"},
      {"LAYOUT", "a layout fits, or what is wrong with it: unreadable, misplaced, predictors",
       "--pipeline-model-parallel-layout"},
      {"LAYOUT_STAGES", "stages of the layout", "--pipeline-model-parallel-layout"},
      {"LAYOUT_BLOCKS", "t of the layout", "--pipeline-model-parallel-layout"},
      {"LAYOUT_PREDICTORS", "m of the layout", "--pipeline-model-parallel-layout"},
      {"PREDICTORS", "layers of multi-token prediction", "--mtp-num-layers"},
      {"EXPERTS", "experts", "--num-experts"},
      {"PATTERN", "which layers have experts: fits, or unreadable", "--moe-layer-freq"},
      {"PATTERN_LENGTH", "items of the list", "--moe-layer-freq"},
      {"MIXED", "not every layer has experts", "--moe-layer-freq"},
      {"BALANCINGS", "kinds of balancing", "--moe-router-load-balancing-type"},
      {"BALANCING_COEFFICIENTS", "coefficients of balancing", "--moe-aux-loss-coeff"},
      {"RECOMPUTE", "recomputation", "--recompute-granularity,--recompute-activations,--moe-layer-recompute"},
      {"MODULES", "recomputed modules", "--recompute-modules,--moe-layer-recompute"},
      {"OFFLOADED", "offloaded layers", "--cpu-offloading-num-layers,--cpu-offloading"},
      {"OFFLOAD_MODULES", "offloaded modules", "--offload-modules"},
      {"GRAPHS", "kind of CUDA graphs", "--cuda-graph-impl,--enable-cuda-graph,--external-cuda-graph"},
      {"QUERY_GROUPS", "groups of queries", "--num-query-groups,--num-attention-heads"},
      {"SEQUENCE_PARALLEL", "sequence parallelism over several tensor ranks", "--sequence-parallel"},
      {"CONTEXT_TYPES", "kinds of exchange between context ranks", "--cp-comm-type"},
      {"CONTEXT_PRODUCT", "product of the hierarchy's sizes", "--hierarchical-context-parallel-sizes"},
      {"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DEVICE_MAX_CONNECTIONS"},
  };
}

}  // namespace debubble
