#include "tools/commands/trace.hpp"

#include <algorithm>
#include <cstdio>

#include "schedules/compute_table.hpp"
#include "sim/analysis/analyse.hpp"
#include "tools/exporters/chrome_trace.hpp"
#include "tools/version.hpp"

namespace debubble {

void write_trace(const Run& run, const std::string& command_line, OutputFile& file) {
  const auto curves = memory_curves(run.timeline, run.schedule, run.costs);
  write_chrome_trace(run.timeline, run.schedule, run.report, curves, {"debubble", std::string(kVersion), command_line},
                     [&](std::string_view text) { file.write(text); });
}

void write_table(const Schedule& schedule, OutputFile& file) {
  file.write(write_compute_table(schedule));
  for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
    if (std::find(schedule.replica_of.begin(), schedule.replica_of.end(), replica) != schedule.replica_of.end())
      continue;
    std::fprintf(stderr,
                 "debubble: note: replica %d has no microbatch, so the table cannot show it; read back, the run holds "
                 "fewer copies of the weights\n",
                 replica);
  }
  if (schedule.pieces == 1) return;
  std::fprintf(stderr,
               "debubble: note: this schedule cuts each microbatch into %d pieces, which the table numbers as %d "
               "microbatches; divide the times by %d to replay it\n",
               schedule.pieces, schedule.total_pieces(), schedule.pieces);
}

}  // namespace debubble
