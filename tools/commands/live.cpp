#include "tools/commands/command.hpp"

#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "formats/exporters/report_csv.hpp"
#include "formats/exporters/report_json.hpp"
#include "formats/version.hpp"
#include "live/backends.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/analysis/limit.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/live/flags.hpp"
#include "studies/live/start.hpp"
#include "studies/runs/predict.hpp"
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
#include "tools/views/live_view.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/summary.hpp"

namespace debubble {

namespace {

constexpr std::string_view kLiveFormats = "text|json|csv";

// A run that ended, or the finding that says why it did not.
struct LiveOutcome {
  std::optional<RunRecord> record;
  std::optional<Stall> stall;
  Report report;
};

class Live : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    FlagRows rows = flag_rows(scenario_, ScenarioVerb::kLive);
    scenario_.transformer.microbatch_flag = "--microbatch-size";
    scenario_.transformer.sequence_flag = "--sequence";
    add_rows(rows, flag_rows(live_));
    add_rows(rows, flag_rows(output_, kLiveFormats));
    rows.push_back(assumptions_row(output_));
    add_rows(rows, flag_rows(files_));
    rows.push_back(html_row(html_));
    add_rows(rows, flag_rows(figure_, "its parts: pipeline, causes, idle, memory"));
    rows.push_back(fail_if_row(fail_if_, "exit 1 if it holds: 'bubble>25% || step>40ms'"));
    return rows;
  }

  int run(const Invocation& invocation) override {
    const LiveSettings settings = check_live(live_, scenario_);
    const Scenario scenario = check_scenario(scenario_part(settings, scenario_));
    const std::string name = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
    if (settings.backend == LiveBackend::kMpi && live::mpi_rank_of_environment().value_or(0) > 0) {
      return follow(scenario, settings, name);
    }
    std::optional<FailIf> fail_if;
    if (!fail_if_.empty()) fail_if = FailIf::parse(fail_if_);
    const std::vector<figure::RunPanel> panels = figure::parse_run_panels(figure_.show, "--show");
    RunFiles files(files_, output_.output);
    HtmlFile html(html_);
    figure::FigureFile drawn(figure_);
    Output output(output_, kLiveFormats);

    StderrProgress progress;
    const LivePlan plan = plan_live(scenario, settings, name, progress);
    files.require_words_for(plan.job.schedule);
    const LiveOutcome outcome = run_plan(plan, settings, invocation.command_line, progress);
    const bool ended = outcome.record.has_value();
    const bool fired = fail_if && ended && judge(*fail_if, outcome.report);
    show(plan, outcome, invocation, output);
    files.write_schedule(plan.job.schedule);
    if (ended) {
      const Simulated run = run_of(plan, outcome);
      files.write_result(run, outcome.record->origin.command_line, &*outcome.record, progress);
      if (html.wanted()) html.write(live_page(plan, outcome, run, invocation));
      if (drawn.wanted()) {
        drawn.write(run_figure(
            {&run.result.timeline, &run.job.schedule, &run.job.costs, &run.result.report, invocation.command_line},
            panels, drawn.width(), figure_.mono));
      }
    }
    files.commit();
    html.commit();
    drawn.commit();
    output.commit();
    return fired || !ended ? kExitFinding : kExitOk;
  }

 private:
  // A rank other than 0 does its part and leaves the talking to rank 0, which every failure of the run reaches.
  static int follow(const Scenario& scenario, const LiveSettings& settings, const std::string& name) {
    NoProgress progress;
    const LivePlan plan = plan_live(scenario, settings, name, progress);
    int status = kExitOk;
    try {
      (void)start_live(plan, settings, progress);
    } catch (const live::WrongDataError&) {
      status = kExitFinding;
    } catch (const InputError&) {
      status = kExitUsage;
    } catch (const UnavailableError&) {
      status = kExitUnavailable;
    }
    // mpirun ends all at the first that fails: rank 0 shall have spoken by then.
    if (status != kExitOk) std::this_thread::sleep_for(std::chrono::seconds(2));
    return status;
  }

  static LiveOutcome run_plan(const LivePlan& plan, const LiveSettings& settings, const std::string& command_line,
                              Progress& progress) {
    LiveOutcome outcome;
    outcome.report.schedule = facts_of(plan.job.schedule);
    outcome.report.assumptions = plan.job.assumptions;
    try {
      live::LiveResult result = start_live(plan, settings, progress);
      if (result.stall) {
        outcome.report.findings.emplace_back(StallFound{*result.stall});
        outcome.stall = std::move(result.stall);
      } else {
        outcome.record = record_of(plan, std::move(result), command_line);
        outcome.report = report_of(*outcome.record, median_iteration(*outcome.record));
        return outcome;
      }
    } catch (const live::WrongDataError& error) {
      outcome.report.findings.emplace_back(WrongData{error.what()});
    }
    add_notes(plan.job.schedule, outcome.report);
    return outcome;
  }

  // The median iteration as a run, for the trace.
  static Simulated run_of(const LivePlan& plan, const LiveOutcome& outcome) {
    const RunRecord& record = *outcome.record;
    Simulated run{plan.job, {}};
    run.job.costs = record.costs;
    run.job.topology = Topology::ideal(record.hop_latency, record.hop_bandwidth);
    run.result.timeline = record.iterations[median_iteration(record)].timeline;
    run.result.report = outcome.report;
    return run;
  }

  [[nodiscard]] Page live_page(const LivePlan& plan, const LiveOutcome& outcome, const Simulated& run,
                               const Invocation& invocation) const {
    AdviceContext context;
    context.flags = repeated_flags(scenario_);
    Page page = run_page("live", run, context, invocation.command_line);
    page.text += "\n" + measured_view(plan, *outcome.record, files_.run, ViewStyle{});
    return page;
  }

  void show(const LivePlan& plan, const LiveOutcome& outcome, const Invocation& invocation, Output& output) const {
    const Report& report = outcome.report;
    switch (output.format()) {
      case Format::kJson:
        output.write(report_json(report, {std::string(kVersion), invocation.command_line}));
        break;
      case Format::kCsv:
        output.write(devices_csv(report));
        break;
      case Format::kMarkdown:  // not offered
      case Format::kText:
        output.write(headline(report, output.style()) + "\n");
        show_text(plan, outcome, output);
        for (const Assumption& one : report.assumptions) {
          const bool proof = one.key == "gradients" && one.source == Source::kMeasured;  // that the run computed right
          if (proof) output.write("\n" + paragraph("gradients: " + one.amount, output.style()));
        }
        output.write("\n" + assumption_lines(report.assumptions, output.style()));
        break;
    }
    if (!outcome.record && output.format() != Format::kText) {
      std::fputs(findings_view(report, stderr_style()).c_str(), stderr);
    }
  }

  void show_text(const LivePlan& plan, const LiveOutcome& outcome, Output& output) const {
    const ViewStyle& style = output.style();
    if (!outcome.record) {
      output.write(outcome.stall ? stall_view(*outcome.stall, style) : findings_view(outcome.report, style));
      return;
    }
    const RunRecord& record = *outcome.record;
    AdviceContext context;
    context.flags = repeated_flags(scenario_);
    output.write(gantt(record.iterations[median_iteration(record)].timeline, style, {&record.schedule, &record.costs}) +
                 "\n");
    output.write(summary(outcome.report, style, context) + "\n");
    output.write(measured_view(plan, record, files_.run, style));
  }

  ScenarioFlags scenario_;
  LiveFlags live_;
  OutputFlags output_;
  RunFileFlags files_;
  std::string html_;
  figure::FigureFlags figure_;
  std::string fail_if_;
};

}  // namespace

std::unique_ptr<Command> make_live() { return std::make_unique<Live>(); }

}  // namespace debubble
