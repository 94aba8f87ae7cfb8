// The table of the flags that describe a modelled transformer.
#include <string_view>

#include "scenario/request/catalog_names.hpp"
#include "scenario/request/flag_row.hpp"
#include "scenario/request/transformer_flags.hpp"

namespace debubble {

// NOLINTNEXTLINE(readability-function-size): a table
FlagRows flag_rows(TransformerFlags& flags) {
  const FlagGroup row("Model", needs({"--model"}, "it describes a modelled transformer, but there is no --model",
                                     "add --model NAME; `debubble list models` shows the names"));
  // Sequence and microbatch are sizes of a profile, too.
  const FlagRule size =
      needs({"--model", "--profile"}, "it is a size of a model, and there is neither --model nor --profile",
            "add --model NAME (`debubble list models`) or --profile FILE; without either, a microbatch is one "
            "sample of toy units, and -m or --gbs says how many there are");
  return {
      row("--model", "NAME|FILE", "model or a config.json; see `debubble list models`", &flags.model, model_names,
          FlagRule{}, excludes({"--profile", "--times"}, "both say what the stages cost")),
      row("--model-size", "LIST", "overrides of model sizes: layers=12,hidden=4096", &flags.model_size,
          FlagForm::kCommas),
      row("--hardware", "NAME|FILE", "GPU by name or FILE.json", &flags.hardware, hardware_names,
          Default{"topology's"}),
      row("--sequence,--seq-length,--seq", "N", "tokens per sample", &flags.sequence, Default{"model's, profile's"},
          size),
      row("--microbatch-size,--mbs,--microbatch", "B", "samples per microbatch", &flags.microbatch_size,
          Default{"1, profile's"}, size),
      row("--dtype", "TYPE", "matmul data type: bf16 (default), fp16, fp32, fp8", &flags.dtype,
          OneOf{"fp32|fp16|bf16|fp8"}),
      row("--fp8-recipe", "RECIPE", "scales of fp8: delayed (default), tensorwise, ...", &flags.fp8_recipe,
          OneOf{"delayed|tensorwise|blockwise|mxfp8"}),
      row("--grad-dtype", "TYPE", "gradient data type: fp32 (default), bf16, fp16", &flags.grad_dtype,
          OneOf{"fp32|fp16|bf16"}),
      row("--optimizer", "NAME", "adam (default), sgd, momentum (also lion), muon", &flags.optimizer,
          OneOf{"adam|sgd|momentum|muon"}),
      row("--weight-dtype", "TYPE", "weights as stored: same as matmuls (default), fp32", &flags.weight_dtype,
          OneOf{"same|fp32"}),
      row("--master-weights", "TYPE", "optimizer's copy of 16-bit weights: fp32 (default)", &flags.master_weights,
          OneOf{"fp32|bf16|fp16|none"}),
      row("--moment-dtype", "TYPE", "optimizer moments: fp32 (default), bf16, fp16, fp8", &flags.moment_dtype,
          OneOf{"fp32|bf16|fp16|fp8"}),
      row("--second-moment-dtype", "TYPE", "second moment", &flags.second_moment_dtype, OneOf{"fp32|bf16|fp16|fp8"},
          Default{"--moment-dtype"}),
      row("--low-gradients", "WHAT", "16-bit gradients once summed: freed (default), kept", &flags.low_gradients,
          OneOf{"freed|kept"}),
      row("--fp8-weights", "WHERE", "8-bit weights: beside 16-bit (default), or alone", &flags.fp8_weights,
          OneOf{"beside|alone"}),
      row("--attention", "KIND", "attention kernel: flash (default) or unfused", &flags.attention,
          OneOf{"flash|unfused"}),
      row("--recompute", "WHAT", "recompute in B: none (default), selective, full", &flags.recompute,
          OneOf{"none|selective|full"}),
      row("--recompute-stages", "LIST", "stages that recompute: 0-2,5", &flags.recompute_stages, Default{"all"},
          FlagForm::kCommas, needs({"--recompute"}, "no stage recomputes anything", "add --recompute full")),
      row("--recompute-blocks", "WHICH", "first:2, every:2, chunks:4 or 0-3,7", &flags.recompute_blocks, Default{"all"},
          FlagForm::kCommas,
          flags.recompute_open ? FlagRule{}
                               : needs({"--recompute"}, "no block recomputes anything", "add --recompute full")),
      row("--recompute-modules", "LIST", "of selective: mlp,moe_act,...", &flags.recompute_modules,
          Default{"core_attn"}, FlagForm::kCommas,
          flags.recompute_open
              ? FlagRule{}
              : needs({"--recompute"}, "nothing is recomputed by module", "add --recompute selective")),
      row("--loss", "KIND", "cross entropy: unfused (default) or fused", &flags.loss, OneOf{"unfused|fused"}),
      row("--grad-accumulation", "KIND", "weight-gradient sums: fused (default), separate", &flags.grad_accumulation,
          OneOf{"fused|separate"}),
      row("--tensor-overlap", "HOW", "hide --tp collectives: on (in B), off, userbuffers", &flags.tensor_overlap,
          OneOf{"on|off|userbuffers|userbuffers-ag|userbuffers-rs"}),
      row("--context-exchange", "KIND", "exchange over --cp: ring (default) or all-to-all", &flags.context_exchange,
          OneOf{"ring|all-to-all"}),
      row("--expert-imbalance", FlagUnit::kFactor, "busiest expert rank's tokens over the mean",
          &flags.expert_imbalance),
      row("--capacity-factor", FlagUnit::kFactor, "expert capacity: pads or drops tokens to it",
          &flags.capacity_factor),
      row("--moe-dispatch", "HOW", "alltoall (default), deepep, hybrid or allgather", &flags.moe_dispatch,
          OneOf{"alltoall|deepep|hybrid|allgather"}),
      row("--moe-overlap", "WHEN", "overlap expert exchange with compute: off, on", &flags.moe_overlap,
          OneOf{"off|on"}),
      row("--efficiency", "FILE", "measured kernel efficiencies, JSON", &flags.efficiency),
      row("--kernels", "FILE|off", "measured kernel times", &flags.kernels, Default{"hardware's"}),
      row("--cuda-graphs", "WHEN", "kernels in CUDA graphs: off (default), on", &flags.cuda_graphs, OneOf{"off|on"}),
      row("--host-launch", "TIME", "host time per eager kernel (default: 62us)", &flags.host_launch),
      row("--calibrate", "LIST", "divides modelled times: compute=0.95,network=0.9", &flags.calibrate,
          FlagForm::kCommas),
      row("--dropout", "the model is trained with dropout", &flags.dropout),
      row("--scatter-gather", "--tp ranks send 1/tp each, and gather", &flags.scatter_gather),
  };
}

}  // namespace debubble
