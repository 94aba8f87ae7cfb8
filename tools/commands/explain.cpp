#include "tools/commands/command.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "formats/exporters/report_json.hpp"
#include "formats/rules/framework_rules.hpp"
#include "formats/text/shell.hpp"
#include "formats/version.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/request/flag_row.hpp"
#include "scenario/request/hardware_file.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/suggest.hpp"
#include "studies/explain/cost_trials.hpp"
#include "studies/plan/asked_planners.hpp"
#include "studies/planners/catalog.hpp"
#include "studies/planners/from_scenario.hpp"
#include "studies/planners/regret.hpp"
#include "studies/simulate/simulate.hpp"
#include "tools/explain/error_codes.hpp"
#include "tools/explain/terms.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/assumption_lines.hpp"
#include "tools/views/explain/cost_view.hpp"
#include "tools/views/explain/explain_json.hpp"
#include "tools/views/explain/framework_view.hpp"
#include "tools/views/explain/op_story.hpp"
#include "tools/views/explain/schedule_story.hpp"
#include "tools/views/explain/step_view.hpp"
#include "tools/views/hardware_view.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/plan/asked_planners_view.hpp"
#include "tools/views/planner_decision.hpp"
#include "tools/views/planner_facts.hpp"
#include "tools/views/summary.hpp"

namespace debubble {

namespace {

constexpr std::string_view kExplainFormats = "text|json";
constexpr std::string_view kCostFormats = "text|json|csv";  // of explain cost, and so in the help

[[noreturn]] void nothing_called(const std::string& name) {
  std::vector<std::string> names = term_names();
  names.insert(names.end(), {"schedule", "planner", "hardware", "framework", "step", "cost"});
  for (const ScheduleEntry& row : schedule_catalog()) names.push_back(row.name);
  for (const ErrorCode& row : error_codes()) names.push_back(row.code);
  const std::string guess = closest_name(name, names);
  throw InputError(Diagnostic{
      "C003", "explain", "nothing here is called \"" + name + "\"",
      guess.empty() ? "write step, cost, an op (3F7), a schedule, an error code, or a word of `debubble list words`"
                    : "did you mean " + guess + "?"});
}

class Explain : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    const FlagGroup row;
    FlagRows rows{
        row("TOPIC", "step, cost, 3F7, a code, a word, hardware, ...", &topic_, FlagMark::kRequired),
        row("NAME", "the schedule, planner (all: all), hardware, ...", &name_),
    };
    add_rows(rows, flag_rows(flags_));
    add_rows(rows, flag_rows(output_, kCostFormats, "output format; csv: of cost"));
    rows.push_back(assumptions_row(output_));
    return rows;
  }

  int run(const Invocation& invocation) override {
    if (topic_ == "planner") return explain_planner(invocation);
    if (topic_ == "hardware") return explain_hardware();
    if (topic_ == "framework") return explain_framework();
    if (const Term* term = asked_term()) return explain_term(*term);
    if (!name_.empty() && topic_ != "schedule") {
      const bool known = topic_ == "step" || topic_ == "cost" || is_op_name(topic_) || is_error_code(topic_) ||
                         find_schedule(topic_) != nullptr;
      if (topic_ == "op" && is_op_name(name_)) {
        throw InputError(Diagnostic{"C061", "explain", "an op is explained by its name alone",
                                    "write `debubble explain " + name_ + "`"});
      }
      const std::string both = topic_ + " " + name_;
      if (!known && !closest_name(both, term_names()).empty()) nothing_called(both);
      throw InputError(Diagnostic{known ? "C061" : "C003", "explain",
                                  known ? "\"" + name_ + "\" comes after \"" + topic_ + "\", which takes no name"
                                        : "\"" + topic_ + "\" cannot be explained",
                                  known ? "explain one thing at a time: debubble explain " + topic_
                                        : "write `debubble explain schedule NAME`"});
    }
    if (topic_ == "step" || is_op_name(topic_)) return explain_run(invocation);
    if (topic_ == "cost") return explain_cost(invocation);
    if (is_error_code(topic_)) return explain_code();
    if (topic_ != "schedule") {
      if (find_schedule(topic_) == nullptr) nothing_called(topic_);
      name_ = topic_;
    } else if (name_.empty()) {
      throw InputError(Diagnostic{"C061", "explain schedule", "which schedule?", "see `debubble list schedules`"});
    }
    return explain_schedule();
  }

 private:
  // Only numbers have a form for programs.
  void require_text() const {
    if (output_.format == "text") return;
    throw InputError(Diagnostic{"C002", "--format", "\"" + output_.format + "\" is not one of: text",
                                "json is for a step, an op or all planners: debubble explain step --format json"});
  }

  int explain_code() {
    require_text();
    const auto code = find_error_code(topic_);
    if (!code) nothing_called(topic_);
    Output output(output_, kExplainFormats);
    output.write(error_code_text(*code, output.style()));
    output.commit();
    return kExitOk;
  }

  // A word of several may come as several arguments: explain peak memory.
  [[nodiscard]] const Term* asked_term() const {
    if (!name_.empty()) return find_term(topic_ + " " + name_);
    const bool other = topic_ == "schedule" || topic_ == "step" || topic_ == "cost" || find_schedule(topic_) != nullptr;
    return other ? nullptr : find_term(topic_);
  }

  int explain_term(const Term& term) {
    require_text();
    Output output(output_, kExplainFormats);
    output.write(term_text(term, output.style()));
    output.commit();
    return kExitOk;
  }

  int explain_hardware() {
    if (name_.empty()) {
      throw InputError(Diagnostic{"C061", "explain hardware", "which hardware?",
                                  "see `debubble list hardware`, or name a file of your own"});
    }
    const std::shared_ptr<const Hardware> hardware = hardware_named(name_, "explain hardware");
    Output output(output_, kExplainFormats);
    if (output.format() == Format::kJson) {
      Json list = Json::array();
      list.push_back(hardware_json(*hardware));
      output.write(Json{{"schema_version", 1}, {"hardware", list}}.text(2) + "\n");
    } else {
      output.write(hardware_text(*hardware, output.style()));
    }
    output.commit();
    return kExitOk;
  }

  int explain_framework() {
    require_text();
    const FrameworkRules* rules = rules_of_framework(name_);
    if (rules == nullptr) {
      std::string names;
      for (const FrameworkRules& one : framework_rules()) names += (names.empty() ? "" : ", ") + std::string(one.name);
      throw InputError(Diagnostic{name_.empty() ? "C061" : "C003", "explain framework",
                                  name_.empty() ? "which framework?" : "there are no rules of \"" + name_ + "\"",
                                  "there are those of " + names});
    }
    Output output(output_, kExplainFormats);
    output.write(framework_text(*rules, output.style()));
    output.commit();
    return kExitOk;
  }

  int explain_planner(const Invocation& invocation) {
    if (name_.empty()) {
      throw InputError(Diagnostic{"C061", "explain planner", "which planner?", "see `debubble list planners`"});
    }
    const Scenario scenario = check_scenario(flags_);
    if (name_ == "all") return ask_all(scenario, invocation);
    require_text();
    const PlannerSpec spec = parse_planner(name_);
    Output output(output_, kExplainFormats);
    output.write(planner_text(*spec.entry, output.style()));
    if (scenario.profile) {
      const PlannerJob job = planner_job(scenario);
      output.write("\n");
      output.write(paragraph(planner_job_text(job), output.style()));
      const PlannerDecision mended = decide(spec, job);
      output.write("\n" + planner_decision_text(mended, worth_of(job, mended), output.style()));
      if (!spec.entry->faults.empty()) {
        const PlannerDecision published = decide({spec.entry, {true, spec.request.params}}, job);
        output.write("\n" + planner_decision_text(published, worth_of(job, published), output.style()));
      }
    }
    output.commit();
    return kExitOk;
  }

  [[nodiscard]] static std::optional<DecisionWorth> worth_of(const PlannerJob& job, const PlannerDecision& decision) {
    if (decision.stages.empty()) return std::nullopt;
    return decision_worth(job, decision);
  }

  int ask_all(const Scenario& scenario, const Invocation& invocation) {
    Output output(output_, kExplainFormats);
    StderrProgress progress;
    const PlannerAnswers answers = ask_all_planners(planner_job(scenario), scenario.profile->microbatch_size, progress);
    output.write(output.format() == Format::kJson
                     ? planner_answers_json(answers, {std::string(kVersion), invocation.command_line})
                     : planner_answers_text(answers, output.style()));
    output.commit();
    return kExitOk;
  }

  int explain_schedule() {
    if (!flags_.schedules.empty()) {
      throw InputError(Diagnostic{"C001", "--schedule", "the schedule to explain is named without a flag",
                                  "write `debubble explain schedule " + name_ + "`"});
    }
    require_text();
    const ScheduleEntry& entry = known_schedule(name_, "explain schedule");
    const Scenario scenario = check_scenario(flags_);
    Output output(output_, kExplainFormats);
    StderrProgress progress;
    const Simulated own = simulate(scenario, entry.name, progress);
    output.write(schedule_story(entry, own, scenario, flags_, progress, output.style()));
    output.commit();
    return has_result(own.result.report) ? kExitOk : kExitFinding;
  }

  int explain_run(const Invocation& invocation) {
    const Scenario scenario = check_scenario(flags_);
    Output output(output_, kExplainFormats);
    StderrProgress progress;
    const std::string name = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
    const Simulated run = simulate(scenario, name, progress);
    const ToolFacts tool{std::string(kVersion), invocation.command_line};
    const bool json = output.format() == Format::kJson;
    if (!has_result(run.result.report)) {
      output.write(json ? report_json(run.result.report, tool) : summary(run.result.report, output.style()));
    } else if (topic_ == "step") {
      progress.phase("trying changes");
      const StepStory story =
          story_of_step({said_flags(scenario), scenario, name, run}, advice_context(scenario, name, run));
      output.write(json ? step_story_json(story, run, tool)
                        : told(run.result.report, step_story_text(story, run, output.style()), output.style()));
    } else {
      const OpStory story = story_of(topic_, run);
      output.write(json ? op_story_json(story, run, tool)
                        : told(run.result.report, op_story_text(story, run, output.style().width), output.style()));
    }
    output.commit();
    return has_result(run.result.report) ? kExitOk : kExitFinding;
  }

  int explain_cost(const Invocation& invocation) {
    if (flags_.transformer.model.empty()) {
      throw InputError(Diagnostic{"C004", "explain cost", "there is no --model whose operators could be told",
                                  "add --model NAME; `debubble list models` shows the names"});
    }
    const Scenario scenario = check_scenario(flags_);
    Output output(output_, kCostFormats);
    StderrProgress progress;
    const std::string name = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
    const Simulated run = simulate(scenario, name, progress);
    const ToolFacts tool{std::string(kVersion), invocation.command_line};
    if (!has_result(run.result.report)) {
      output.write(output.format() == Format::kJson ? report_json(run.result.report, tool)
                                                    : summary(run.result.report, output.style()));
    } else {
      progress.phase("trying changes");
      const std::optional<MemoryFit>& memory = run.result.report.memory_fit;
      const CostStory story{modelled_layer_costs(scenario), cost_trials(flags_, scenario, name, run.result.report),
                            run.result.report.makespan, !memory || memory->spare >= 0,
                            scenario.transformer.placed->distinct.size()};
      if (output.format() == Format::kText) {
        output.write(told(run.result.report, cost_story_text(story, output.style()), output.style()));
      } else {
        output.write(output.format() == Format::kJson ? cost_story_json(story, run, tool) : cost_story_csv(story));
      }
    }
    output.commit();
    return has_result(run.result.report) ? kExitOk : kExitFinding;
  }

  // Between what was run and what was assumed.
  static std::string told(const Report& report, const std::string& story, const ViewStyle& style) {
    return headline(report, style) + "\n" + story + "\n" + assumption_lines(report.assumptions, style);
  }

  // As they are repeated in commands: what a run file of --slow says depends on the cut of the layers, which these
  // change.
  [[nodiscard]] ScenarioFlags said_flags(const Scenario& scenario) const {
    ScenarioFlags said = flags_;
    said.variation.slow.clear();
    for (const SlowItem& item : scenario.variation.slow) {
      if (!item.of_profile) said.variation.slow.push_back(item.text);  // the profile brings it along
    }
    return said;
  }

  [[nodiscard]] AdviceContext advice_context(const Scenario& scenario, const std::string& name,
                                             const Simulated& run) const {
    AdviceContext context;
    context.flags = repeated_flags(said_flags(scenario));
    context.schedule = shell_file(name);
    context.own_partition = !scenario.partition.follows_from_job();
    context.auto_partition = scenario.profile && is_evenest_cut(scenario, run.job);
    context.more_microbatches = more_microbatches(scenario, name, run.job);
    return context;
  }

  std::string topic_;
  std::string name_;
  ScenarioFlags flags_;
  OutputFlags output_;
};

}  // namespace

std::unique_ptr<Command> make_explain() { return std::make_unique<Explain>(); }

}  // namespace debubble
