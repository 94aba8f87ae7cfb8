#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/files/output_file.hpp"
#include "formats/files/read_file.hpp"
#include "formats/profile/profile_json.hpp"
#include "formats/run/run_file.hpp"
#include "formats/text/choice.hpp"
#include "formats/text/shell.hpp"
#include "profiler/ranks/join.hpp"
#include "scenario/request/catalog_names.hpp"
#include "scenario/request/flag.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "studies/runs/open_run.hpp"
#include "studies/runs/predict.hpp"
#include "tools/commands/command.hpp"
#include "tools/commands/import_framework.hpp"
#include "tools/commands/import_megatron.hpp"
#include "tools/commands/import_products.hpp"
#include "tools/commands/import_trace.hpp"
#include "tools/flags/config_file.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/output/stderr_progress.hpp"

namespace debubble {
namespace {

// debubble import --from run: a measured run of several ranks as a run file.

struct RunImportFlags {
  int replica = 0;
  std::string iterations;  // "1,2,5-8"; empty: all
};

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

// Writes debubble.run/1; what was found out, and the notes, go to stderr. Throws InputError (C003 for iterations that
// are none) and what open_run throws.
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

// One file per pipeline stage. Throws InputError (C061 for fewer than two, L020 for files that do not belong together).
int import_profiles(const std::vector<std::string>& files, const OutputFlags& output) {
  if (files.size() < 2) {
    throw InputError(Diagnostic{"C061", "FILE", "one profile is a model by itself",
                                "give the profiles of all pipeline stages, which --rank made"});
  }
  OutputFile written(output.output);
  std::vector<StagePart> parts;
  for (const std::string& file : files) {
    Attribution found;
    found.profile = read_profile(read_file(file, "FILE"), file);
    if (!found.profile.origin.notes.empty()) found.notes.push_back(found.profile.origin.notes);
    parts.push_back({std::filesystem::path(file).filename().string(), std::move(found)});
  }
  const Attribution joined = joined_stages(std::move(parts));
  written.write(write_profile(joined.profile));
  written.commit();
  for (const std::string& note : joined.notes) stderr_line("note: " + note);
  if (output.output != "-") {
    stderr_line("next: debubble compare --profile " + shell_file(output.output) + " -p 4 -m 8");
  }
  return kExitOk;
}

constexpr std::array kTraces{"kineto", "nsys", "records"};

constexpr const char* kTools =
    "kineto|nsys|records|profiles|megatron|torchtitan|deepspeed|accelerate|nemo|nanotron|neox|run|gemm-table";

std::vector<std::string> import_tools() { return split_names(kTools); }

class Import : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    const FlagGroup row;
    FlagRows rows{
        row("FILE", "files the tool wrote; traces: one per rank", &flags_.files, FlagCount::kAll, FlagMark::kRequired),
        row("--from", "TOOL", "kineto, nsys, run, megatron, torchtitan, ...", &flags_.from, import_tools,
            FlagMark::kRequired),
    };
    add_rows(rows, trace_rows(flags_));
    add_rows(rows, run_rows());
    add_rows(rows, product_rows());
    add_rows(rows, framework_rows(framework_));
    add_rows(rows, script_rows(script_));
    FlagRows output = flag_rows(flags_.output, "text|json", "format of --explain's output");
    for (Flag& shown : output) {
      if (shown.name == "--output") shown.given = &flags_.output_given;
    }
    add_rows(rows, std::move(output));
    return rows;
  }

  int run(const Invocation&) override {
    if (flags_.from != "megatron") refuse_flags(script_rows(script_), "anything but a launch script");
    if (is_framework(flags_.from)) {
      refuse_flags(product_rows(), "anything but measured products");
      return import_configuration();
    }
    refuse_flags(framework_rows(framework_), "anything but a framework's configuration");
    if (flags_.from == "gemm-table") return import_gemm_table();
    refuse_flags(product_rows(), "anything but measured products");
    if (std::find(kTraces.begin(), kTraces.end(), flags_.from) != kTraces.end()) {
      refuse_flags(run_rows(), "anything but a measured run");
      return import_traces(flags_);
    }
    if (flags_.from == "run") {
      refuse_flags(trace_rows(flags_), "a measured run");
      return import_run(flags_.files, run_, flags_.output);
    }
    refuse_flags(run_rows(), "anything but a measured run");
    if (flags_.from == "profiles") {
      refuse_flags(trace_rows(flags_), "profiles");
      return import_profiles(flags_.files, flags_.output);
    }
    if (flags_.from != "megatron") {
      throw InputError(Diagnostic{"C003", "--from", "\"" + flags_.from + "\" is not a tool debubble can import from",
                                  fmt::format("known tools: {}", fmt::join(import_tools(), ", "))});
    }
    refuse_trace_flags("a Megatron script");
    if (flags_.files.size() > 1) {
      throw InputError(Diagnostic{"C087", "FILE",
                                  "a Megatron script is one file; got " + std::to_string(flags_.files.size()),
                                  "import them one by one"});
    }
    return import_megatron(flags_.files.front(), script_, {flags_.model.model, flags_.model.sequence},
                           flags_.output.output);
  }

 private:
  FlagRows run_rows() {
    const FlagGroup row("Measured run");
    return {
        row("--replica", "N", "of several data-parallel pipelines: which, from 0", &run_.replica, Preset{"0"}),
        row("--iterations", "LIST", "keep these, as 1,2,5-8 (default: all)", &run_.iterations),
    };
  }

  FlagRows product_rows() {
    return {FlagGroup("Measured products")("--hardware", "NAME|FILE", "gemm-table: on which they were measured",
                                           &hardware_, hardware_names)};
  }

  int import_gemm_table() {
    refuse_flags(trace_rows(flags_), "measured products");
    refuse_flags(run_rows(), "measured products");
    if (flags_.files.size() > 1) {
      throw InputError(Diagnostic{"C087", "FILE",
                                  "measured products are one file; got " + std::to_string(flags_.files.size()),
                                  "import them one by one"});
    }
    return import_products(flags_.files.front(), hardware_, flags_.output.output);
  }

  // A profile has its times already, a script has none: nothing to attribute.
  static void refuse_flags(const FlagRows& rows, const std::string& what) {
    for (const Flag& row : rows) {
      if (!is_given(row)) continue;
      throw InputError(Diagnostic{"C087", std::string(row.name), "means nothing for " + what,
                                  "leave " + std::string(row.name) + " out"});
    }
  }

  // But for what a script or a configuration may lack: the model, and the length of its samples.
  void refuse_trace_flags(const std::string& what) {
    for (const Flag& row : trace_rows(flags_)) {
      if (row.name != "--model" && row.name != "--sequence") refuse_flags({row}, what);
    }
  }

  int import_configuration() {
    refuse_flags(run_rows(), "anything but a measured run");
    refuse_trace_flags("a framework's configuration");
    if (flags_.files.size() > 1) {
      throw InputError(Diagnostic{"C087", "FILE",
                                  "a configuration is one file; got " + std::to_string(flags_.files.size()),
                                  "import them one by one"});
    }
    framework_.model = flags_.model.model;
    framework_.sequence = flags_.model.sequence;
    return import_framework(flags_.from, flags_.files.front(), framework_, flags_.output.output);
  }

  TraceImportFlags flags_;
  RunImportFlags run_;
  std::string hardware_;
  FrameworkRequest framework_;
  ScriptFlags script_;
};

}  // namespace

std::unique_ptr<Command> make_import() { return std::make_unique<Import>(); }

}  // namespace debubble
