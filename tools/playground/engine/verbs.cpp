// The verbs that work in a browser: all that neither run programs nor read what other tools recorded.
#include <array>

#include "tools/commands/command.hpp"

namespace debubble {

std::span<const CommandEntry> command_catalog() {
  static const std::array entries{
      CommandEntry{"simulate", "one schedule: step time, bubbles with their causes, memory, a chart",
                   "debubble simulate --schedule zb-h1 -p 8 -m 24", make_simulate},
      CommandEntry{"compare", "several schedules for one job, and which is best",
                   "debubble compare -p 8 -m 32 --times f=1,b=2 --comm 0.05", make_compare},
      CommandEntry{"whatif", "one run with something changed, next to the original",
                   "debubble whatif -p 4 -m 8 --slow device=3:1.25", make_whatif},
      CommandEntry{"export", "a schedule or its simulated run, for other tools",
                   "debubble export --to svg --schedule zb-h1 -p 4 -m 8", make_export},
      CommandEntry{"explain", "what limits a step, why an op waits; schedules, words, error codes",
                   "debubble explain step --schedule 1f1b -p 4 -m 8", make_explain},
      CommandEntry{"list", "schedules, topologies, models, hardware, words, error codes, ...",
                   "debubble list schedules", make_list},
  };
  return entries;
}

}  // namespace debubble
