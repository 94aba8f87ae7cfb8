#include "tools/commands/command.hpp"

#include <cstdio>
#include <string>
#include <string_view>

#include "cost_models/partition/layout.hpp"
#include "formats/exporters/report_json.hpp"
#include "formats/files/read_file.hpp"
#include "formats/schedule/node_list.hpp"
#include "formats/schedule/schedule_file.hpp"
#include "formats/schedule/torchtitan.hpp"
#include "formats/text/shell.hpp"
#include "formats/topology/topology_file.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/job/transforms.hpp"
#include "scenario/request/flag_row.hpp"
#include "scenario/request/hardware_file.hpp"
#include "schedules/exchange/comms_lowering.hpp"
#include "schedules/exchange/comms_table.hpp"
#include "schedules/exchange/expressible.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/word_list.hpp"
#include "studies/compare/runs_today.hpp"
#include "studies/paste/paste.hpp"
#include "studies/paste/script_patch.hpp"
#include "studies/plan/own_run.hpp"
#include "studies/simulate/simulate.hpp"
#include "tools/commands/export_figure.hpp"
#include "tools/output/hardware_names.hpp"
#include "tools/output/kineto_folder.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/output/trace.hpp"
#include "tools/views/diagnostics.hpp"

namespace debubble {

namespace {

constexpr std::string_view kExportFormats =
    "pytorch-csv pytorch-comms zero-bubble-json schedule-json megatron-layout chrome-trace perfetto-trace kineto "
    "topology-json svg pdf png torchtitan megatron deepspeed hardware";

std::vector<std::string> export_formats() {
  const auto words = words_in(kExportFormats);
  return {words.begin(), words.end()};
}

constexpr const char* kExportPlacement =
    "the simulation places the work of fill-bubbles, which is not part of the schedule";

// Megatron puts stage s on rank s mod p; a layout cannot say anything else.
void refuse_other_placements(const Schedule& schedule) {
  if (schedule.placement == loop_placement(schedule.devices, schedule.stages)) return;
  throw InputError(Diagnostic{"T054", "--to",
                              "Megatron's layout puts stage s on device s mod " + std::to_string(schedule.devices) +
                                  ", and " + schedule.name + " places its stages otherwise",
                              "--to schedule-json keeps the placement"});
}

class Export : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    const FlagGroup row;
    FlagRows rows{
        row("NAME", "of --to hardware: which", &name_),
        row("--to", "FORMAT", "pytorch-csv, schedule-json, svg, ...", &to_, export_formats, FlagMark::kRequired),
        row("-o,--output", "FILE", "file or .gz; kineto: a folder", &output_, Default{"-, stdout"}, Preset{"-"}),
        row("--script", "FILE", "of --to megatron: a patch of this launch script", &script_),
        row("--torch", "RELEASE", "of --to pytorch-comms: 2.13 or 2.15 (default)", &torch_, OneOf{"2.15|2.13"}),
        ops_only_row(ops_only_),
    };
    add_rows(rows, flag_rows(figure_));
    add_rows(rows, flag_rows(scenario_));
    return rows;
  }

  int run(const Invocation& invocation) override {
    if (!is_word_in(kExportFormats, to_)) refuse_format();
    if (to_ == "svg" || to_ == "pdf" || to_ == "png")
      return export_figure({figure_, scenario_, to_, output_}, invocation);
    refuse_figure_flags(figure_, to_);
    if (to_ == "hardware") return write_hardware_copy();
    if (!name_.empty()) {
      throw InputError(Diagnostic{"C061", "export", "\"" + name_ + "\" names nothing that --to " + to_ + " writes",
                                  "only --to hardware takes a name; a schedule is named with --schedule"});
    }
    require_trace(ops_only_, is_trace(), "--to chrome-trace writes one");
    if (!torch_.empty() && to_ != "pytorch-comms") {
      throw InputError(Diagnostic{"C004", "--torch", "PyTorch's releases differ in --to pytorch-comms alone",
                                  "leave it out, or write --to pytorch-comms"});
    }
    if (!script_.empty()) return write_patch();
    const Scenario scenario = check_scenario(scenario_);
    const std::string name = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
    if (to_ == "megatron-layout" && !scenario.profile) {
      throw InputError(Diagnostic{"C004", "--to", "a layout places layers, and there are none without a profile",
                                  "add --profile FILE"});
    }
    if (to_ == "topology-json" && scenario.cluster.graph == nullptr) {
      throw InputError(Diagnostic{"C004", "--to", "ideal links have no graph that could be written",
                                  "add --topology, e.g. --topology dgx-h100:2"});
    }
    if (to_ == "kineto") return write_kineto(scenario, name, invocation);
    if (const auto framework = framework_named(to_); framework && to_ != "pytorch")
      return write_framework(scenario, name, *framework);
    OutputFile file(output_);
    if (is_trace() || to_ == "zero-bubble-json") return write_run(scenario, name, invocation, file);
    if (to_ == "megatron-layout") {
      StderrProgress progress;
      const Job job = prepare(scenario, name, progress);
      refuse_filled_bubbles(job.schedule, "--to", kExportPlacement);
      refuse_other_placements(job.schedule);
      file.write(write_layout(job.partition, *scenario.profile) + "\n");
    } else if (to_ == "topology-json") {
      write_topology(*scenario.cluster.graph, [&](std::string_view text) { file.write(text); });
    } else {
      write_order(make_schedule(scenario, name), file);
    }
    file.commit();
    return kExitOk;
  }

 private:
  [[nodiscard]] bool is_trace() const { return to_ == "chrome-trace" || to_ == "perfetto-trace"; }

  [[noreturn]] void refuse_format() const {
    std::string all;
    const std::vector<std::string> formats = export_formats();
    for (const std::string& format : formats) all += (all.empty() ? "" : ", ") + format;
    const std::string guess = to_ == "csv"    ? "pytorch-csv"
                              : to_ == "json" ? "schedule-json"
                                              : closest_name(to_, formats);
    throw InputError(Diagnostic{"C003", "--to", "\"" + to_ + "\" is not a format debubble can export to",
                                (guess.empty() ? "" : "did you mean " + guess + "? ") + "known formats: " + all});
  }

  // A preset or a file, to be edited.
  int write_hardware_copy() {
    require_trace(ops_only_, false, "--to chrome-trace writes one");
    if (name_.empty()) {
      throw InputError(Diagnostic{"C061", "export", "which hardware?", "see `debubble list hardware`"});
    }
    for (const Flag& row : flag_rows(scenario_)) {
      if (!is_given(row)) continue;
      throw InputError(Diagnostic{"C087", std::string(row.name), "means nothing for --to hardware",
                                  "leave it out: the file has the hardware's figures alone"});
    }
    const std::shared_ptr<const Hardware> hardware = hardware_named(name_, "export");
    const std::string name = own_name(output_, hardware->own != nullptr ? hardware->name : "my-" + hardware->name);
    OutputFile file(output_);
    file.write(write_hardware(*hardware, name));
    file.commit();
    if (output_ != "-") stderr_line("next: debubble explain hardware " + shell_file(output_));
    return kExitOk;
  }

  // Notes are comments where the text may have some, and always on stderr.
  int write_framework(const Scenario& scenario, const std::string& name, const std::string& framework) {
    if (!scenario.transformer.setup) {
      throw InputError(Diagnostic{"C004", "--to", "a framework's configuration is of a model, and there is none",
                                  "add --model NAME"});
    }
    StderrProgress progress;
    const Job job = prepare(scenario, name, progress);
    require_runs_in(framework, scenario, job);
    const Paste paste = make_paste(framework, scenario_, scenario, job);
    require_runs(paste);
    OutputFile file(output_);
    if (framework != "DeepSpeed") file.write(comments_of(paste));
    file.write(paste.text('\n', true) + "\n");
    file.commit();
    for (const std::string& note : paste.notes) stderr_line("note: " + framework + ": " + note);
    return kExitOk;
  }

  static void require_runs(const Paste& paste) {
    if (paste.refusal.empty()) return;
    throw InputError(
        Diagnostic{"T054", "--to", paste.framework + " cannot run this: it " + paste.refusal,
                   "`debubble list schedules` names the frameworks that run each schedule; `debubble plan` looks "
                   "for the best run of each"});
  }

  static Paste paste_of(const ScenarioFlags& flags) {
    const Scenario scenario = check_scenario(flags);
    StderrProgress progress;
    const Job job = prepare(scenario, scenario.schedules.empty() ? "1f1b" : scenario.schedules.front(), progress);
    require_runs_in("Megatron-LM", scenario, job);
    return make_paste("Megatron-LM", flags, scenario, job);
  }

  // What the command line says takes the place of what the script says.
  int write_patch() {
    if (framework_named(to_) != "Megatron-LM") {
      throw InputError(Diagnostic{"C087", "--script", "means nothing for --to " + to_,
                                  "leave it out: a patch is one of a Megatron-LM script"});
    }
    constexpr std::size_t kMostPatchedBytes = std::size_t{1} << 20;
    const std::string text = read_file(script_, "--script", kMostPatchedBytes);
    const FlagsOverScript flags = flags_over_script(text, script_, scenario_);
    const Paste own = paste_of(flags.own);
    const Paste wanted = paste_of(flags.wanted);
    require_runs(wanted);
    OutputFile file(output_);
    file.write(script_patch({text, script_, own}, wanted));
    file.commit();
    for (const std::string& note : wanted.notes) stderr_line("note: " + wanted.framework + ": " + note);
    return kExitOk;
  }

  static std::string comments_of(const Paste& paste) {
    std::string text;
    for (const std::string& note : paste.notes) text += "# note: " + note + "\n";
    for (const auto& [variable, value] : paste.environment) text += "# environment: " + variable + "=" + value + "\n";
    std::string removed;
    for (const std::string& argument : paste.removed()) removed += " " + argument;
    return text + "# remove, where a script has them:" + removed + "\n";
  }

  // What needs no costs.
  void write_order(const Schedule& schedule, OutputFile& file) {
    refuse_filled_bubbles(schedule, "--to", kExportPlacement);
    if (to_ == "schedule-json") {
      write_schedule_file(schedule, [&](std::string_view text) { file.write(text); });
      return;
    }
    if (to_ == "pytorch-comms") {
      refuse_what_is_not_expressible(schedule, ExchangeFormat::kPytorchTable, to_, "--to");
      const bool newest = word_index(flags(), "--torch") == 0;
      file.write(write_action_table(lower_as_pytorch(schedule, "--to", newest ? kNewestTorch : TorchRelease::k2_13)));
      return;
    }
    write_table(schedule, file, "--to");
    if (output_ != "-") stderr_line(torchtitan_advice(schedule, output_));
  }

  // What shows times.
  int write_run(const Scenario& scenario, const std::string& name, const Invocation& invocation, OutputFile& file) {
    StderrProgress progress;
    const Simulated run = simulate(scenario, name, progress);
    if (to_ == "zero-bubble-json") refuse_filled_bubbles(run.job.schedule, "--to", kExportPlacement);
    if (to_ == "zero-bubble-json")
      refuse_what_is_not_expressible(run.job.schedule, ExchangeFormat::kNodeList, to_, "--to");
    if (!has_result(run.result.report)) {
      std::fputs(findings_view(run.result.report, stderr_style()).c_str(), stderr);
      return kExitFinding;
    }
    if (to_ == "zero-bubble-json") {
      write_node_list(run.job.schedule, run.result.timeline, [&](std::string_view text) { file.write(text); });
    } else {
      write_trace(run, invocation.command_line, nullptr, {ops_only_, to_ == "perfetto-trace"}, file);
    }
    file.commit();
    return kExitOk;
  }

  // A folder of files, which are whole or not there.
  int write_kineto(const Scenario& scenario, const std::string& name, const Invocation& invocation) const {
    require_kineto_folder(output_);
    StderrProgress progress;
    const Simulated run = simulate(scenario, name, progress);
    refuse_filled_bubbles(run.job.schedule, "--to", kExportPlacement);
    if (!has_result(run.result.report)) {
      std::fputs(findings_view(run.result.report, stderr_style()).c_str(), stderr);
      return kExitFinding;
    }
    progress.phase("writing " + output_);
    write_kineto_folder(run, invocation.command_line, output_);
    return kExitOk;
  }

  ScenarioFlags scenario_;
  ExportFigureFlags figure_;
  std::string name_;
  std::string to_;
  std::string output_ = "-";
  std::string script_;
  std::string torch_;  // release
  bool ops_only_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export() { return std::make_unique<Export>(); }

}  // namespace debubble
