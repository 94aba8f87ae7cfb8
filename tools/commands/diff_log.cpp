#include "tools/commands/diff_log.hpp"

#include <cstdio>

#include "formats/text/shell.hpp"
#include "formats/version.hpp"
#include "sim/core/exit_status.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/diff/log_diff_views.hpp"
#include "tools/views/diff/words.hpp"

namespace debubble {
namespace {

// What helps from here: a scenario to change, then a gate.
std::string next_log_command(const LogDiffRequest& request, const std::string& tolerance) {
  const std::string log = shell_file(request.log);
  if (request.scenario.empty()) return "debubble import --from megatron " + log + " -o plan.toml";
  if (!tolerance.empty()) return "";
  return "debubble diff " + shell_file(request.scenario) + " --log " + log + " --tolerance step=10%";
}

std::string text_of_log_diff(const LogDiff& diff, const LogDiffRequest& request, const std::string& tolerance,
                             const std::string& command_line, const Output& output) {
  switch (output.format()) {
    case Format::kJson:
      return log_diff_json(diff, {std::string(kVersion), command_line});
    case Format::kCsv:
      return log_diff_csv(diff);
    case Format::kMarkdown:  // not offered
    case Format::kText:
      break;
  }
  return log_diff_view(diff, output.style(), next_log_command(request, tolerance));
}

}  // namespace

int diff_log(const LogDiffRequest& request, const std::string& tolerance, const std::string& command_line,
             Output& output) {
  const Tolerance tolerances = tolerance.empty() ? Tolerance{} : parse_tolerance(tolerance);
  StderrProgress progress;
  const LogDiff diff = make_log_diff(request, progress);
  require_judgeable(tolerances, diff);
  output.write(text_of_log_diff(diff, request, tolerance, command_line, output));
  output.commit();
  const std::vector<Excess> found = exceeded(tolerances, diff);
  for (const Excess& excess : found) {
    stderr_line("debubble: --tolerance: " + excess_words(excess, diff));
  }
  return found.empty() ? kExitOk : kExitFinding;
}

}  // namespace debubble
