#include "tools/commands/command.hpp"

#include <cstdio>
#include <optional>

#include "formats/exporters/report_csv.hpp"
#include "formats/exporters/report_json.hpp"
#include "formats/text/shell.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/analysis/limit.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/runs/predict.hpp"
#include "studies/simulate/room.hpp"
#include "studies/simulate/simulate.hpp"
#include "tools/commands/simulate_answer.hpp"
#include "tools/figures/figure_file.hpp"
#include "tools/figures/run_figure.hpp"
#include "tools/output/fail_if.hpp"
#include "tools/output/output.hpp"
#include "tools/output/run_files.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/assumption_lines.hpp"
#include "tools/views/diagnostics.hpp"
#include "tools/views/gantt.hpp"
#include "tools/views/html/html_file.hpp"
#include "tools/views/html/run_page.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/summary.hpp"

namespace debubble {

namespace {

constexpr std::string_view kSimulateFormats = "text|json|csv";

class Simulate : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    FlagRows rows = flag_rows(scenario_);
    add_rows(rows, flag_rows(output_, kSimulateFormats));
    rows.push_back(assumptions_row(output_));
    add_rows(rows, flag_rows(files_));
    rows.push_back(html_row(html_));
    add_rows(rows, flag_rows(figure_, "its parts: pipeline, causes, idle, memory"));
    rows.push_back(fail_if_row(fail_if_, "exit 1 if it holds: 'bubble>25% || mem>76GiB'"));
    return rows;
  }

  int run(const Invocation& invocation) override {
    const Scenario scenario = check_scenario(scenario_);
    std::optional<FailIf> fail_if;
    if (!fail_if_.empty()) fail_if = FailIf::parse(fail_if_);
    const std::vector<figure::RunPanel> panels = figure::parse_run_panels(figure_.show, "--show");
    RunFiles files(files_, output_.output);
    HtmlFile html(html_);
    figure::FigureFile drawn(figure_);
    Output output(output_, kSimulateFormats);

    StderrProgress progress;
    const std::string name = simulated_name(scenario);
    const Simulated run = answer_simulate(scenario, name, progress);
    files.require_words_for(run);
    const bool fired = fail_if && has_result(run.result.report) && judge(*fail_if, run.result.report);
    const AdviceContext context = advice_context(scenario, name, run);
    show(run, context, invocation, output);
    if (html.wanted()) html.write(run_page("simulate", run, context, invocation.command_line));
    if (has_result(run.result.report) && drawn.wanted()) {
      drawn.write(run_figure(
          {&run.result.timeline, &run.job.schedule, &run.job.costs, &run.result.report, invocation.command_line},
          panels, drawn.width(), figure_.mono));
    }
    files.write_schedule(run.job.schedule);
    if (has_result(run.result.report) && files.need_run()) {
      std::optional<RunRecord> record;
      if (files.need_record()) record = record_of(run, invocation.command_line);
      files.write_result(run, invocation.command_line, record ? &*record : nullptr, progress);
    }
    files.commit();
    html.commit();
    drawn.commit();
    output.commit();
    return fired || !has_result(run.result.report) || out_of_memory(run.result.report) ? kExitFinding : kExitOk;
  }

 private:
  [[nodiscard]] AdviceContext advice_context(const Scenario& scenario, const std::string& name,
                                             const Simulated& run) const {
    AdviceContext context;
    context.flags = repeated_flags(scenario_);
    context.schedule = shell_file(name);
    context.own_partition = !scenario.partition.follows_from_job();
    context.auto_partition = scenario.profile && is_evenest_cut(scenario, run.job);
    context.more_microbatches = more_for(scenario, name, run);
    return context;
  }

  static void show(const Simulated& run, const AdviceContext& context, const Invocation& invocation, Output& output) {
    switch (output.format()) {
      case Format::kJson:
        output.write(simulate_json(run, context.more_microbatches, invocation.command_line));
        break;
      case Format::kCsv:
        output.write(devices_csv(run.result.report));
        break;
      case Format::kMarkdown:  // not offered
      case Format::kText:
        output.write(headline(run.result.report, output.style()) + "\n");
        if (has_result(run.result.report))
          output.write(gantt(run.result.timeline, output.style(), {&run.job.schedule, &run.job.costs}) + "\n");
        output.write(summary(run.result.report, output.style(), context) + "\n");
        output.write(assumption_lines(run.result.report.assumptions, output.style()));
        break;
    }
    if (!has_result(run.result.report) && output.format() != Format::kText) {
      std::fputs(findings_view(run.result.report, stderr_style()).c_str(), stderr);
    }
  }

  ScenarioFlags scenario_;
  OutputFlags output_;
  RunFileFlags files_;
  std::string html_;
  figure::FigureFlags figure_;
  std::string fail_if_;
};

}  // namespace

std::unique_ptr<Command> make_simulate() { return std::make_unique<Simulate>(); }

}  // namespace debubble
