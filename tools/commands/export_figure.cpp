#include "tools/commands/export_figure.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "formats/exporters/report_json.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/runs/open_run.hpp"
#include "studies/runs/predict.hpp"
#include "studies/simulate/simulate.hpp"
#include "tools/figures/run_figure.hpp"
#include "tools/flags/config_file.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/diagnostics.hpp"

namespace debubble {

namespace {

figure::FigureType figure_type(const std::string& to) {
  if (to == "pdf") return figure::FigureType::kPdf;
  return to == "png" ? figure::FigureType::kPng : figure::FigureType::kSvg;
}

// Bytes would steer a terminal, and nobody reads them there.
void refuse_terminal(const FigureRequest& request) {
  if (request.to == "svg" || request.output != "-" || ::isatty(STDOUT_FILENO) != 1) return;
  fail("C004", "--to", "a " + request.to + " is not for a terminal", "add -o FILE." + request.to);
}

void refuse_other_input(const FigureRequest& request) {
  for (const Flag& flag : flag_rows(request.scenario)) {
    if (!is_given(flag)) continue;
    fail("C009", "--run", "--run and " + std::string(flag.name) + ": the run has its schedule and its times",
         "leave one of them out");
  }
}

class FigureExport {
 public:
  FigureExport(const FigureRequest& request, const Invocation& invocation)
      : request_(request),
        invocation_(invocation),
        panels_(figure::parse_run_panels(request.flags.show, "--show")),
        width_(figure::parse_figure_width(request.flags.width, "--width")) {
    refuse_terminal(request_);
    figure::require_writer(figure_type(request_.to));
  }

  int of_schedule() {
    const Scenario scenario = check_scenario(request_.scenario);
    const std::string name = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
    OutputFile file(request_.output);
    StderrProgress progress;
    const Simulated run = simulate(scenario, name, progress);
    if (!has_result(run.result.report)) {
      std::fputs(findings_view(run.result.report, stderr_style()).c_str(), stderr);
      return kExitFinding;
    }
    write({&run.result.timeline, &run.job.schedule, &run.job.costs, &run.result.report, invocation_.command_line},
          file);
    return kExitOk;
  }

  // The iteration with the median step.
  int of_run() {
    refuse_other_input(request_);
    StderrProgress progress;
    const RunRecord record = opened(progress);
    OutputFile file(request_.output);
    const std::size_t iteration = median_iteration(record);
    const Report report = report_of(record, iteration);
    write({&record.iterations[iteration].timeline, &record.schedule, &record.costs, &report, invocation_.command_line},
          file);
    return kExitOk;
  }

 private:
  // Elsewhere a run's file is an argument of its own; here it is the value of a flag.
  RunRecord opened(Progress& progress) const {
    try {
      return open_run(request_.flags.run, nullptr, read_scenario_file, progress);
    } catch (const InputError& error) {
      std::vector<Diagnostic> problems = error.diagnostics();
      for (Diagnostic& problem : problems) {
        if (problem.place == "FILE") problem.place = "--run";
      }
      throw InputError(std::move(problems));
    }
  }

  void write(const figure::RunToDraw& run, OutputFile& file) {
    const figure::Drawing drawing = run_figure(run, panels_, width_.length, request_.flags.mono);
    file.write(figure_bytes(drawing, figure_type(request_.to), width_, "--width"));
    file.commit();
  }

  const FigureRequest& request_;
  const Invocation& invocation_;
  std::vector<figure::RunPanel> panels_;
  figure::FigureWidth width_;
};

}  // namespace

FlagRows flag_rows(ExportFigureFlags& flags) {
  const FlagGroup row("Figure");
  FlagRows rows{
      row("--run", "FILE", "svg, pdf, png: draw this run, not a schedule", &flags.run, FlagCount::kAll),
      row("--show", "WHAT,...", "pipeline (default), causes, idle, memory", &flags.show),
      row("--width", "WIDTH", "85mm, 170mm, 600px, 7in", &flags.width, Default{figure::kUsualWidth},
          Preset{figure::kUsualWidth}),
      figure::mono_row(flags.mono),
  };
  rows.back().group = "Figure";
  return rows;
}

void refuse_figure_flags(ExportFigureFlags& flags, const std::string& to) {
  for (const Flag& flag : flag_rows(flags)) {
    if (!is_given(flag)) continue;
    fail("C004", std::string(flag.name), "it is about a figure, and " + to + " is none", "add --to svg, pdf or png");
  }
}

int export_figure(const FigureRequest& request, const Invocation& invocation) {
  FigureExport figure(request, invocation);
  return request.flags.run.empty() ? figure.of_schedule() : figure.of_run();
}

}  // namespace debubble
