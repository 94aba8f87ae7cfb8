#include <array>

#include "tools/commands/command.hpp"

namespace debubble {

std::span<const CommandEntry> command_catalog() {
  static const std::array entries{
      CommandEntry{"simulate", "one schedule: step time, bubbles with their causes, memory, a chart",
                   "debubble simulate --schedule zb-h1 -p 8 -m 24 --trace run.json.gz", make_simulate},
      CommandEntry{"compare", "several schedules for one job, and which is best",
                   "debubble compare -p 8 -m 32 --times f=1,b=2 --comm 0.05", make_compare},
      CommandEntry{"plan", "the best way to train a model on N GPUs, and how certain that is",
                   "debubble plan --model llama3-70b --gpus 64\n"
                   "  debubble plan --model gpt-13b --gpus 32 --fix tp=8 --runs-in megatron",
                   make_plan_command},
      CommandEntry{"sweep", "every combination of several values per flag, one row each",
                   "debubble sweep --schedule 1f1b,zb-h1 -p 4,8 -m 8:64:*2\n"
                   "  debubble sweep --model llama3-8b --tp 1,2,4 --format csv -o rows.csv --resume",
                   make_sweep},
      CommandEntry{"whatif", "one run with something changed, next to the original",
                   "debubble whatif -p 4 -m 8 --slow device=3:1.25\n"
                   "  debubble whatif -p 8 -m 32 --jitter lognormal:0.05 --seeds 1000",
                   make_whatif},
      CommandEntry{"live", "one schedule run for real: on threads, GPUs or MPI processes",
                   "debubble live --schedule zb-h1 -p 4 -m 8 --save-run run.json", make_live},
      CommandEntry{"diff", "a predicted and a measured run, op by op, and why they differ",
                   "debubble diff scenario.toml run.json --trace both.json.gz\n"
                   "  debubble diff rank0.json.gz rank1.json.gz --tolerance bubble=2pp\n"
                   "  debubble diff --log train.log --hardware a100",
                   make_diff_command},
      CommandEntry{"check", "a gate for CI: predictions against a baseline and measured runs",
                   "debubble check ci/nightly.suite.json --junit junit.xml", make_check},
      CommandEntry{"accuracy", "how far predictions are from published measurements",
                   "debubble accuracy --source korthikanti", make_accuracy},
      CommandEntry{"profile", "layer times and sizes of a model, measured on a GPU or CPU",
                   "debubble profile --model gpt-1.3b --microbatch-size 2 -o gpt.json\n"
                   "  debubble profile -o gpt.json -- python -m debubble_hooks train.py\n"
                   "  debubble profile --device cpu -o gpt.json -- python -m debubble_hooks train.py",
                   make_profile},
      CommandEntry{"import", "profiles, traces and scripts of other tools",
                   "debubble import --from kineto rank0.json.gz rank1.json.gz -o bert.json\n"
                   "  debubble import --from megatron train.sh -o job.toml",
                   make_import},
      CommandEntry{"export", "a schedule or its simulated run, for other tools",
                   "debubble export --to pytorch-csv --schedule zb-h1 -p 4 -m 8 -o zb-h1.csv\n"
                   "  debubble export --to svg --schedule zb-h1 -p 4 -m 8 -o zb-h1.svg",
                   make_export},
      CommandEntry{"explain", "what limits a step, why an op waits; schedules, words, error codes",
                   "debubble explain step --schedule 1f1b -p 4 -m 8", make_explain},
      CommandEntry{"list", "schedules, topologies, models, hardware, words, error codes, ...",
                   "debubble list schedules", make_list},
      CommandEntry{"doctor", "what works on this machine, and what is missing", "debubble doctor", make_doctor},
  };
  return entries;
}

}  // namespace debubble
