#include "studies/check/suite_gate.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "formats/exporters/report_json.hpp"
#include "formats/files/installed.hpp"
#include "formats/files/read_file.hpp"
#include "formats/text/shell.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/deadlock.hpp"
#include "studies/check/fresh_run.hpp"
#include "studies/check/measured.hpp"
#include "studies/check/suite.hpp"
#include "studies/check/suite_lines.hpp"
#include "studies/runs/open_run.hpp"
#include "studies/runs/predict.hpp"

namespace debubble {
namespace {

// Every shared flag of a scenario, "--schedule zb-h1 -p 4 --times f=1,b=2".
std::string all_flags(const ScenarioFlags& flags) {
  FlagLine line;
  if (!flags.schedules.empty()) line.add("--schedule", flags.schedules.back());
  line.add_number("-p", flags.devices);
  line.add_number("-m", flags.microbatches);
  line.add_number("-v", flags.chunks);
  line.add_part(repeated_flags(flags));
  line.add("--partition", flags.partition);
  return line.text();
}

std::string with_space(const std::string& a, const std::string& b) { return b.empty() ? a : a + " " + b; }

// Compares a recorded run with its prediction.
std::vector<std::string> commands_for_recorded(const SuiteScenario& scenario) {
  std::string run;
  for (const std::string& file : scenario.measured) run += (run.empty() ? "" : " ") + shell_file(file);
  if (scenario.replica > 0) run += " --replica " + std::to_string(scenario.replica);
  if (!scenario.flags) return {"debubble diff " + run};
  return {with_space("debubble simulate", all_flags(*scenario.flags)) + " --save-run predicted.run.json",
          "debubble diff predicted.run.json " + run};
}

// Runs a scenario again, kept in a file, and compares it with its prediction. A run that does not end leaves no file:
// the command alone shows how it gets stuck.
std::vector<std::string> commands_for_fresh(const SuiteScenario& scenario, int devices, bool ends) {
  std::string command = scenario.live->backend == "mpi" ? "mpirun -n " + std::to_string(devices) + " " : "";
  command = with_space(command + "debubble live", all_flags(*scenario.flags));
  for (const std::string& argument : scenario.live_arguments) command += " " + shell_quoted(argument);
  if (!ends) return {command};
  return {command + " --save-run measured.run.json", "debubble diff measured.run.json"};
}

// With `accept` what it holds need not make sense any more (a merge conflict), but it must have been a baseline.
std::optional<std::string> accepted_baseline(const std::string& file, bool accept) {
  std::error_code error;
  if (!std::filesystem::exists(path_or_shipped(file), error) && !error) return std::nullopt;
  std::string text = read_file(file, file);
  if (!accept) return text;
  if (!may_replace(text)) {
    throw InputError(Diagnostic{"C050", file, "this file is not a baseline, so --accept does not overwrite it",
                                "move it away, or name another file in the suite: \"baseline\": \"FILE\""});
  }
  if (!is_baseline(text)) return std::nullopt;
  return text;
}

// Each run against the prediction from its own costs: those it was given, or those calibrated just before it.
MeasurementResult judge_fresh(std::vector<RunRecord> records, const FreshRunPlan& plan, const Tolerances& tolerances,
                              Progress& progress) {
  std::vector<PredictedRun> runs;
  for (RunRecord& record : records) {
    Report predicted = simulate_record(record, progress).result.report;
    runs.push_back({std::move(record), std::move(predicted)});
  }
  return judge_runs(runs, tolerances, calibrates(plan) ? CostOrigin::kCalibratedNow : CostOrigin::kAsGiven);
}

}  // namespace

SuiteGate::SuiteGate(const std::string& file, bool accept, Progress& progress) : accept_(accept), progress_(progress) {
  result_.file = file;
  try {
    const std::string text = read_file(file, "debubble check");
    result_.lines = scenario_lines(text);
    suite_ = read_suite(text, file);
    result_.name = suite_.name;
    result_.baseline = suite_.baseline;
    predict_all();
    if (result_.errors.empty()) compare();
  } catch (const InputError& error) {
    refuse(error.diagnostics());
  }
  if (result_.errors.empty()) return;
  result_.scenarios.clear();
  to_run_.clear();
}

void SuiteGate::refuse(std::vector<Diagnostic> problems) {
  for (Diagnostic& problem : problems) result_.errors.push_back(std::move(problem));
}

void SuiteGate::predict_all() {
  for (const SuiteScenario& scenario : suite_.scenarios) {
    progress_.phase("predicting " + printable(scenario.name));
    ScenarioResult& result = result_.scenarios.emplace_back();
    result.name = scenario.name;
    result.line = scenario.line;
    result.required = scenario.required;
    to_run_.emplace_back();
    try {
      predict(scenario);
    } catch (const InputError& error) {
      refuse(placed_in_suite(error.diagnostics(), suite_, scenario));
    }
  }
}

void SuiteGate::predict(const SuiteScenario& scenario) {
  if (scenario.flags) return predict_given(scenario);
  judge_recorded(scenario, nullptr);
}

void SuiteGate::predict_given(const SuiteScenario& scenario) {
  std::optional<FreshRunPlan> plan;
  if (scenario.live) plan = plan_fresh_run(*scenario.live, *scenario.flags, progress_);
  const Scenario checked =
      check_scenario(plan ? scenario_part(plan->settings, *scenario.flags) : ScenarioFlags(*scenario.flags));
  const std::string name = checked.schedules.empty() ? "1f1b" : checked.schedules.front();
  Simulated run = simulate(checked, name, progress_);
  Report& report = run.result.report;
  if (!scenario.table.empty()) report.schedule.name = printable(scenario.table);  // wherever we were started from
  predictions_.push_back({scenario.name, report});
  to_run_.back() = std::move(plan);
  if (!scenario.measured.empty()) judge_recorded(scenario, &run);
}

// Without a prediction, the run's own schedule, costs and links are simulated.
void SuiteGate::judge_recorded(const SuiteScenario& scenario, const Simulated* given) {
  const auto refuse_scenario = [](const std::string& file) -> ScenarioFlags {
    throw InputError(Diagnostic{"D002", file, "a scenario is nothing that was measured", "name a measured run"});
  };
  const RunRecord record = open_run(scenario.measured, nullptr, refuse_scenario, progress_, {scenario.replica});
  Report predicted;
  if (given == nullptr) {
    predicted = simulate_record(record, progress_).result.report;
    predictions_.push_back({scenario.name, predicted});
  } else {
    predicted = given->result.report;
    if (const std::string reason = mismatch(record, given->job.schedule); !reason.empty()) {
      throw InputError(Diagnostic{"D010", suite_.file + "#" + scenario.pointer + "/measured", reason,
                                  "leave \"scenario\" out to predict the run's own schedule, or name another run"});
    }
  }
  if (accept_ || !has_result(predicted)) return;
  MeasurementResult measurement = judge_run(record, predicted, scenario.tolerances);
  measurement.file = names_of(scenario.measured);
  measurement.next = commands_for_recorded(scenario);
  result_.scenarios.back().measurement = std::move(measurement);
}

void SuiteGate::compare() {
  BaselineComparison comparison =
      compare_with_baseline(predictions_, accepted_baseline(suite_.baseline, accept_), suite_.baseline);
  for (std::size_t k = 0; k < predictions_.size(); ++k) {
    PredictionResult& prediction = result_.scenarios[k].prediction;
    prediction = std::move(comparison.predictions[k]);
    const Report& report = predictions_[k].report;
    if (!report.deadlock) continue;
    prediction.state = PredictionResult::State::kDeadlock;
    prediction.deadlock = to_string(*report.deadlock);
  }
  result_.gone = std::move(comparison.gone);
  result_.rewritten_by_hand = comparison.rewritten_by_hand;
}

void SuiteGate::measure() {
  for (std::size_t k = 0; k < to_run_.size(); ++k) {
    if (!to_run_[k] || !has_result(predictions_[k].report)) continue;
    progress_.phase("running " + printable(suite_.scenarios[k].name));
    measure_one(suite_.scenarios[k], *to_run_[k], result_.scenarios[k]);
  }
}

void SuiteGate::measure_one(const SuiteScenario& scenario, const FreshRunPlan& plan, ScenarioResult& result) {
  MeasurementResult measurement;
  try {
    FreshRun fresh = run_fresh(plan, progress_);
    if (!fresh.stall && fresh.wrong_data.empty()) {
      if (fresh.records.empty()) return;  // this process is not the one that knows
      measurement = judge_fresh(std::move(fresh.records), plan, scenario.tolerances, progress_);
    } else {
      measurement.state = MeasurementResult::State::kStuck;
      measurement.stall = std::move(fresh.stall);
      measurement.failure = fresh.wrong_data;
    }
  } catch (const UnavailableError& error) {
    measurement.state = MeasurementResult::State::kMissing;
    measurement.missing = error.diagnostic();
  } catch (const InputError& error) {
    measurement.state = MeasurementResult::State::kStuck;
    measurement.failure = "not run: see the errors";
    refuse(placed_in_suite(error.diagnostics(), suite_, scenario));
  }
  measurement.fresh = true;
  if (measurement.backend.empty()) measurement.backend = scenario.live->backend;
  const bool ends = measurement.state == MeasurementResult::State::kJudged;
  measurement.next = commands_for_fresh(scenario, plan.plan.job.schedule.devices, ends);
  result.measurement = std::move(measurement);
}

bool SuiteGate::acceptable() const {
  if (!result_.errors.empty()) return false;
  for (const ScenarioResult& scenario : result_.scenarios) {
    if (scenario.prediction.state == PredictionResult::State::kDeadlock) return false;
  }
  return true;
}

OutputFile SuiteGate::write_baseline() const {
  OutputFile file(suite_.baseline, Replaces::kWhatWasRead);  // the former baseline was read
  file.write(baseline_text(predictions_));
  return file;
}

}  // namespace debubble
