#include "formats/megatron/rule_table.hpp"

#include "formats/megatron/rule_facts.hpp"
#include "formats/rules/run_rows.hpp"

namespace debubble {
namespace {

constexpr const char* kLegal =
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 "
    "--micro-batch-size 1 --global-batch-size 64 --vocab-size 32000 --position-embedding-type rope";

void add_cuts(std::vector<FrameworkRule>& rows) {
  rows.insert(
      rows.end(),
      {{RuleKind::kCut, "no other argument", "each stage has as many layers; embedding and head do not count",
        kBlocksToBuild},
       {RuleKind::kCut, "--account-for-embedding-in-pipeline-split, --account-for-loss-in-pipeline-split",
        "the embedding, the loss count as one layer: the first, the last stage has one less", kBlocksToBuild},
       {RuleKind::kCut, "--decoder-first-pipeline-num-layers, --decoder-last-pipeline-num-layers",
        "so many layers on the first, the last rank, the others share the rest; a rank's virtual stages share its "
        "layers",
        kBlocksToBuild},
       {RuleKind::kCut, "--num-layers-per-virtual-pipeline-stage N",
        "a rank has (layers / ranks) / N virtual stages; stage s lies on rank s % ranks", kValidateArgs},
       {RuleKind::kCut, "--pipeline-model-parallel-layout",
        "as its letters say; more stages than ranks are virtual stages; a stage may be empty", kPipelineLayout},
       {RuleKind::kCut, "--mtp-num-layers", "its layers lie on the last stage, or where the layout has m",
        "core/transformer/multi_token_prediction.py: get_mtp_num_layers_to_build"}});
}

void add_defaults(std::vector<FrameworkRule>& rows) {
  rows.insert(rows.end(),
              {{RuleKind::kDefault, "--global-batch-size", "one microbatch on every replica", kValidateArgs},
               {RuleKind::kDefault, "--microbatch-group-size-per-virtual-pipeline-stage", "as many as pipeline ranks",
                kParallelConfig},
               {RuleKind::kDefault, "one stage per rank",
                "transfers do not overlap: sends and receives are one exchange", kValidateArgs},
               {RuleKind::kDefault, "--ffn-hidden-size", "4 x hidden; with --swiglu two thirds of it, a multiple of 64",
                kValidateArgs},
               {RuleKind::kDefault, "--vocab-size", "is padded to a multiple of 128 x tensor ranks",
                "core/tokenizers/utils/build_tokenizer.py: vocab_size_with_padding"},
               {RuleKind::kDefault, "--data-parallel-sharding-strategy",
                "of --use-megatron-fsdp: weights, gradients, optimizer", kParseArgs},
               {RuleKind::kDefault, "--expert-tensor-parallel-size", "as many as tensor ranks", kParallelConfig},
               {RuleKind::kDefault, "--moe-token-dispatcher-type", "allgather", kParseArgs},
               {RuleKind::kDefault, "--sequence-parallel", "is left out with one tensor rank", kValidateArgs},
               {RuleKind::kDefault, "--use-megatron-fsdp", "goes with --use-distributed-optimizer, given or not",
                kValidateArgs}});
}

void add_not_modelled(std::vector<FrameworkRule>& rows) {
  rows.insert(rows.end(),
              {{RuleKind::kNotModelled, "--cpu-offloading-num-layers, --fine-grained-activation-offloading",
                "what leaves for the host counts as lying on the GPU, and its copies take no time",
                "core/transformer/transformer_config.py"},
               {RuleKind::kNotModelled, "--overlap-moe-expert-parallel-comm",
                "passes beside each other take turns; the first and the last hide their exchange beside none",
                "core/pipeline_parallel/combined_1f1b.py: combined_1f1b_schedule_for_interleaved_pipelining"},
               {RuleKind::kNotModelled, "--tensor-parallel-num-weight-shards",
                "the shards' ranks count among those that share a batch; the gathers of weights are left out",
                "core/model_parallel_config.py: resolve_tensor_parallel_weight_shards"},
               {RuleKind::kNotModelled, "--ckpt-format left out with --use-megatron-fsdp",
                "the release refuses it; here a checkpoint's format changes nothing", kValidateArgs},
               {RuleKind::kNotModelled, "arguments of older releases and Megatron-DeepSpeed",
                "are read as those read them, and nothing is refused", ""},
               {RuleKind::kNotModelled, "arguments that the release does not know",
                "are a fork's: what ranks, batches and layers cannot be is refused", ""}});
}

// What no launch line says, or stops it after its start only.
void add_megatron_runs(std::vector<FrameworkRule>& rows) {
  const std::size_t begin = rows.size();
  rows.insert(rows.end(),
              {{kRefused, "EXPERTS and --tensor-model-parallel-size > 1 and not SEQUENCE_PARALLEL",
                "experts beside several tensor ranks go with sequence parallelism",
                "core/transformer/moe/moe_layer.py: MoELayer.forward", "--model mixtral-8x7b --tp 2 --dp 4"},
               {kRefused, "RECOMPUTED_BLOCKS outside first,chunks",
                "blocks recompute by --recompute-method: the first N (block), or chunks of N (uniform)",
                kTransformerConfig, "-p 4 -m 8 --recompute full --recompute-blocks every:2"},
               {kRefused, "RECOMPUTED_MODULES in op,budget", "modules are recomputed, not ops", kTransformerConfig,
                "-p 4 -m 8 --recompute selective --recompute-modules op"}});
  mark_of_run(rows, begin);
  add_run_rules(rows);
}

}  // namespace

FrameworkRules megatron_rules() {
  FrameworkRules rules{"megatron", "Megatron-LM", "megatron-core 0.19.2", kLegal, {}, megatron_fact_names()};
  add_run_facts(rules.facts);
  add_megatron_split_rules(rules.rows);
  add_megatron_step_rules(rules.rows);
  add_megatron_expert_rules(rules.rows);
  add_megatron_runs(rules.rows);
  add_cuts(rules.rows);
  add_defaults(rules.rows);
  add_not_modelled(rules.rows);
  return rules;
}

}  // namespace debubble
