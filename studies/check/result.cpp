#include "studies/check/result.hpp"

#include <algorithm>

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

const char* to_string(MetricResult::Kind kind) {
  switch (kind) {
    case MetricResult::Kind::kBubble:
      return "bubble";
    case MetricResult::Kind::kStep:
      return "step";
    case MetricResult::Kind::kMemory:
      return "memory";
  }
  return "bubble";
}

const char* to_string(MeasurementResult::Times times) {
  switch (times) {
    case MeasurementResult::Times::kMeasured:
      return "measured";
    case MeasurementResult::Times::kGiven:
      return "given";
    case MeasurementResult::Times::kSimulated:
      return "simulated";
  }
  return "measured";
}

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kWarn:
      return "warn";
    case Verdict::kFail:
      return "fail";
  }
  return "pass";
}

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kWarn:
      return "warn";
    case Outcome::kSkipped:
      return "skipped";
    case Outcome::kMissing:
      return "missing";
    case Outcome::kFail:
      return "fail";
  }
  return "pass";
}

const char* to_string(PredictionResult::State state) {
  switch (state) {
    case PredictionResult::State::kSame:
      return "same";
    case PredictionResult::State::kChanged:
      return "changed";
    case PredictionResult::State::kNew:
      return "new";
    case PredictionResult::State::kNone:
      return "none";
    case PredictionResult::State::kDeadlock:
      return "deadlock";
  }
  return "same";
}

}  // namespace debubble
