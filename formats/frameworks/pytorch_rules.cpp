#include "formats/frameworks/pytorch_rules.hpp"

#include "formats/rules/run_rows.hpp"

namespace debubble {
namespace {

constexpr RuleKind kClassRefuses = RuleKind::kRefuses;
constexpr const char* kClassSource = "torch/distributed/pipelining/schedules.py";

// What the constructors of PyTorch's schedule classes refuse.
void add_class_rules(std::vector<FrameworkRule>& rows) {
  rows.insert(rows.end(),
              {{kClassRefuses, "CLASS in Interleaved1F1B,InterleavedZeroBubble and MICROBATCHES % ROUNDS != 0",
                "microbatches are a multiple of the rounds: microbatches / pipeline ranks, rounded down, at least 1",
                kClassSource, ""},
               {kClassRefuses, "CLASS in 1F1B,DualPipeV and MICROBATCHES < STAGES",
                "there are at least as many microbatches as stages", kClassSource, "-p 4 -m 3"},
               {kClassRefuses, "CLASS in ZBVZeroBubble,DualPipeV and CHUNKS != 2",
                "these classes have two stages on each rank", kClassSource, ""}});
}

void add_class_facts(std::vector<RuleFact>& facts) {
  facts.insert(facts.end(), {{"CLASS", "schedule class"},
                             {"STAGES", "stages"},
                             {"CHUNKS", "stages on each rank"},
                             {"MICROBATCHES", "microbatches"},
                             {"ROUNDS", "rounds"}});
}

void add_titan_rules(std::vector<FrameworkRule>& rows) {
  constexpr const char* kSplit = "distributed/pipeline_parallel.py: _get_pipeline_metadata";
  constexpr const char* kTitanCut = "distributed/pipeline_parallel.py: _generate_llm_fqn_per_model_part";
  constexpr const char* kTrainer = "trainer.py: Trainer.Config";
  constexpr const char* kDecoder = "models/common/decoder.py: Decoder.Config.update_from_config";
  constexpr const char* kMesh = "distributed/parallel_dims.py: ParallelDims";
  rows.insert(
      rows.end(),
      {{kClassRefuses, "PIPELINE > 1 and SAMPLES % MICROBATCH_SIZE != 0", "a rank's samples are whole microbatches",
        kTrainer, ""},
       {kClassRefuses, "PIPELINE > 1 and GRAPHS", "CUDA graphs have no pipeline: disable_cuda_graphs = true", kTrainer,
        "-p 2 --cuda-graphs on"},
       {kClassRefuses, "EXPERT > 1 and GRAPHS and not BY_DEVICE",
        "CUDA graphs take expert ranks by MinimalAsyncEP, or by HybridEP with non_blocking_capacity_factor, which "
        "model_registry sets: disable_cuda_graphs = true",
        kTrainer, "--model mixtral-8x7b --dp 4 --ep 4 --zero 3 --cuda-graphs on"},
       {kClassRefuses, "STAGES % PIPELINE != 0",
        "stages are a multiple of the pipeline ranks; with layers_per_stage they are layers + "
        "first_stage_less_layers + last_stage_less_layers, over it, rounded up",
        kSplit, ""},
       {kClassRefuses, "CLASS in 1F1B,GPipe and CHUNKS != 1", "these classes have one stage on each rank", kSplit, ""},
       {kClassRefuses, "CLASS outside 1F1B,GPipe and CHUNKS < 2", "these classes have at least two stages on each rank",
        kSplit, ""},
       {kClassRefuses, "STAGE_LAYERS < 1 or FIRST_LESS > STAGE_LAYERS or LAST_LESS > STAGE_LAYERS",
        "first_ and last_stage_less_layers are at most what a stage has", kTitanCut, ""},
       {kClassRefuses, "SEQUENCE % SEQUENCE_PARTS != 0",
        "the sequence is a multiple of the tensor ranks, and of twice the context ranks", "trainer.py: Trainer",
        "--cp 2 --zero 3 --sequence 4098"},
       {kClassRefuses, "SEQUENCE > LONGEST", "the sequence is at most what the model's rotary embedding is made for",
        kDecoder, ""},
       {kClassRefuses, "VARLEN and CONTEXT > 1",
        "context ranks have no attention of variable length, which gpt_oss has unless model_registry says flex",
        "distributed/full_dtensor.py: validate_config", ""},
       {kClassRefuses, "BUDGET and not COMPILED",
        "a memory budget takes a compiled model: compile.enable, and model among compile.components", kTrainer, ""},
       {kClassRefuses, "PREDICTORS > 0 and ( PIPELINE > 1 or CONTEXT > 1 )",
        "multi-token prediction goes without pipeline and context ranks: --model-size predicted_tokens=0",
        "models/deepseek_v3/mtp.py: MTPDecoder.Config", "--model-size predicted_tokens=1 -p 2"},
       {kClassRefuses, "TENSOR > 1 and ( HEADS % TENSOR != 0 or KV_HEADS % TENSOR != 0 )",
        "heads of queries and of keys are a multiple of the tensor ranks", kDecoder, "--tp 16 --sequence-parallel"},
       {kClassRefuses, "TIED and PIPELINE > 1", "a head that has the embedding's weights goes without a pipeline",
        kDecoder, "--model-size tied_embedding=yes -p 2"},
       {kClassRefuses, "EXPERT > 1 and ( SHARDS * CONTEXT * TENSOR ) % EXPERT != 0",
        "shards x context x tensor ranks are a multiple of the expert ranks; replicas do not count", kMesh,
        "--model mixtral-8x7b --dp 4 --ep 4"}});
  const std::size_t begin = rows.size();
  rows.insert(
      rows.end(),
      {{kClassRefuses, "EXPERT > 1 and EXPERT_TENSOR > 1", "tensor ranks do not split experts: --etp 1", kMesh,
        "--model mixtral-8x7b --dp 4 --ep 4 --zero 3 --tp 2 --sequence-parallel"},
       {kClassRefuses, "STAGE in 1,2",
        "data ranks shard weights, gradients and optimizer (--zero 3, with --keep-whole for fsdp_reshard_after_forward "
        "never), or nothing",
        "distributed/fsdp.py", "--dp 2 --zero 1"},
       {kClassRefuses, "CONTEXT > 1 and STAGE != 3", "context ranks shard as data ranks do: --zero 3", kMesh, "--cp 2"},
       {kClassRefuses, "ULYSSES", "context ranks send keys and values around, not heads", kMesh,
        "--cp 2 --zero 3 --context-exchange all-to-all"},
       {kClassRefuses, "EXCHANGE_OVERLAP", "no other pass hides an exchange of experts: --moe-overlap off",
        "models/common/token_dispatcher.py", "--model mixtral-8x7b --dp 4 --ep 4 --zero 3 --moe-overlap on"},
       {kClassRefuses, "RUN_FORMAT == fp16", "trains in bf16 or fp32", "config/configs.py: TrainingConfig",
        "--dtype fp16"},
       {kClassRefuses, "RECOMPUTED_MODULES outside op,budget",
        "selective recomputation is of ops or by a budget: --recompute-modules op, budget=X",
        "distributed/activation_checkpoint.py", "--recompute selective"},
       {kClassRefuses, "RECOMPUTED_BLOCKS", "all blocks recompute, or none", "distributed/activation_checkpoint.py",
        "--recompute full --recompute-blocks first:2"}});
  mark_of_run(rows, begin);
  add_run_rules(rows);
  rows.insert(
      rows.end(),
      {{RuleKind::kCut, "first_stage_less_layers, last_stage_less_layers (1 each)",
        "embedding and head weigh as so many blocks; the first stages get what is left over: --partition torchtitan",
        kTitanCut},
       {RuleKind::kCut, "module_fqns_per_model_part", "as named, stage by stage", kSplit},
       {RuleKind::kDefault, "layers_per_stage", "1F1B and GPipe have one stage per rank, the others two", kSplit},
       {RuleKind::kDefault, "Interleaved1F1B", "microbatches / rounds go through a chunk before the next one's turn",
        kClassSource},
       {RuleKind::kDefault, "GPipe", "the backwards are in the order of the forwards", kClassSource},
       {RuleKind::kDefault, "enable_sequence_parallel", "on, with tensor ranks", "config/configs.py"},
       {RuleKind::kDefault, "fsdp_reshard_after_forward", "weights stay whole with a pipeline, else are gathered again",
        "distributed/fsdp.py"},
       {RuleKind::kNotModelled, "blocks without attention, vision encoders, attention.o_gate, LoRA",
        "the first are refused, the others named and left out"},
       {RuleKind::kNotModelled, "quantization of what a job saves", "its JSON does not say it"}});
}

}  // namespace

FrameworkRules pytorch_rules() {
  FrameworkRules rules{"pytorch", "PyTorch", "torch 2.13.0", "-p 4 -m 8", {}, {}};
  add_class_rules(rules.rows);
  add_run_rules(rules.rows);
  add_class_facts(rules.facts);
  add_run_facts(rules.facts);
  return rules;
}

FrameworkRules torchtitan_rules() {
  FrameworkRules rules{"torchtitan", "torchtitan", "torchtitan 0.3.0 with torch 2.13.0", "-p 4 -m 8", {}, {}};
  add_class_rules(rules.rows);
  add_titan_rules(rules.rows);
  add_class_facts(rules.facts);
  rules.facts.insert(rules.facts.end(), {{"PIPELINE", "pipeline ranks"},
                                         {"SAMPLES", "local_batch_size"},
                                         {"MICROBATCH_SIZE", "pipeline_parallel_microbatch_size"},
                                         {"GRAPHS", "CUDA graphs"},
                                         {"BY_DEVICE", "no exchange of tokens waits for the host"},
                                         {"STAGE_LAYERS", "layers of a stage, the ends' weights among them"},
                                         {"FIRST_LESS", "first_stage_less_layers"},
                                         {"LAST_LESS", "last_stage_less_layers"},
                                         {"SEQUENCE", "tokens of a sample"},
                                         {"SEQUENCE_PARTS", "parts of the sequence"},
                                         {"TENSOR", "tensor ranks"},
                                         {"CONTEXT", "context ranks"},
                                         {"HEADS", "heads"},
                                         {"KV_HEADS", "heads of keys"},
                                         {"LONGEST", "longest sequence"},
                                         {"VARLEN", "attention of variable length"},
                                         {"BUDGET", "a memory budget for activations"},
                                         {"COMPILED", "the model is compiled"},
                                         {"PREDICTORS", "layers of multi-token prediction"},
                                         {"TIED", "the head has the embedding's weights"},
                                         {"EXPERT", "expert ranks"},
                                         {"EXPERT_TENSOR", "expert tensor ranks"},
                                         {"SHARDS", "data ranks that shard"},
                                         {"STAGE", "--zero"}});
  add_run_facts(rules.facts);
  return rules;
}

FrameworkRules nanotron_rules() {
  constexpr const char* kBuild = "models/base.py: build_model";
  return {
      "nanotron",
      "nanotron",
      "nanotron 0.4",
      "",
      {{RuleKind::kRefuses, "ENGINE == 1f1b and MICROBATCHES < PIPELINE - 1",
        "1f1b takes at least as many microbatches as pipeline ranks but one", "parallel/pipeline_parallel/engine.py"},
       {RuleKind::kCut, "pp > 1",
        "a rank takes the block that carries it past its share of the costs of blocks and head: --partition nanotron",
        kBuild},
       {RuleKind::kDefault, "pp_engine", "afab, whose backwards are in the order of the forwards",
        "config/parallelism_config.py"},
       {RuleKind::kDefault, "optimizer.zero_stage above 0", "the optimizer alone is sharded", "helpers.py"},
       {RuleKind::kNotModelled, "ranks that have the loss alone", "the loss is a part of the head", kBuild}},
      {{"ENGINE", "parallelism.pp_engine"},
       {"MICROBATCHES", "tokens.batch_accumulation_per_replica"},
       {"PIPELINE", "parallelism.pp"}}};
}

}  // namespace debubble
