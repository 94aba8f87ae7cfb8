#include "studies/check/result.hpp"

#include <algorithm>
#include <array>

#include "sim/core/at.hpp"
#include "sim/core/exit_status.hpp"

namespace debubble {
namespace {

Outcome outcome_of_measurement(const MeasurementResult& measurement, bool required) {
  if (measurement.state == MeasurementResult::State::kStuck) return Outcome::kFail;
  if (measurement.state == MeasurementResult::State::kMissing) {
    return required ? Outcome::kMissing : Outcome::kSkipped;
  }
  Outcome worst = Outcome::kPass;
  for (const MetricResult& metric : measurement.metrics) {
    if (metric.verdict == Verdict::kFail) return Outcome::kFail;
    if (metric.verdict == Verdict::kWarn) worst = Outcome::kWarn;
  }
  return worst;
}

bool baseline_differs(const SuiteResult& suite) {
  return !suite.accepted && (!suite.gone.empty() || suite.rewritten_by_hand);
}

}  // namespace

Outcome outcome_of(const ScenarioResult& scenario, bool accept) {
  using State = PredictionResult::State;
  const State state = scenario.prediction.state;
  if (state == State::kDeadlock || (state != State::kSame && !accept)) return Outcome::kFail;
  if (!scenario.measurement) return Outcome::kPass;
  return outcome_of_measurement(*scenario.measurement, scenario.required);
}

Tally tally_of(const CheckResult& result) {
  Tally tally;
  for (const SuiteResult& suite : result.suites) {
    if (!suite.errors.empty()) ++tally.bad_suites;
    for (const ScenarioResult& scenario : suite.scenarios) {
      const Outcome outcome = outcome_of(scenario, result.accept);
      ++tally.scenarios;
      if (outcome == Outcome::kPass) ++tally.pass;
      if (outcome == Outcome::kWarn) ++tally.warn;
      if (outcome == Outcome::kFail) ++tally.fail;
      if (outcome == Outcome::kSkipped) ++tally.skipped;
      if (outcome == Outcome::kMissing) ++tally.missing;
    }
  }
  return tally;
}

int status_of(const CheckResult& result) {
  const Tally tally = tally_of(result);
  if (tally.bad_suites > 0) return kExitUsage;
  const bool stale = std::any_of(result.suites.begin(), result.suites.end(), baseline_differs);
  if (tally.fail > 0 || stale) return kExitFinding;
  return tally.missing > 0 ? kExitUnavailable : kExitOk;
}

const char* to_string(MetricResult::Kind kind) { return at(std::array{"bubble", "step", "memory"}, kind); }

const char* to_string(MeasurementResult::Times times) {
  return at(std::array{"measured", "given", "simulated"}, times);
}

const char* to_string(Verdict verdict) { return at(std::array{"pass", "warn", "fail"}, verdict); }

const char* to_string(Outcome outcome) { return at(std::array{"pass", "warn", "skipped", "missing", "fail"}, outcome); }

const char* to_string(PredictionResult::State state) {
  return at(std::array{"same", "changed", "new", "none", "deadlock"}, state);
}

}  // namespace debubble
