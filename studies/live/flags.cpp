#include "studies/live/flags.hpp"

#include "scenario/request/catalog_names.hpp"
#include "scenario/request/flag_row.hpp"

namespace debubble {

// NOLINTNEXTLINE(readability-function-size): a table
FlagRows flag_rows(LiveFlags& flags) {
  const FlagGroup live("Live");
  const FlagGroup gpus("GPUs");
  const FlagGroup torch("PyTorch");
  return {
      live("--backend", OneOf{"cpu|cuda|mpi|torch"}, "threads, GPUs, processes, PyTorch", &flags.backend,
           Default{"cpu"}, Preset{"cpu"}),
      live("--clock", OneOf{"logical|wall"}, "clock whose time counts", &flags.clock, Default{"by the cores"}),
      live("--costs", OneOf{"given|cpu-time"}, "op costs on the logical clock", &flags.costs, Default{"given"}),
      live("--repetitions,--iterations", "N", "measured iterations", &flags.repetitions, Default{"5; 1 if exact"}),
      live("--warm-up", "N", "warm-up iterations", &flags.warm_up, Default{"1; 0 if exact"}),
      live("--watchdog", FlagUnit::kSeconds, "end a run this long without progress", &flags.watchdog, Default{"10"}),
      live("--fault", "FAULT", "injected fault: slow=2:1.3, drop=1F3, ...", &flags.faults, FlagCount::kAll),
      gpus("--model", "NAME|FILE", "model or a config.json; see `debubble list models`", &flags.model, workload_names),
      gpus("--microbatch-size,--mbs,--microbatch", "B", "samples per microbatch", &flags.sizes.microbatch,
           Default{"1"}),
      gpus("--sequence,--seq-length,--seq", "S", "tokens per sample", &flags.sizes.sequence, Default{"1024"}),
      gpus("--dtype", "TYPE", "matmul data type: bf16 (default), fp16 or fp32", &flags.sizes.type, OneOf{kMatmulTypes},
           Preset{"bf16"}),
      gpus("--launch", OneOf{"eager|graph"}, "launch: op by op (default) or as a graph; not mpi", &flags.launch),
      gpus("--gpus", OneOf{"shared|each"}, "shares of one GPU (default), or one each; mpi: each", &flags.gpus),
      gpus("--gpu,--device", "N", "index of the shared GPU", &flags.gpu, Default{"0"}),
      torch("--stages-from", "MODULE:FACTORY", "callable that makes stages", &flags.stages_from, Default{"MLPs"}),
      torch("--precision", OneOf{"float64|float32"}, "numbers of the stages", &flags.precision, Default{"float64"}),
  };
}

}  // namespace debubble
