#include "tools/commands/import_megatron.hpp"

#include <cstdio>

#include "formats/files/output_file.hpp"
#include "formats/files/read_file.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "formats/text/quantities.hpp"
#include "formats/text/shell.hpp"
#include "sim/core/exit_status.hpp"

namespace debubble {

int import_megatron(const std::string& file, const std::string& output) {
  const MegatronScenario scenario = read_megatron(read_file(file, "FILE"), file);
  OutputFile out(output);
  out.write(write_scenario(scenario, file));
  out.commit();
  for (const std::string& finding : scenario.findings) std::fprintf(stderr, "note: %s\n", finding.c_str());
  if (scenario.measured_iteration > 0) {
    std::fprintf(stderr, "measured: %s per iteration, the median of %zu lines of the log without the first\n",
                 format_duration(scenario.measured_iteration).c_str(), scenario.measured_lines);
  }
  if (output != "-") {
    std::fprintf(stderr, "next: debubble simulate --config %s --hardware h100\n", shell_quoted(output).c_str());
  }
  return kExitOk;
}

}  // namespace debubble
