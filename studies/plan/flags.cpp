#include "studies/plan/flags.hpp"

#include <string_view>

#include "scenario/request/flag_row.hpp"
#include "schedules/frameworks.hpp"

namespace debubble {

FlagRows flag_rows(PlanFlags& flags) {
  const FlagGroup row("Plan");
  return {
      row("--gpus", "N", "GPUs of the job", &flags.gpus, Default{"those of your run"}),
      row("--global-batch,--gbs", "N", "samples of one step", &flags.global_batch, Default{"4 Mi tokens"}),
      row("--script", "FILE", "your run: Megatron-LM script, its log, or .toml", &flags.script),
      row("--fix", "KEY=VALUE,", "fixed: tp, cp, ep, pp, dp, zero, microbatch, ...", &flags.fix, FlagCount::kAll),
      row("--only", "KEY=VALUE,VALUE,", "only these: schedule=1f1b,interleaved", &flags.only, FlagCount::kAll),
      row("--runs-in", "NAME", "only what runs there today: megatron, paddle, ...", &flags.runs_in,
          OneOf{kFrameworkWords}),
      row("--objective,--best", "WHAT", "minimize: step (default), cost, memory", &flags.objective,
          OneOf{"step|throughput|cost|memory"}),
      row("--price", "X", "price of a GPU hour: also print the cost", &flags.price),
      row("--gap", "PERCENT", "stop within this much of the optimum", &flags.gap, Default{"1%"}),
      row("--margin", "PERCENT", "memory to stay free, else not first", &flags.margin, Default{"5%"}),
      row("--budget", FlagUnit::kSeconds, "time for the search", &flags.budget, Default{"none"}),
      row("--front", "also the Pareto front of step time and memory", &flags.front),
      row("--threads", "N", "threads; same answer", &flags.threads, Default{"the cores"}),
  };
}

}  // namespace debubble
