#include "python/bindings/studies.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/version.hpp"
#include "python/bindings/interrupts.hpp"
#include "python/bindings/run.hpp"
#include "python/bindings/verb_rows.hpp"
#include "scenario/check_scenario.hpp"
#include "studies/diff/diff.hpp"
#include "studies/diff/log_diff.hpp"
#include "studies/plan/asked_planners.hpp"
#include "studies/plan/plan.hpp"
#include "studies/plan/schedule_only.hpp"
#include "tools/commands/compare_answer.hpp"
#include "tools/commands/compare_checks.hpp"
#include "tools/commands/diff.hpp"
#include "tools/commands/plan.hpp"
#include "tools/figures/figure_file.hpp"
#include "tools/flags/config_file.hpp"
#include "tools/views/diff/diff_json.hpp"
#include "tools/views/diff/log_diff_views.hpp"
#include "tools/views/plan/asked_planners_view.hpp"
#include "tools/views/plan/plan_view.hpp"
#include "tools/views/plan/schedule_plan_view.hpp"

namespace debubble::python {

namespace py = pybind11;

namespace {

// What a study printed, and its figure; "" where it has none.
struct StudyText {
  std::string command;
  std::string json;
  std::string svg;
};

std::string compare_svg(const CompareFlags& flags, const CompareAnswer& answer, const std::string& command) {
  const bool drawable = flags.configs.empty() && answer.terms.equal == Equal::kDevices;
  const bool any = std::any_of(answer.contenders.begin(), answer.contenders.end(),
                               [](const Contender& contender) { return has_result(contender.report); });
  if (!drawable || !any) return "";
  const figure::FigureWidth width = figure::parse_figure_width(kNotebookWidth, "width");
  const figure::Drawing drawing = compare_figure(answer.contenders, "bars",
                                                 {.title = compare_title(flags, answer),
                                                  .description = "Made by: " + command,
                                                  .limit = answer.terms.memory_limit,
                                                  .width = width.length});
  return figure::figure_bytes(drawing, figure::FigureType::kSvg, width, "width");
}

StudyText compare_study(const CallRequest& request, const py::dict& own) {
  const auto [flags, command] = read_flags<CompareFlags>("compare", request, compare_call_rows);
  CompareRequest checked;
  if (flags.configs.empty()) {
    const py::gil_scoped_release unlocked;
    checked = check_compare(flags, 0);
  } else {
    check_compared_configs(flags);
  }
  checked.scenario.own_schedules = make_own_schedules(own, checked.scenario);
  SignalProgress progress;
  const py::gil_scoped_release unlocked;
  const CompareAnswer answer =
      flags.configs.empty() ? answer_compare(checked, progress) : answer_configs(flags, 0, progress);
  return {command, compare_json(answer, command), compare_svg(flags, answer, command)};
}

StudyText plan_study(const CallRequest& request) {
  auto [flags, command] = read_flags<PlanCallFlags>("plan", request, plan_call_rows);
  const std::size_t top = printed_runs(flags.top);
  const ToolFacts tool{std::string(kVersion), command};
  SignalProgress progress;
  const py::gil_scoped_release unlocked;
  if (flags.schedule_only) {
    refuse_flags_of_plans(flags.plan, flags.planners);
    return {command, schedule_plan_json(plan_schedule(flags.scenario, progress), tool), ""};
  }
  flags.plan.rows = top;
  flags.plan.read_scenario = read_scenario_file;
  if (asks_planners(flags.planners)) {
    check_planner_names(flags.planners);
    const PlannerAnswers answers = ask_planners(flags.scenario, flags.plan, flags.planners, progress);
    const bool planned = !answers.rows.empty();
    return {command, planned ? planner_answers_json(answers, tool) : plan_json(*answers.plan, 0, tool), ""};
  }
  const Plan plan = make_plan(flags.scenario, flags.plan, progress);
  return {command, plan_json(plan, top, tool), ""};
}

StudyText log_diff_study(const DiffFlags& flags, const std::string& command) {
  SignalProgress progress;
  const py::gil_scoped_release unlocked;
  const LogDiffRequest asked{flags.log, flags.hardware, flags.files.empty() ? "" : flags.files.front(),
                             read_scenario_file};
  return {command, log_diff_json(make_log_diff(asked, progress), {std::string(kVersion), command}), ""};
}

StudyText diff_study(const CallRequest& request) {
  const auto [flags, command] = read_flags<DiffFlags>("diff", request, diff_call_rows);
  check_diff_flags(flags);
  if (!flags.log.empty()) return log_diff_study(flags, command);
  SignalProgress progress;
  const py::gil_scoped_release unlocked;
  const DiffRequest asked{flags.files, parse_iteration(flags.iteration), read_scenario_file, {flags.replica}};
  return {command, diff_json(make_diff(asked, progress), {std::string(kVersion), command}), ""};
}

}  // namespace

void bind_studies(py::module_& module) {
  py::class_<StudyText>(module, "Study")
      .def_readonly("command", &StudyText::command)
      .def_readonly("json", &StudyText::json)
      .def_readonly("svg", &StudyText::svg);
  module.def("compare", compare_study);
  module.def("plan", plan_study);
  module.def("diff", diff_study);
}

}  // namespace debubble::python
