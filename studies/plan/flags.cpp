#include "studies/plan/flags.hpp"

#include <string_view>

namespace debubble {

FlagRows flag_rows(PlanFlags& flags) {
  constexpr std::string_view kGroup = "Plan";
  return {
      {.name = "--gpus", .group = kGroup, .type = "N", .help = "GPUs of the job", .target = &flags.gpus},
      {.name = "--global-batch",
       .group = kGroup,
       .type = "N",
       .help = "samples of one step",
       .default_text = "4 Mi tokens",
       .target = &flags.global_batch},
      {.name = "--fix",
       .group = kGroup,
       .type = "KEY=VALUE,",
       .help = "fixed: tp, cp, ep, pp, dp, zero, microbatch, ...",
       .target = &flags.fix,
       .count = FlagCount::kAll},
      {.name = "--only",
       .group = kGroup,
       .type = "KEY=VALUE,VALUE,",
       .help = "only these: schedule=1f1b,interleaved",
       .target = &flags.only,
       .count = FlagCount::kAll},
      {.name = "--runs-in",
       .group = kGroup,
       .words = "megatron|torchtitan|deepspeed|pytorch",
       .help = "only schedules that it runs today",
       .target = &flags.runs_in},
      {.name = "--objective",
       .group = kGroup,
       .type = "WHAT",
       .words = "step|throughput|cost|memory",
       .help = "least of: step (default), cost, memory",
       .target = &flags.objective},
      {.name = "--price",
       .group = kGroup,
       .type = "X",
       .help = "price of a GPU hour: also print the cost",
       .target = &flags.price},
      {.name = "--gap",
       .group = kGroup,
       .type = "PERCENT",
       .help = "end when no more is to be gained",
       .default_text = "1%",
       .target = &flags.gap},
      {.name = "--budget",
       .group = kGroup,
       .unit = FlagUnit::kSeconds,
       .help = "time for the search",
       .default_text = "none",
       .target = &flags.budget},
      {.name = "--threads",
       .group = kGroup,
       .type = "N",
       .help = "threads, same answer",
       .default_text = "the cores",
       .target = &flags.threads},
  };
}

}  // namespace debubble
