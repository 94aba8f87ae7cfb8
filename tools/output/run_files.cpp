#include "tools/output/run_files.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "formats/exporters/perfetto_trace.hpp"
#include "formats/run/run_file.hpp"
#include "scenario/job/transforms.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "studies/runs/predict.hpp"
#include "tools/output/output.hpp"
#include "tools/output/trace.hpp"

namespace debubble {

namespace {

constexpr const char* kTablePlacement =
    "the simulation places the work of fill-bubbles, which is not part of the schedule or of the run's ops";

// The check comes before any file is opened.
const RunFileFlags& checked_files(const RunFileFlags& flags, const std::string& output) {
  require_different_files(std::array<std::pair<std::string, std::string>, 4>{
      {{"--output", output}, {"--trace", flags.trace}, {"--export-schedule", flags.table}, {"--save-run", flags.run}}});
  require_trace(flags.ops_only, !flags.trace.empty(), "add --trace FILE.json");
  return flags;
}

}  // namespace

FlagRows flag_rows(RunFileFlags& flags) {
  const FlagGroup row("Output");
  return {
      row("--trace", "FILE", "also write a trace: x.json, x.pftrace, with .gz", &flags.trace),
      ops_only_row(flags.ops_only),
      row("--export-schedule", "FILE.csv", "also write the schedule as PyTorch's table", &flags.table),
      row("--save-run", "FILE.json[.gz]", "also write the run, for `debubble diff`", &flags.run),
  };
}

RunFiles::RunFiles(const RunFileFlags& flags, const std::string& output)
    : trace_(checked_files(flags, output).trace), table_(flags.table), run_(flags.run), ops_only_(flags.ops_only) {}

void RunFiles::require_words_for(const Schedule& schedule) const {
  if (table_.file) refuse_filled_bubbles(schedule, "--export-schedule", kTablePlacement);
  if (run_.file) refuse_filled_bubbles(schedule, "--save-run", kTablePlacement);
  if (table_.file) {
    refuse_what_is_not_expressible(schedule, ExchangeFormat::kPytorchTable, "pytorch-csv", "--export-schedule");
  }
  if (run_.file) refuse_what_cannot_be_read_back(schedule);
}

void RunFiles::require_words_for(const Simulated& run) const {
  require_words_for(run.job.schedule);
  const std::string reason = run_.file ? not_in_run_files(run) : "";
  if (reason.empty()) return;
  throw InputError(Diagnostic{"T054", "--save-run", "a run file cannot hold this run: " + reason,
                              "--trace shows it in Perfetto, and --format json has its numbers"});
}

void RunFiles::write_schedule(const Schedule& schedule) {
  if (!table_.file) return;
  write_table(schedule, *table_.file);
  table_.written = true;
}

void RunFiles::write_result(const Simulated& run, const std::string& command_line, const RunRecord* record,
                            Progress& progress) {
  if (trace_.file) {
    progress.phase("writing " + trace_.path);
    write_trace(run, command_line, record, {ops_only_, names_perfetto_trace(trace_.path)}, *trace_.file);
    trace_.written = true;
  }
  if (run_.file) {
    progress.phase("writing " + run_.path);
    write_run_file(*record, [&](std::string_view text) { run_.file->write(text); });
    run_.written = true;
  }
}

void RunFiles::commit() {
  for (File* file : {&table_, &trace_, &run_}) {
    if (file->written) file->file->commit();
  }
}

}  // namespace debubble
