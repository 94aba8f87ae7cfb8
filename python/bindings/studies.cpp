#include "python/bindings/studies.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "formats/version.hpp"
#include "python/bindings/interrupts.hpp"
#include "python/bindings/run.hpp"
#include "python/bindings/verb_rows.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/error.hpp"
#include "studies/diff/diff.hpp"
#include "studies/diff/log_diff.hpp"
#include "studies/plan/asked_planners.hpp"
#include "studies/plan/plan.hpp"
#include "studies/plan/schedule_only.hpp"
#include "tools/commands/compare_answer.hpp"
#include "tools/commands/compare_checks.hpp"
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
  bool drawable = flags.configs.empty() && answer.terms.equal == Equal::kDevices;
  bool any = false;
  for (const Contender& contender : answer.contenders) any = any || has_result(contender.report);
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

void refuse_plan_flags(PlanCallFlags& flags) {
  FlagRows rows = flag_rows(flags.plan);
  add_rows(rows, flag_rows(flags.planners));
  for (const Flag& flag : rows) {
    if (!is_given(flag)) continue;
    fail("C087", std::string(flag.name), "with --schedule-only the pipeline is given", "leave one of them out");
  }
}

StudyText plan_study(const CallRequest& request) {
  constexpr int kUsualTop = 5;
  auto [flags, command] = read_flags<PlanCallFlags>("plan", request, plan_call_rows);
  const int top = flags.top.value_or(kUsualTop);
  if (top < 1) fail("C012", "--top", "at least one run is printed", "give top=1 or more");
  const ToolFacts tool{std::string(kVersion), command};
  SignalProgress progress;
  const py::gil_scoped_release unlocked;
  if (flags.schedule_only) {
    refuse_plan_flags(flags);
    return {command, schedule_plan_json(plan_schedule(flags.scenario, progress), tool), ""};
  }
  flags.plan.read_scenario = read_scenario_file;
  if (asks_planners(flags.planners)) {
    check_planner_names(flags.planners);
    const PlannerAnswers answers = ask_planners(flags.scenario, flags.plan, flags.planners, progress);
    const bool planned = !answers.rows.empty();
    return {command, planned ? planner_answers_json(answers, tool) : plan_json(*answers.plan, 0, tool), ""};
  }
  const Plan plan = make_plan(flags.scenario, flags.plan, progress);
  return {command, plan_json(plan, static_cast<std::size_t>(top), tool), ""};
}

std::optional<std::size_t> iteration_of(const std::string& text) {
  if (text == "median") return std::nullopt;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number > 0) return number;
  fail("C003", "--iteration", "\"" + text + "\" is neither median nor a number from 1", "give iteration=3");
}

StudyText log_diff_study(const DiffCallFlags& flags, const std::string& command) {
  if (flags.iteration != "median" || flags.replica != 0) {
    fail("C087", flags.iteration != "median" ? "--iteration" : "--replica",
         "means nothing for --log: a training log has times of iterations, and none of ops",
         "leave one of the two out");
  }
  if (flags.files.size() > 1) {
    fail("C009", "--log", "the measured run is the log, and " + flags.files.back() + " is another",
         "name a scenario to predict it with, or nothing");
  }
  SignalProgress progress;
  const py::gil_scoped_release unlocked;
  const LogDiffRequest asked{flags.log, flags.hardware, flags.files.empty() ? "" : flags.files.front(),
                             read_scenario_file};
  return {command, log_diff_json(make_log_diff(asked, progress), {std::string(kVersion), command}), ""};
}

StudyText diff_study(const CallRequest& request) {
  const auto [flags, command] = read_flags<DiffCallFlags>("diff", request, diff_call_rows);
  if (!flags.log.empty()) return log_diff_study(flags, command);
  if (flags.files.empty()) fail("C061", "debubble diff", "FILE is missing", "name the measured run's file");
  if (!flags.hardware.empty()) {
    fail("C004", "--hardware", "only a training log is simulated on a GPU that is named", "give log as well");
  }
  SignalProgress progress;
  const py::gil_scoped_release unlocked;
  const DiffRequest asked{flags.files, iteration_of(flags.iteration), read_scenario_file, {flags.replica}};
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
