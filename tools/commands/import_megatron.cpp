#include "tools/commands/import_megatron.hpp"

#include <cstdio>

#include "formats/files/output_file.hpp"
#include "formats/files/read_file.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "formats/text/quantities.hpp"
#include "formats/text/shell.hpp"
#include "sim/core/exit_status.hpp"
#include "tools/output/stderr_line.hpp"

namespace debubble {

int import_megatron(const std::string& file, const std::string& output) {
  const MegatronScenario scenario = read_megatron(read_file(file, "FILE"), file);
  OutputFile out(output);
  out.write(write_scenario(scenario, file));
  out.commit();
  for (const std::string& finding : scenario.findings) stderr_line("note: " + finding);
  if (scenario.measured_iteration > 0) {
    std::fprintf(stderr, "measured: %s per iteration, the median of %zu lines of the log without the first\n",
                 format_duration(scenario.measured_iteration).c_str(), scenario.measured_lines);
  }
  if (output != "-") {
    stderr_line("next: debubble simulate --config " + shell_file(output) + " --hardware h100");
  }
  return kExitOk;
}

}  // namespace debubble
