#include "tools/commands/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <utility>

#include "formats/exporters/report_json.hpp"
#include "formats/version.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/quantities.hpp"
#include "studies/simulate/simulate.hpp"
#include "studies/whatif/changes.hpp"
#include "studies/whatif/follow_links.hpp"
#include "studies/whatif/no_effect.hpp"
#include "studies/whatif/result.hpp"
#include "studies/whatif/step_time.hpp"
#include "studies/whatif/whatif_flags.hpp"
#include "tools/flags/flag_text.hpp"
#include "tools/output/fail_if.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/diagnostics.hpp"
#include "tools/views/html/html_file.hpp"
#include "tools/views/html/run_page.hpp"
#include "tools/views/whatif/whatif_json.hpp"
#include "tools/views/whatif/whatif_view.hpp"

namespace debubble {

namespace {

constexpr std::string_view kWhatIfFormats = "text|json|csv";

std::string drawn_of(const VariationScenario& variation) {
  std::string text;
  if (variation.factors.random()) text = "microbatches " + variation.factors.text;
  if (variation.jitter != 0)
    text += (text.empty() ? "jitter lognormal:" : ", jitter lognormal:") + plain(variation.jitter);
  return text;
}

// Each change by itself, where there are several.
std::vector<AloneChange> run_alone(const WhatIfQuestion& question, const Job& prepared, const Job& target) {
  std::vector<AloneChange> alone;
  if (question.changes.size() + (question.to.empty() ? 0 : 1) < 2) return alone;
  if (!question.to.empty()) {
    const auto program = lowered(target, target.p2p);
    alone.push_back({question.to, program ? std::optional(step_time(target, *program)) : std::nullopt});
  }
  for (const NamedChange& change : question.changes) {
    const Job job = changed_job(question.base, prepared, change.changes);
    const auto program = lowered(job, job.p2p);
    alone.push_back({change.label, program ? std::optional(step_time(job, *program)) : std::nullopt});
  }
  return alone;
}

std::string schedule_of(const Scenario& scenario) {
  return scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
}

// What was simulated is left in `runs`, where that is not null.
Report report_of_job(const Job& job, std::optional<Simulated> WhatIfRuns::*which, WhatIfRuns* runs,
                     Progress& progress) {
  Result result = simulate(job, progress);
  Report report = result.report;
  if (runs != nullptr) runs->*which = Simulated{job, std::move(result)};
  return report;
}

WhatIfResult answer_question(const WhatIfQuestion& question, const std::string& name, Progress& progress,
                             WhatIfRuns* runs) {
  WhatIfResult result;
  const Job prepared = prepare(question.base, name, progress);
  result.base = report_of_job(prepared, &WhatIfRuns::base, runs, progress);
  if (!has_result(result.base)) return result;
  const Changes changes = together(question.changes);
  const Scenario& target = changed_base(question);
  const std::string target_name = question.to.empty() ? name : schedule_of(target);
  const Job target_job = question.to.empty() ? prepared : prepare(target, target_name, progress);
  const Job changed = changed_job(target, target_job, changes);
  if (!question.changes.empty() || !question.to.empty()) {
    Job told = changed;
    const bool named = std::none_of(changes.links.begin(), changes.links.end(),
                                    [](const LinkChange& change) { return change.link.empty(); });
    if (!changes.links.empty()) result.note = collectives_that_stay(target, named);
    if (!question.to.empty()) {
      result.changes.push_back(question.to);
      told.assumptions.push_back({"what if", question.to, Source::kGiven});
    }
    for (const NamedChange& change : question.changes) {
      result.changes.push_back(change.label);
      told.assumptions.push_back({"what if", change.label, Source::kGiven});
    }
    result.changed = report_of_job(told, &WhatIfRuns::changed, runs, progress);
    if (has_result(result.changed) && same_result(result.base, result.changed)) {
      result.no_effect = why_no_effect(question.changes, target, target_job, result.base);
      if (!question.to.empty())
        result.no_effect.push_back("with " + question.to + " every op takes as long as without");
    }
    result.alone = run_alone(question, prepared, target_job);
  }
  const auto program = lowered(changed, changed.p2p);
  if (!program) return result;
  if (question.seeds > 0) {
    progress.phase(fmt::format("simulating {} seeds", question.seeds));
    const VariationScenario variation = changed_variation(target, changes);
    result.drawn = drawn_of(variation);
    result.seeds = run_seeds(changed, variation, question.seeds, question.threads);
  }
  if (question.sensitivity) {
    const auto tell = [&](const char* what) {
      progress.phase(what);
      return [&progress, what](std::size_t done, std::size_t all) {
        progress.phase(fmt::format("{}: {} of {} runs done", what, done, all));
      };
    };
    result.sensitivity = find_sensitivity(changed_scenario(target, changes), changed, *program, question.threads,
                                          tell("finding what the step time depends on"));
    result.candidates = rank_candidates({target, target_name, target_job, changes}, *result.sensitivity,
                                        question.threads, tell("trying what would help"));
  }
  return result;
}

class WhatIf : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    FlagRows rows = flag_rows(scenario_);
    add_rows(rows, flag_rows(flags_));
    add_rows(rows, flag_rows(output_, kWhatIfFormats));
    rows.push_back(assumptions_row(output_));
    rows.push_back(html_row(html_));
    rows.push_back(fail_if_row(fail_if_, "exit 1 if it holds for the changed run"));
    return rows;
  }

  int run(const Invocation& invocation) override {
    WhatIfQuestion question = check_whatif(flags_, check_scenario(scenario_));
    if (!flags_.to.empty()) {
      question.to = flags_.to;
      ScenarioFlags plain = scenario_;
      if (flags_.base != "varied") plain.variation = {};  // it is one of the changes
      question.changed_flags = check_scenario(with_flags(plain, flags_.to, "--to"));
    }
    std::optional<FailIf> fail_if;
    if (!fail_if_.empty()) fail_if = FailIf::parse(fail_if_);
    HtmlFile html(html_);
    Output output(output_, kWhatIfFormats);
    StderrProgress progress;
    const std::string name = schedule_of(question.base);
    WhatIfRuns runs;
    const WhatIfResult result = answer_question(question, name, progress, html.wanted() ? &runs : nullptr);
    const bool ran = has_result(result.base) && has_result(result.subject());
    const bool fired = fail_if && ran && judge(*fail_if, result.subject());
    show(result, invocation, output);
    if (html.wanted()) html.write(whatif_page(result, runs, invocation.command_line));
    html.commit();
    output.commit();
    return fired || !ran ? kExitFinding : kExitOk;
  }

 private:
  static void show(const WhatIfResult& result, const Invocation& invocation, Output& output) {
    const ToolFacts tool{std::string(kVersion), invocation.command_line};
    switch (output.format()) {
      case Format::kJson:
        output.write(whatif_json(result, tool));
        break;
      case Format::kCsv:
        output.write(whatif_csv(result));
        break;
      case Format::kMarkdown:  // not offered
      case Format::kText:
        output.write(whatif_view(result, output.style()));
        break;
    }
    const Report& failed = has_result(result.base) ? result.subject() : result.base;
    if (!has_result(failed) && output.format() != Format::kText) {
      std::fputs(findings_view(failed, stderr_style()).c_str(), stderr);
    }
  }

  ScenarioFlags scenario_;
  WhatIfFlags flags_;
  OutputFlags output_;
  std::string html_;
  std::string fail_if_;
};

}  // namespace

std::unique_ptr<Command> make_whatif() { return std::make_unique<WhatIf>(); }

}  // namespace debubble
