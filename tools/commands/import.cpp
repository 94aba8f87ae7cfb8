#include "tools/commands/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "formats/files/output_file.hpp"
#include "formats/files/read_file.hpp"
#include "formats/profile/profile_json.hpp"
#include "formats/text/choice.hpp"
#include "formats/text/shell.hpp"
#include "profiler/ranks/join.hpp"
#include "scenario/request/catalog_names.hpp"
#include "scenario/request/flag.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "tools/commands/import_framework.hpp"
#include "tools/commands/import_megatron.hpp"
#include "tools/commands/import_products.hpp"
#include "tools/commands/import_run.hpp"
#include "tools/commands/import_trace.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/output/stderr_progress.hpp"

namespace debubble {

namespace {

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
