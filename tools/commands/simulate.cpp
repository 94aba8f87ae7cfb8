#include "tools/commands/simulate.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <optional>

#include "sim/analysis/analyse.hpp"
#include "sim/core/error.hpp"
#include "tools/commands/trace.hpp"
#include "tools/exit_status.hpp"
#include "tools/exporters/report_csv.hpp"
#include "tools/exporters/report_json.hpp"
#include "tools/fail_if.hpp"
#include "tools/output.hpp"
#include "tools/run.hpp"
#include "tools/runs/predict.hpp"
#include "tools/runs/run_file.hpp"
#include "tools/scenario.hpp"
#include "tools/version.hpp"
#include "tools/views/diagnostics.hpp"
#include "tools/views/gantt.hpp"
#include "tools/views/summary.hpp"

namespace debubble {

namespace {

constexpr std::string_view kFormats = "text|json|csv";

class Simulate : public Command {
 public:
  void add_flags(CLI::App& verb) override {
    add_scenario_flags(verb, scenario_, false);
    add_output_flags(verb, output_, kFormats);
    const std::string group = "Output";
    verb.add_option("--trace", trace_, "also write a Chrome trace; .gz compresses it")
        ->group(group)
        ->type_name("FILE.json[.gz]");
    verb.add_option("--export-schedule", table_, "also write the schedule as PyTorch's table")
        ->group(group)
        ->type_name("FILE.csv");
    verb.add_option("--save-run", save_run_, "also write the run, for `debubble diff` and `check`")
        ->group(group)
        ->type_name("FILE.json[.gz]");
    verb.add_option("--fail-if", fail_if_, "exit 1 if it holds: 'bubble>25% || mem>76GiB'")
        ->group(group)
        ->type_name("EXPR");
  }

  int run(const Invocation& invocation) override {
    const Scenario scenario = check_scenario(scenario_);
    std::optional<FailIf> fail_if;
    if (!fail_if_.empty()) fail_if = FailIf::parse(fail_if_);
    require_different_files(std::array<std::pair<std::string, std::string>, 4>{
        {{"--output", output_.output}, {"--trace", trace_}, {"--export-schedule", table_}, {"--save-run", save_run_}}});
    Output output(output_, kFormats);
    std::optional<OutputFile> trace;
    if (!trace_.empty()) trace.emplace(trace_);
    std::optional<OutputFile> table;
    if (!table_.empty()) table.emplace(table_);
    std::optional<OutputFile> saved;
    if (!save_run_.empty()) saved.emplace(save_run_);

    Progress progress;
    const std::string name = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
    const Run run = run_schedule(scenario, name, progress);
    const bool fired = fail_if && has_result(run.report) && judge(*fail_if, run.report);
    show(run, advice_context(scenario, name, run), invocation, output);
    if (table) write_table(run.schedule, *table);
    if (trace && has_result(run.report)) {
      progress.phase("writing " + trace_);
      write_trace(run, invocation.command_line, *trace);
    }
    if (saved && has_result(run.report)) {
      progress.phase("writing " + save_run_);
      write_run_file(record_of(run, scenario.p2p, invocation.command_line),
                     [&](std::string_view text) { saved->write(text); });
    }
    if (table) table->commit();  // all are written, so none fails for want of space and leaves the others behind
    if (trace && has_result(run.report)) trace->commit();
    if (saved && has_result(run.report)) saved->commit();
    output.commit();
    return fired || !has_result(run.report) ? kExitFinding : kExitOk;
  }

 private:
  [[nodiscard]] AdviceContext advice_context(const Scenario& scenario, const std::string& name, const Run& run) const {
    AdviceContext context;
    context.flags = repeated_flags(scenario_);
    context.own_partition = scenario.partition != "auto";
    context.auto_partition = scenario.profile && !context.own_partition;
    if (has_result(run.report)) context.more_microbatches = more_microbatches(scenario, name, run);
    return context;
  }

  static void show(const Run& run, const AdviceContext& context, const Invocation& invocation, Output& output) {
    switch (output.format()) {
      case Format::kJson:
        output.write(report_json(run.report, {std::string(kVersion), invocation.command_line}));
        break;
      case Format::kCsv:
        output.write(devices_csv(run.report));
        break;
      case Format::kText:
        output.write(heading(run.report, output.style()) + "\n");
        if (has_result(run.report)) output.write(gantt(run.timeline, output.style()) + "\n");
        output.write(summary(run.report, output.style(), context));
        break;
    }
    if (!has_result(run.report) && output.format() != Format::kText) {
      std::fputs(findings_view(run.report.findings, stderr_style()).c_str(), stderr);
    }
  }

  // A condition that holds is a finding: said on stderr, so that stdout stays the same data.
  static bool judge(const FailIf& fail_if, const Report& report) {
    const FailIf::Verdict verdict = fail_if.evaluate(report);
    for (const std::string& reason : verdict.because) std::fprintf(stderr, "debubble: --fail-if: %s\n", reason.c_str());
    return verdict.fired;
  }

  ScenarioFlags scenario_;
  OutputFlags output_;
  std::string trace_;
  std::string table_;
  std::string save_run_;
  std::string fail_if_;
};

}  // namespace

std::unique_ptr<Command> make_simulate() { return std::make_unique<Simulate>(); }

}  // namespace debubble
