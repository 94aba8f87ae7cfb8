// SuiteGate: one suite, looked at in two steps.
//
//     1. predict   every scenario is simulated and compared with the baseline; recorded runs are judged
//     2. measure   fresh runs, one after the other, once all suites are known to be right
//
// With `accept` the second step is writing the baseline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/files/output_file.hpp"
#include "scenario/job/progress.hpp"
#include "studies/check/baseline.hpp"
#include "studies/check/fresh_run.hpp"
#include "studies/check/result.hpp"
#include "studies/check/suite.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

class SuiteGate {
 public:
  // Wrong input does not throw: it is in the result.
  SuiteGate(const std::string& file, bool accept, Progress& progress);

  void measure();

  // The baseline as a file in the making; the caller commits once all are written. Call only when `acceptable`.
  [[nodiscard]] OutputFile write_baseline() const;
  // Whether there is a prediction for every scenario.
  [[nodiscard]] bool acceptable() const;
  void mark_accepted() { result_.accepted = true; }

  [[nodiscard]] const SuiteResult& result() const { return result_; }
  [[nodiscard]] const std::string& baseline() const { return suite_.baseline; }

 private:
  void predict_all();
  void predict(const SuiteScenario& scenario);
  void predict_given(const SuiteScenario& scenario);
  void judge_recorded(const SuiteScenario& scenario, const Simulated* given);
  void compare();
  void measure_one(const SuiteScenario& scenario, const FreshRunPlan& plan, ScenarioResult& result);
  void refuse(std::vector<Diagnostic> problems);

  bool accept_;
  Progress& progress_;
  Suite suite_;
  std::vector<NamedPrediction> predictions_;
  std::vector<std::optional<FreshRunPlan>> to_run_;  // by scenario
  SuiteResult result_;
};

}  // namespace debubble
