#include <algorithm>

#include "formats/megatron/rule_table.hpp"

namespace debubble {
namespace {

constexpr const char* kSchedule = "core/pipeline_parallel/schedules.py: forward_backward_pipelining_with_interleaving";
constexpr const char* kGroups = "core/parallel_state.py: initialize_model_parallel";
constexpr const char* kCounter = "core/num_microbatches_calculator.py: ConstantNumMicroBatchesCalculator";

// Ranks and sizes.
void add_ranks(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kRefused, "--tensor-parallel-num-weight-shards % --tensor-model-parallel-size != 0",
        "weight shards are a multiple of the tensor ranks", kParallelConfig,
        "--tensor-model-parallel-size 2 --tensor-parallel-num-weight-shards 3"},
       {kRefused, "--tensor-parallel-num-weight-shards < --tensor-model-parallel-size",
        "there are at least as many weight shards as tensor ranks", kParallelConfig,
        "--tensor-model-parallel-size 4 --tensor-parallel-num-weight-shards 2"},
       {kRefused, "WORLD % MODEL != 0",
        "the ranks are a multiple of tensor x pipeline x context x weight shards of each", kValidateArgs,
        "--tensor-model-parallel-size 3"},
       {kRefused, "WORLD % EXPERT_MODEL != 0", "the ranks are a multiple of expert tensor x expert x pipeline ranks",
        kGroups, "--num-experts 32 --expert-model-parallel-size 16"},
       {kRefused, "--use-tp-pp-dp-mapping and --pipeline-model-parallel-size > 1 and MODEL != EXPERT_MODEL",
        "with replicas outermost, experts have as many replicas as the rest", kGroups,
        "--use-tp-pp-dp-mapping --pipeline-model-parallel-size 2 --num-experts 8 --expert-model-parallel-size 2"},
       {kRefused, "--num-attention-heads % --tensor-model-parallel-size != 0",
        "attention heads are a multiple of the tensor ranks", kTransformerConfig,
        "--num-attention-heads 30 --kv-channels 128 --tensor-model-parallel-size 4"},
       {kRefused,
        "QUERY_GROUPS % --tensor-model-parallel-size != 0 and --tensor-model-parallel-size % QUERY_GROUPS != 0",
        "query groups are a multiple or a divisor of the tensor ranks", kTransformerConfig,
        "--group-query-attention --num-query-groups 6 --tensor-model-parallel-size 4"},
       {kRefused, "--num-attention-heads % QUERY_GROUPS != 0", "attention heads are a multiple of the query groups",
        "core/transformer/attention.py: SelfAttention", "--group-query-attention --num-query-groups 6"},
       {kRefused, "not given --kv-channels and --hidden-size % --num-attention-heads != 0",
        "heads share the hidden size evenly where --kv-channels is not given", kValidateArgs,
        "--num-attention-heads 30"},
       {kRefused, "--context-parallel-size > 1 and --seq-length % ( 2 * --context-parallel-size ) != 0",
        "the sequence is a multiple of twice the context ranks", kValidateArgs,
        "--context-parallel-size 2 --seq-length 4094"},
       {kRefused, "--max-position-embeddings < --seq-length", "positions reach as far as the sequence", kValidateArgs,
        "--max-position-embeddings 2048"},
       {kRefused, "--cp-comm-type in a2a+p2p and not given --hierarchical-context-parallel-sizes",
        "--cp-comm-type a2a+p2p goes with --hierarchical-context-parallel-sizes", kValidateArgs,
        "--context-parallel-size 4 --cp-comm-type a2a+p2p"},
       {kRefused, "given --hierarchical-context-parallel-sizes and CONTEXT_PRODUCT != --context-parallel-size",
        "the hierarchy's sizes multiply to the context ranks", kValidateArgs,
        "--context-parallel-size 4 --hierarchical-context-parallel-sizes 2 4"},
       {kRefused, "--context-parallel-size > 1 and CONTEXT_TYPES > 1 and CONTEXT_TYPES != --num-layers",
        "one --cp-comm-type, or one for each layer", kTransformerConfig,
        "--context-parallel-size 2 --cp-comm-type p2p a2a"},
       {kRefused, "--hybrid-context-parallel and --pipeline-model-parallel-size > 1",
        "hybrid context parallelism knows no pipeline", kValidateArgs,
        "--hybrid-context-parallel --calculate-per-token-loss --pipeline-model-parallel-size 2"},
       {kRefused, "--hybrid-context-parallel and not --calculate-per-token-loss",
        "hybrid context parallelism goes with --calculate-per-token-loss", kValidateArgs, "--hybrid-context-parallel"},
       {kRefused,
        "WORLD % MODEL == 0 and ( RANKS * --context-parallel-size ) % --num-distributed-optimizer-instances != 0",
        "optimizer instances divide the data x context ranks", kGroups, "--num-distributed-optimizer-instances 3"},
       {kRefused, "SHARDS > 1 and --num-distributed-optimizer-instances > 1",
        "weight shards go with one optimizer instance", kGroups,
        "--tensor-parallel-num-weight-shards 2 --num-distributed-optimizer-instances 2"},
       {kRefused, "SHARDS > 1 and --ddp-average-in-collective",
        "weight shards do not go with --ddp-average-in-collective", kValidateArgs,
        "--tensor-parallel-num-weight-shards 2 --ddp-average-in-collective"},
       {kRefused, "SHARDS > 1 and --ckpt-format outside torch,torch_dist",
        "weight shards are saved as torch or torch_dist", kValidateArgs,
        "--tensor-parallel-num-weight-shards 2 --ckpt-format zarr"},
       {kRefused, "BATCH % MICRO_BATCHES != 0", "the global batch is a multiple of microbatch x replicas", kCounter,
        "--global-batch-size 60"},
       {kRefused, "--eval-micro-batch-size or --eval-global-batch-size and EVAL_BATCH % EVAL_MICRO_BATCHES != 0",
        "the batch of an evaluation is a multiple of its microbatch x replicas", kValidateArgs,
        "--eval-global-batch-size 30"},
       {kRefused, "given --step-batch-size-schedule and given --global-batch-size",
        "the batch is given once: by its schedule or its size", kValidateArgs, "--step-batch-size-schedule 0:32"}});
}

void add_cut(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kRefused, "CHUNK_ARGUMENTS > 1",
        "one of --num-layers-per-virtual-pipeline-stage, --num-virtual-stages-per-pipeline-rank and "
        "--pipeline-model-parallel-layout",
        kValidateArgs,
        "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 4 "
        "--num-virtual-stages-per-pipeline-rank 2"},
       {kRefused,
        "given --num-layers-per-virtual-pipeline-stage and ( given --decoder-first-pipeline-num-layers or given "
        "--decoder-last-pipeline-num-layers )",
        "an uneven cut goes with --num-virtual-stages-per-pipeline-rank", kValidateArgs,
        "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 2 "
        "--decoder-first-pipeline-num-layers 5"},
       {kRefused, "EVEN and BLOCKS % --pipeline-model-parallel-size != 0",
        "layers, with the embedding and the loss where they count, are a multiple of the pipeline ranks", kValidateArgs,
        "--num-layers 34 --pipeline-model-parallel-size 4"},
       {kRefused,
        "given --num-layers-per-virtual-pipeline-stage and ( BLOCKS / --pipeline-model-parallel-size ) % "
        "--num-layers-per-virtual-pipeline-stage != 0",
        "a rank's layers are a multiple of those of a virtual stage", kValidateArgs,
        "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 3"},
       {kRefused, "EVEN and ( BLOCKS / --pipeline-model-parallel-size ) % CHUNKS != 0",
        "a rank's layers are a multiple of its virtual stages", kBlocksToBuild,
        "--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 3"},
       {kRefused, "EVEN and SMALLEST_STAGE < 0",
        "the first or last virtual stage has a layer for the embedding or the loss to take the place of",
        kBlocksToBuild,
        "--num-layers 3 --pipeline-model-parallel-size 1 --account-for-embedding-in-pipeline-split "
        "--num-virtual-stages-per-pipeline-rank 8"},
       {kRefused,
        "( given --decoder-first-pipeline-num-layers or given --decoder-last-pipeline-num-layers ) and ( "
        "--account-for-embedding-in-pipeline-split or --account-for-loss-in-pipeline-split )",
        "layers of the first or last rank are given, or embedding and loss count as layers", kTransformerConfig,
        "--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 5 "
        "--account-for-loss-in-pipeline-split"},
       {kRefused, "given --decoder-first-pipeline-num-layers and --decoder-first-pipeline-num-layers < 1",
        "the first rank has a layer", kTransformerConfig,
        "--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 0"},
       {kRefused, "given --decoder-last-pipeline-num-layers and --decoder-last-pipeline-num-layers < 1",
        "the last rank has a layer", kTransformerConfig,
        "--pipeline-model-parallel-size 4 --decoder-last-pipeline-num-layers 0"},
       {kRefused, "--decoder-first-pipeline-num-layers % CHUNKS != 0",
        "the first rank's layers are a multiple of its virtual stages", kTransformerConfig,
        "--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2 "
        "--decoder-first-pipeline-num-layers 5"},
       {kRefused, "--decoder-last-pipeline-num-layers % CHUNKS != 0",
        "the last rank's layers are a multiple of its virtual stages", kTransformerConfig,
        "--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2 "
        "--decoder-last-pipeline-num-layers 5"},
       {kRefused, "UNEVEN and ( MIDDLE > 0 ) != ( MIDDLE_RANKS > 0 )",
        "layers are left for the ranks between the first and the last, and ranks for the layers", kTransformerConfig,
        "--pipeline-model-parallel-size 2 --decoder-first-pipeline-num-layers 15 "
        "--decoder-last-pipeline-num-layers 16"},
       {kRefused, "UNEVEN and MIDDLE_RANKS > 0 and MIDDLE % MIDDLE_RANKS != 0",
        "the ranks between the first and the last share their layers evenly", kTransformerConfig,
        "--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 6"},
       {kRefused, "UNEVEN and MIDDLE_RANKS > 0 and ( MIDDLE / MIDDLE_RANKS ) % CHUNKS != 0",
        "the layers of a rank between are a multiple of its virtual stages", kTransformerConfig,
        "--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2 "
        "--decoder-first-pipeline-num-layers 8 --decoder-last-pipeline-num-layers 6"},
       {kRefused, "LAYOUT == unreadable", "a layout is of the letters E, t, m and L, |, x*N and (...)*N",
        kPipelineLayout, "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout Et*8|x*8|t*8|t*8L"},
       {kRefused, "LAYOUT_STAGES % --pipeline-model-parallel-size != 0",
        "a layout's stages are a multiple of the pipeline ranks", kValidateArgs,
        "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout Et*16|t*8|t*8L"},
       {kRefused, "LAYOUT == misplaced", "one E before everything else in a layout, one L behind it", kPipelineLayout,
        "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout t*8|t*8|t*8|t*8L"},
       {kRefused, "LAYOUT_BLOCKS != --num-layers", "a layout has a t for each layer", kPipelineLayout,
        "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout Et*8|t*8|t*7|t*8L"},
       {kRefused, "LAYOUT_PREDICTORS != PREDICTORS", "a layout has an m for each of --mtp-num-layers", kPipelineLayout,
        "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout Et*8|t*8|t*8|t*8mL"},
       {kRefused, "LAYOUT == predictors",
        "all m of a layout are on one stage, behind every t, on its rank's last virtual stage", kPipelineLayout,
        "--pipeline-model-parallel-size 4 --mtp-num-layers 2 --pipeline-model-parallel-layout "
        "Et*10|t*11|t*11m|mL"},
       {kRefused,
        "given --pipeline-model-parallel-layout and ( given --decoder-first-pipeline-num-layers or given "
        "--decoder-last-pipeline-num-layers or --account-for-embedding-in-pipeline-split or "
        "--account-for-loss-in-pipeline-split )",
        "a layout is the whole cut", kTransformerConfig,
        "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout Et*8|t*8|t*8|t*8L "
        "--account-for-loss-in-pipeline-split"}});
}

void add_order(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{kRefused, "CHUNKS > 1 and --pipeline-model-parallel-size < 2", "virtual stages go with several pipeline ranks",
        kValidateArgs, "--num-virtual-stages-per-pipeline-rank 2"},
       {kRefused, "CHUNKS > 1 and --no-overlap-p2p-communication and --pipeline-model-parallel-size == 2",
        "virtual stages on two ranks go with overlapped transfers", kValidateArgs,
        "--pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2 --no-overlap-p2p-communication"},
       {kRefused, "CHUNKS > 1 and ( GROUP > MICROBATCHES or GROUP < --pipeline-model-parallel-size )",
        "a group of microbatches is at least as many as pipeline ranks and at most all of them", kSchedule,
        "--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2 --global-batch-size 4"},
       {kRefused, "CHUNKS > 1 and MICROBATCHES % GROUP > 0 and MICROBATCHES % GROUP < --pipeline-model-parallel-size",
        "the last group of microbatches is whole or at least as many as pipeline ranks", kSchedule,
        "--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2 "
        "--microbatch-group-size-per-virtual-pipeline-stage 5"},
       {kRefused, "--overlap-p2p-communication-warmup-flush and ( CHUNKS < 2 or --no-overlap-p2p-communication )",
        "transfers overlap in warm-up and flush where they overlap between them: with virtual stages", kParallelConfig,
        "--pipeline-model-parallel-size 4 --overlap-p2p-communication-warmup-flush"},
       {kRefused, "--defer-embedding-wgrad-compute and --pipeline-model-parallel-size < 2",
        "the embedding's weight gradient is deferred in a pipeline alone", kParallelConfig,
        "--defer-embedding-wgrad-compute"},
       {kRefused, "--defer-embedding-wgrad-compute and --no-gradient-accumulation-fusion",
        "the embedding's weight gradient is deferred with fused accumulation alone", kParallelConfig,
        "--defer-embedding-wgrad-compute --pipeline-model-parallel-size 2 --no-gradient-accumulation-fusion"},
       {kRefused, "PREDICTORS > 0 and --position-embedding-type outside rope,none",
        "multi-token prediction goes with rotary positions or none", kValidateArgs,
        "--mtp-num-layers 1 --position-embedding-type learned_absolute"},
       {kRefused, "--position-embedding-type outside learned_absolute,rope,yarn,mrope,relative,none",
        "no such kind of positions", kParseArgs, "--position-embedding-type alibi"}});
}

}  // namespace

void add_megatron_split_rules(std::vector<FrameworkRule>& rows) {
  const auto others = static_cast<std::ptrdiff_t>(rows.size());
  add_ranks(rows);
  add_cut(rows);
  add_order(rows);
  std::for_each(rows.begin() + others, rows.end(), [](FrameworkRule& row) { row.of_sizes = true; });
}

}  // namespace debubble
