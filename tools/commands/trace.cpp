#include "tools/commands/trace.hpp"

#include "sim/analysis/analyse.hpp"
#include "tools/exporters/chrome_trace.hpp"
#include "tools/version.hpp"

namespace debubble {

void write_trace(const Run& run, const std::string& command_line, OutputFile& file) {
  const auto curves = memory_curves(run.timeline, run.schedule, run.costs);
  write_chrome_trace(run.timeline, run.schedule, run.report, curves, {"debubble", std::string(kVersion), command_line},
                     [&](std::string_view text) { file.write(text); });
  file.commit();
}

}  // namespace debubble
