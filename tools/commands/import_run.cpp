#include "tools/commands/import_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "formats/files/output_file.hpp"
#include "formats/run/run_file.hpp"
#include "formats/text/shell.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "studies/runs/open_run.hpp"
#include "studies/runs/predict.hpp"
#include "tools/flags/config_file.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/output/stderr_progress.hpp"

namespace debubble {
namespace {

[[noreturn]] void refuse_iterations(const std::string& text, std::size_t count) {
  throw InputError(Diagnostic{"C003", "--iterations",
                              fmt::format("\"{}\" is not a list of iterations from 1 to {}", text, count),
                              "write it like --iterations 1,2,5-8"});
}

// "1,2,5-8" as places counted from 0.
std::set<std::size_t> iterations_of(const std::string& text, std::size_t count) {
  std::set<std::size_t> chosen;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view item = std::string_view(text).substr(at, end - at);
    const std::size_t dash = item.find('-');
    const auto first = count_of(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : count_of(item.substr(dash + 1));
    if (!first || !last || *first < 1 || *last < *first || *last > static_cast<std::int64_t>(count)) {
      refuse_iterations(text, count);
    }
    for (std::int64_t k = *first; k <= *last; ++k) chosen.insert(static_cast<std::size_t>(k - 1));
    at = end + 1;
  }
  return chosen;
}

void keep_iterations(const std::string& text, RunRecord& run) {
  if (text.empty()) return;
  std::vector<RunIteration> kept;
  const std::size_t count = run.iterations.size();
  for (const std::size_t k : iterations_of(text, count)) kept.push_back(std::move(run.iterations[k]));
  run.origin.notes.push_back(fmt::format("iterations {} of the {} that were recorded", text, count));
  run.iterations = std::move(kept);
}

}  // namespace

int import_run(const std::vector<std::string>& files, const RunImportFlags& flags, const OutputFlags& output) {
  OutputFile written(output.output);
  StderrProgress progress;
  RunRecord run = open_run(files, nullptr, read_scenario_file, progress, {flags.replica});
  if (run.origin.backend == "simulator") {
    throw InputError(Diagnostic{"D002", files.front(), "this is a prediction, nothing that was measured",
                                "give the files of a measured run"});
  }
  keep_iterations(flags.iterations, run);
  write_run_file(run, [&](std::string_view text) { written.write(text); });
  written.commit();
  for (const std::string& note : run.origin.notes) stderr_line("note: " + note);
  for (const LossItem& loss : run.losses) {
    stderr_line(fmt::format("lost: {} {}", loss.count, loss.what));
  }
  const std::size_t median = median_iteration(run);
  const Report report = report_of(run, median);
  stderr_line(fmt::format("{} on {} devices, {} microbatches: {} iterations, the median step {}, bubble {}",
                          run.schedule.name, run.schedule.devices, run.schedule.microbatches, run.iterations.size(),
                          format_duration(run.iterations[median].timeline.makespan),
                          format_percent(report.bubble_ratio)));
  if (output.output != "-") stderr_line("next: debubble diff " + shell_file(output.output));
  return kExitOk;
}

}  // namespace debubble
