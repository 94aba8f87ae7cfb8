#include "tools/commands/compare.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <vector>

#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "tools/exit_status.hpp"
#include "tools/exporters/report_csv.hpp"
#include "tools/exporters/report_json.hpp"
#include "tools/fail_if.hpp"
#include "tools/output.hpp"
#include "tools/run.hpp"
#include "tools/scenario.hpp"
#include "tools/version.hpp"
#include "tools/views/compare_table.hpp"
#include "tools/views/summary.hpp"

namespace debubble {

namespace {

constexpr std::string_view kFormats = "text|json|csv";

// What a scenario means for one schedule among several: -v and --param go to those that know them, so not to tables.
Scenario scenario_for(const Scenario& scenario, const std::string& name) {
  const ScheduleEntry* entry = find_schedule(name);
  Scenario own = scenario;
  if (entry == nullptr) {
    own.chunks = 0;
    own.params.clear();
    return own;
  }
  if (entry->default_chunks == 1) own.chunks = 0;
  std::erase_if(own.params, [&](const auto& param) {
    return std::none_of(entry->params.begin(), entry->params.end(),
                        [&](const ParamSpec& spec) { return spec.name == param.first; });
  });
  return own;
}

// A parameter that none of the compared schedules knows is a slip.
void check_params(const Scenario& scenario, const std::vector<std::string>& names) {
  std::set<std::string> unknown;
  for (const auto& [key, value] : scenario.params) unknown.insert(key);
  for (const std::string& name : names) {
    for (const auto& [key, value] : scenario_for(scenario, name).params) {
      if (find_schedule(name) != nullptr) unknown.erase(key);
    }
  }
  std::vector<Diagnostic> diagnostics;
  for (const std::string& key : unknown) {
    diagnostics.push_back({"S002", "--param " + key, "none of the compared schedules has a parameter \"" + key + "\"",
                           "see `debubble list schedules`"});
  }
  if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
}

// A schedule that cannot run here at all, as a report that says why.
Report refused(const Scenario& scenario, const std::string& name, const InputError& error) {
  Report report;
  report.schedule.name = name;
  report.schedule.devices = scenario.devices.value_or(kDefaultDevices);
  report.schedule.microbatches = scenario.microbatches.value_or(kDefaultMicrobatches);
  for (const Diagnostic& diagnostic : error.diagnostics()) {
    std::string message = diagnostic.message;
    if (!diagnostic.help.empty()) message += "; " + diagnostic.help;
    report.findings.push_back({"error", diagnostic.code, std::move(message)});
  }
  return report;
}

// Step times compare only between runs of the same work; a table brings its own numbers.
void require_equal_work(const std::vector<Report>& reports) {
  const Report* first = nullptr;
  const auto size = [](const ScheduleFacts& facts) {
    return "-p " + std::to_string(facts.devices) + " -m " + std::to_string(facts.microbatches);
  };
  for (const Report& report : reports) {
    if (!has_result(report)) continue;
    if (first == nullptr) first = &report;
    const ScheduleFacts& a = first->schedule;
    const ScheduleFacts& b = report.schedule;
    if (a.devices == b.devices && a.microbatches == b.microbatches) continue;
    throw InputError(
        Diagnostic{"C001", "--schedule",
                   a.name + " runs " + size(a) + ", " + b.name + " " + size(b) + ": their step times do not compare",
                   "give the table's numbers to all, with -p and -m"});
  }
}

class Compare : public Command {
 public:
  void add_flags(CLI::App& verb) override {
    add_scenario_flags(verb, scenario_, true);
    add_output_flags(verb, output_, kFormats);
    verb.add_option("--fail-if", fail_if_, "exit 1 if it holds for any schedule: 'bubble>25%'")
        ->group("Output")
        ->type_name("EXPR");
  }

  int run(const Invocation& invocation) override {
    const Scenario scenario = check_scenario(scenario_);
    std::optional<FailIf> fail_if;
    if (!fail_if_.empty()) fail_if = FailIf::parse(fail_if_);
    const bool all = scenario.schedules.empty();
    std::vector<std::string> names = scenario.schedules;
    std::set<std::string> once;
    std::erase_if(names, [&](const std::string& name) { return !once.insert(name).second; });
    if (all) {
      for (const ScheduleEntry& entry : schedule_catalog()) names.push_back(entry.name);
    }
    check_params(scenario, names);
    Output output(output_, kFormats);
    Progress progress;
    std::vector<Report> reports;
    for (const std::string& name : names) reports.push_back(report_of(scenario, name, all, progress));
    if (refusal_ && std::none_of(reports.begin(), reports.end(), ran)) throw InputError(*refusal_);
    require_equal_work(reports);
    int status = kExitOk;
    for (const Report& report : reports) {
      if (report.deadlock && !all) status = kExitFinding;  // of "all that fit", this one does not
      if (fail_if && has_result(report) && judge(*fail_if, report)) status = kExitFinding;
    }
    show(reports, names, invocation, output);
    output.commit();
    return status;
  }

 private:
  // A schedule asked for by name must be legal; of "all that fit", one that does not fit is listed with the reason.
  Report report_of(const Scenario& scenario, const std::string& name, bool all, Progress& progress) {
    try {
      return run_schedule(scenario_for(scenario, name), name, progress).report;
    } catch (const InputError& error) {
      if (!all || error.diagnostics().empty() || !describes_request(error)) throw;
      if (!refusal_) refusal_ = error;
      return refused(scenario, name, error);
    }
  }

  static bool ran(const Report& report) { return has_result(report) || report.deadlock.has_value(); }

  // Codes S (schedule request) and L (partition) are about this schedule; anything else concerns all of them.
  static bool describes_request(const InputError& error) {
    return std::all_of(error.diagnostics().begin(), error.diagnostics().end(), [](const Diagnostic& diagnostic) {
      const bool impossible = diagnostic.code == "S003" || diagnostic.code == "S004" || diagnostic.code == "S015";
      return !impossible && (diagnostic.code.starts_with("S") || diagnostic.code.starts_with("L"));
    });
  }

  static bool judge(const FailIf& fail_if, const Report& report) {
    const FailIf::Verdict verdict = fail_if.evaluate(report);
    for (const std::string& reason : verdict.because) {
      std::fprintf(stderr, "debubble: --fail-if: %s: %s\n", report.schedule.name.c_str(), reason.c_str());
    }
    return verdict.fired;
  }

  static std::string table_of(const std::vector<Report>& reports, const std::vector<std::string>& names,
                              const ViewStyle& style) {
    std::vector<ComparedRun> runs;
    std::string text;
    for (std::size_t k = 0; k < reports.size(); ++k) {
      const ScheduleEntry* entry = find_schedule(names[k]);
      runs.push_back({reports[k], entry == nullptr ? "" : entry->needs});
    }
    const auto first = std::find_if(reports.begin(), reports.end(), has_result);
    if (first != reports.end()) text = heading(common_facts(*first, reports), style) + "\n";
    return text + compare_table(runs, style);
  }

  // What all runs share, for the heading: a schedule's own facts stand in its row.
  static Report common_facts(const Report& report, const std::vector<Report>& reports) {
    Report common = report;
    common.schedule.name = "compare";
    common.schedule.params.clear();
    common.schedule.chunks = common.schedule.replicas = 1;
    common.schedule.stages = common.schedule.devices;
    common.assumptions.clear();
    std::set<std::string> seen;
    for (const Report& run : reports) {
      for (const Assumption& assumption : run.assumptions) {
        const bool in_row = assumption.what == "stages per device";  // "interleaved v=2"
        if (in_row || !seen.insert(assumption.what).second || differs(assumption, reports)) continue;
        common.assumptions.push_back(assumption);
      }
    }
    return common;
  }

  // Whether some run assumes something else: then it belongs to that run, and its JSON says so.
  static bool differs(const Assumption& assumption, const std::vector<Report>& reports) {
    return std::any_of(reports.begin(), reports.end(), [&](const Report& run) {
      return std::any_of(run.assumptions.begin(), run.assumptions.end(), [&](const Assumption& other) {
        return other.what == assumption.what && other.value != assumption.value;
      });
    });
  }

  static void show(const std::vector<Report>& reports, const std::vector<std::string>& names,
                   const Invocation& invocation, Output& output) {
    switch (output.format()) {
      case Format::kJson:
        output.write(reports_json(reports, {std::string(kVersion), invocation.command_line}));
        break;
      case Format::kCsv:
        output.write(runs_csv(reports));
        break;
      case Format::kText:
        output.write(table_of(reports, names, output.style()));
        break;
    }
  }

  ScenarioFlags scenario_;
  OutputFlags output_;
  std::string fail_if_;
  std::optional<InputError> refusal_;  // the first: what is wrong when nothing runs
};

}  // namespace

std::unique_ptr<Command> make_compare() { return std::make_unique<Compare>(); }

}  // namespace debubble
