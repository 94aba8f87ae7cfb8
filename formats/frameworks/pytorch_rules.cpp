#include "formats/frameworks/pytorch_rules.hpp"

namespace debubble {

FrameworkRules torchtitan_rules() {
  constexpr RuleKind kRefuses = RuleKind::kRefuses;
  constexpr const char* kSplit = "distributed/pipeline_parallel.py: _get_pipeline_metadata";
  constexpr const char* kCut = "distributed/pipeline_parallel.py: _generate_llm_fqn_per_model_part";
  constexpr const char* kTorch = "torch/distributed/pipelining/schedules.py";
  constexpr const char* kTrainer = "trainer.py: Trainer.Config";
  return {
      "torchtitan",
      "torchtitan",
      "torchtitan 0.3.0 with torch 2.13.0",
      "",
      {{kRefuses, "local_batch_size is no multiple of pipeline_parallel_microbatch_size",
        "a rank's samples are whole "
        "microbatches",
        kTrainer},
       {kRefuses, "pipeline_parallel_degree > 1 and not disable_cuda_graphs", "CUDA graphs have no pipeline", kTrainer},
       {kRefuses, "layers_per_stage makes stages that are no multiple of the pipeline ranks",
        "stages: layers + first_stage_less_layers + last_stage_less_layers, over layers_per_stage, rounded up", kSplit},
       {kRefuses, "layers_per_stage makes several stages per rank for 1F1B or GPipe, one for the other classes",
        "without it 1F1B and GPipe have one stage per rank, the others two", kSplit},
       {kRefuses, "first_ or last_stage_less_layers above (layers + both) / stages, or that is below 1",
        "no stage may have less than nothing", kCut},
       {kRefuses, "Interleaved1F1B, InterleavedZeroBubble: microbatches are no multiple of the rounds",
        "rounds: microbatches / pipeline ranks, rounded down, at least 1", kTorch},
       {kRefuses, "1F1B, DualPipeV: fewer microbatches than stages", "", kTorch},
       {kRefuses, "ZBVZeroBubble, DualPipeV: other than two stages per rank", "", kTorch},
       {RuleKind::kCut, "first_stage_less_layers, last_stage_less_layers (1 each)",
        "embedding and head weigh as so many blocks; the first stages get what is left over: --partition torchtitan",
        kCut},
       {RuleKind::kCut, "module_fqns_per_model_part", "as named, stage by stage", kSplit},
       {RuleKind::kDefault, "Interleaved1F1B", "microbatches / rounds go through a chunk before the next one's turn",
        kTorch},
       {RuleKind::kDefault, "GPipe", "the backwards are in the order of the forwards", kTorch},
       {RuleKind::kDefault, "enable_sequence_parallel", "on, with tensor ranks", "config/configs.py"},
       {RuleKind::kDefault, "fsdp_reshard_after_forward", "weights stay whole with a pipeline, else are gathered again",
        "distributed/fsdp.py"},
       {RuleKind::kNotModelled, "blocks without attention, vision encoders, attention.o_gate, LoRA",
        "the first are refused, the others named and left out"},
       {RuleKind::kNotModelled, "quantization of what a job saves", "its JSON does not say it"}}};
}

FrameworkRules nanotron_rules() {
  constexpr const char* kBuild = "models/base.py: build_model";
  return {
      "nanotron",
      "nanotron",
      "nanotron 0.4",
      "",
      {{RuleKind::kRefuses, "pp_engine 1f1b, fewer microbatches than pp - 1", "",
        "parallel/pipeline_parallel/engine.py"},
       {RuleKind::kCut, "pp > 1",
        "a rank takes the block that carries it past its share of the costs of blocks and head: --partition nanotron",
        kBuild},
       {RuleKind::kDefault, "pp_engine", "afab, whose backwards are in the order of the forwards",
        "config/parallelism_config.py"},
       {RuleKind::kDefault, "optimizer.zero_stage above 0", "the optimizer alone is sharded", "helpers.py"},
       {RuleKind::kNotModelled, "ranks that have the loss alone", "the loss is a part of the head", kBuild}}};
}

}  // namespace debubble
