#include "studies/live/flags.hpp"

#include <CLI/CLI.hpp>

namespace debubble {

void add_live_flags(CLI::App& verb, LiveFlags& flags) {
  const auto add = [&](const char* group, const char* name, auto& target, const char* help, const char* type) {
    return verb.add_option(name, target, help)->group(group)->type_name(type);
  };
  const char* const live = "Live";
  add(live, "--backend", flags.backend, "threads, GPUs or processes (default: cpu)", "cpu|cuda|mpi");
  add(live, "--clock", flags.clock, "whose time counts (default: by the cores)", "logical|wall");
  add(live, "--costs", flags.costs, "of the logical clock (default: given)", "given|cpu-time");
  add(live, "--repetitions", flags.repetitions, "iterations that count (default: 5; 1 if exact)", "N");
  add(live, "--warm-up", flags.warm_up, "iterations before them (default: 1; 0 if exact)", "N");
  add(live, "--watchdog", flags.watchdog, "patience without progress (default: 10)", "SECONDS");
  add(live, "--fault", flags.faults, "what goes wrong: slow=2:1.3, drop=1F3, ...", "FAULT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  const char* const gpu = "GPUs";
  add(gpu, "--model", flags.model, "see `debubble list models`; or a config.json", "NAME|FILE");
  add(gpu, "--microbatch", flags.sizes.microbatch, "samples of a microbatch (default: 1)", "B");
  add(gpu, "--seq", flags.sizes.sequence, "tokens of a sample (default: 1024)", "S");
  add(gpu, "--dtype", flags.sizes.type, "bf16 (default), fp16 or fp32", "TYPE");
  add(gpu, "--launch", flags.launch, "op by op (default), or as one graph; not with mpi", "eager|graph");
  add(gpu, "--gpus", flags.gpus, "parts of one (default), or one each; mpi: each", "shared|each");
  add(gpu, "--gpu", flags.gpu, "number of the shared GPU (default: 0)", "N");
}

}  // namespace debubble
