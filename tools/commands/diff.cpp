#include "tools/commands/diff.hpp"

#include <array>
#include <cstdio>
#include <optional>
#include <string>

#include "formats/exporters/perfetto_trace.hpp"
#include "formats/text/shell.hpp"
#include "formats/version.hpp"
#include "scenario/request/catalog_names.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/numbers.hpp"
#include "studies/diff/diff.hpp"
#include "studies/diff/log_diff.hpp"
#include "studies/diff/tolerance.hpp"
#include "tools/commands/command.hpp"
#include "tools/flags/config_file.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/diff/diff_json.hpp"
#include "tools/views/diff/diff_view.hpp"
#include "tools/views/diff/log_diff_views.hpp"
#include "tools/views/diff/traces.hpp"
#include "tools/views/diff/words.hpp"
#include "tools/views/html/html_file.hpp"
#include "tools/views/html/run_page.hpp"

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

// Writes the comparison to `output` and commits it. `tolerance` as typed, "": nothing is judged. Returns the exit
// status; throws InputError: what make_log_diff and parse_tolerance throw.
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

constexpr std::string_view kDiffFormats = "text|json|csv";

[[noreturn]] void refuse_beside_log(const char* flag) {
  throw InputError(Diagnostic{"C087", flag,
                              "means nothing for --log: a training log has times of iterations, and none of ops",
                              "leave one of the two out"});
}

class DiffCommand : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    const FlagGroup row;
    const FlagGroup output("Output");
    FlagRows rows{
        row("FILE", "[PREDICTED] MEASURED...: run, trace, scenario.toml", &flags_.files, FlagCount::kAll),
        row("--log", "FILE", "measured: a training log of Megatron-LM", &flags_.log),
        row("--hardware", "NAME|FILE", "of --log: its GPU", &flags_.hardware, hardware_names,
            Default{"as nvidia-smi says"}),
        row("--iteration", "N", "measured iteration: median or 1, 2, ...", &flags_.iteration, Preset{"median"}),
        row("--replica", "N", "of several data-parallel pipelines: which, from 0", &flags_.replica, Preset{"0"}),
        row("--tolerance", "LIST", "exit 1 beyond: bubble=2pp,step=5%,memory=5%", &tolerance_),
    };
    add_rows(rows, flag_rows(output_, kDiffFormats));
    add_rows(rows, {
                       output("--trace", "FILE", "also write both as one trace: x.json, x.pftrace", &trace_),
                       output("--bundle", "FILE.tar", "also write both runs for ui.perfetto.dev", &bundle_),
                       html_row(html_),
                   });
    rows.push_back(assumptions_row(output_));
    rows.back().help = "of --log: all assumptions, with their sources";
    return rows;
  }

  int run(const Invocation& invocation) override {
    check_flags();
    if (!flags_.log.empty()) {
      Output output(output_, kDiffFormats);
      const LogDiffRequest request{flags_.log, flags_.hardware, flags_.files.empty() ? "" : flags_.files.front(),
                                   read_scenario_file};
      return diff_log(request, tolerance_, invocation.command_line, output);
    }
    const Tolerance tolerance = tolerance_.empty() ? Tolerance{} : parse_tolerance(tolerance_);
    const DiffRequest request{flags_.files, parse_iteration(flags_.iteration), read_scenario_file, {flags_.replica}};
    require_different_files(std::array<std::pair<std::string, std::string>, 3>{
        {{"--output", output_.output}, {"--trace", trace_}, {"--bundle", bundle_}}});
    Output output(output_, kDiffFormats);
    std::optional<OutputFile> trace;
    if (!trace_.empty()) trace.emplace(trace_);
    std::optional<OutputFile> bundle;
    if (!bundle_.empty()) bundle.emplace(bundle_);
    HtmlFile html(html_);

    StderrProgress progress;
    const Diff diff = make_diff(request, progress);
    require_judgeable(tolerance, diff);
    show(diff, invocation, output);
    if (trace) {
      write_merged_trace(diff, invocation.command_line, names_perfetto_trace(trace_),
                         [&](std::string_view text) { trace->write(text); });
    }
    if (bundle) bundle->write(trace_bundle(diff, invocation.command_line));
    if (html.wanted()) html.write(diff_page(diff, invocation.command_line));
    if (trace) trace->commit();
    if (bundle) bundle->commit();
    html.commit();
    output.commit();
    const std::vector<Excess> found = exceeded(tolerance, diff);
    for (const Excess& excess : found) {
      stderr_line("debubble: --tolerance: " + excess_words(excess, diff));
    }
    return found.empty() ? kExitOk : kExitFinding;
  }

 private:
  void check_flags() const {
    const bool log = !flags_.log.empty();
    if (!log && output_.assumptions && !flags_.files.empty()) {
      throw InputError(Diagnostic{"C004", "--assumptions",
                                  "only the prediction of a training log prints what it assumes",
                                  "add --log FILE, or simulate the scenario with --assumptions"});
    }
    if (log && flags_.iteration == "median" && flags_.replica == 0) {
      if (!trace_.empty()) refuse_beside_log("--trace");
      if (!bundle_.empty()) refuse_beside_log("--bundle");
      if (!html_.empty()) refuse_beside_log("--html");
    }
    check_diff_flags(flags_);
  }

  void show(const Diff& diff, const Invocation& invocation, Output& output) const {
    switch (output.format()) {
      case Format::kJson:
        output.write(diff_json(diff, {std::string(kVersion), invocation.command_line}));
        break;
      case Format::kCsv:
        output.write(diff_csv(diff));
        break;
      case Format::kMarkdown:  // not offered
      case Format::kText:
        output.write(diff_view(diff, output.style(), written(), next_command()));
        break;
    }
  }

  [[nodiscard]] std::vector<std::string> written() const {
    std::vector<std::string> lines;
    if (!trace_.empty()) lines.push_back(trace_ + ": both runs, for ui.perfetto.dev or chrome://tracing");
    if (!bundle_.empty()) lines.push_back(bundle_ + ": both runs, to be dropped into ui.perfetto.dev");
    return lines;
  }

  // What helps from here: to see both runs, then to guard them.
  [[nodiscard]] std::string next_command() const {
    std::string command = "debubble diff";
    for (const std::string& file : flags_.files) command += " " + shell_file(file);
    if (trace_.empty() && bundle_.empty()) return command + " --bundle diff.tar";
    return tolerance_.empty() ? command + " --tolerance bubble=2pp,step=5%" : "";
  }

  DiffFlags flags_;
  std::string tolerance_;
  OutputFlags output_;
  std::string trace_;
  std::string bundle_;
  std::string html_;
};

}  // namespace

void check_diff_flags(const DiffFlags& flags) {
  if (flags.log.empty()) {
    if (flags.files.empty()) {
      throw InputError(
          Diagnostic{"C061", "debubble diff", "FILE is missing", "run `debubble diff --help` for its flags"});
    }
    if (flags.hardware.empty()) return;
    throw InputError(Diagnostic{"C004", "--hardware", "only a training log is simulated on a GPU that is named",
                                "add --log FILE, or write hardware into the scenario"});
  }
  if (flags.iteration != "median") refuse_beside_log("--iteration");
  if (flags.replica != 0) refuse_beside_log("--replica");
  if (flags.files.empty()) return;
  if (flags.files.size() > 1 || run_form(flags.files.front()) != RunForm::kScenario) {
    throw InputError(Diagnostic{"C009", "--log",
                                "the measured run is the log, and " + flags.files.back() + " is another",
                                "name a scenario to predict it with, or nothing: debubble diff plan.toml --log LOG"});
  }
  if (!flags.hardware.empty()) {
    throw InputError(Diagnostic{"C009", "--hardware",
                                "the scenario " + flags.files.front() + " says on which GPU it runs",
                                "write hardware into the scenario"});
  }
}

std::optional<std::size_t> parse_iteration(const std::string& text) {
  if (text == "median") return std::nullopt;
  if (const auto number = read_whole<std::size_t>(text); number && *number > 0) return number;
  throw InputError(Diagnostic{"C003", "--iteration", "\"" + text + "\" is neither median nor a number from 1",
                              "write it like --iteration 3"});
}

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace debubble
