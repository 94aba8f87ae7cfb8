#include "tools/views/check/check_json.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "formats/json/json.hpp"
#include "sim/core/at.hpp"
#include "tools/views/check/wording.hpp"

namespace debubble {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json diagnostic_json(const Diagnostic& one) {
  return {{"code", one.code}, {"place", one.place}, {"message", one.message}, {"help", one.help}};
}

// The values as they are in the predictions: numbers as numbers.
Json value_of(const std::string& text) { return text.empty() ? Json(nullptr) : Json::parse(text); }

Json prediction_json(const PredictionResult& prediction) {
  Json changes = json_list(prediction.changes, [](const NumberChange& change) -> Json {
    return {{"number", change.number}, {"before", value_of(change.before)}, {"after", value_of(change.after)}};
  });
  return {
      {"state", to_string(prediction.state)}, {"changes", changes}, {"deadlock", text_or_null(prediction.deadlock)}};
}

// Ratios stay real; times and sizes are whole, but for the mean of two middle ones.
Json metric_number(const MetricResult& metric, double value) {
  if (metric.kind != MetricResult::Kind::kBubble && std::trunc(value) == value) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

Json metric_json(const MetricResult& metric) {
  struct Units {
    const char* value;
    const char* error;
  };
  const Units units = metric.kind == MetricResult::Kind::kBubble ? Units{"ratio", "percentage_points"}
                      : metric.kind == MetricResult::Kind::kStep ? Units{"ns", "percent"}
                                                                 : Units{"bytes", "percent"};
  const auto of_run = [&](Json value) { return metric.counted ? std::move(value) : Json(nullptr); };
  return {{"metric", to_string(metric.kind)},
          {"unit", units.value},
          {"predicted", metric_number(metric, metric.predicted)},
          {"measured", of_run(metric_number(metric, metric.measured))},
          {"error_unit", units.error},
          {"error", of_run(metric.error.median)},
          {"error_low", of_run(metric.error.low)},
          {"error_high", of_run(metric.error.high)},
          {"tolerance", metric.tolerance},
          {"device", metric.device < 0 ? Json(nullptr) : Json(metric.device)},
          {"verdict", to_string(metric.verdict)}};
}

const char* state_text(MeasurementResult::State state) { return at(std::array{"judged", "missing", "stuck"}, state); }

Json measurement_json(const MeasurementResult& measurement) {
  Json metrics = json_list(measurement.metrics, metric_json);
  const bool judged = measurement.state == MeasurementResult::State::kJudged;
  const bool missing = measurement.state == MeasurementResult::State::kMissing;
  return {{"state", state_text(measurement.state)},
          {"source", measurement.fresh ? "fresh" : "recorded"},
          {"file", text_or_null(measurement.file)},
          {"backend", text_or_null(measurement.backend)},
          {"clock", text_or_null(measurement.clock)},
          {"device", text_or_null(measurement.device)},
          {"date", text_or_null(measurement.date)},
          {"times", judged ? Json(to_string(measurement.times)) : Json(nullptr)},
          {"repetitions", measurement.repetitions},
          {"calibrations", measurement.calibrations},
          {"metrics", metrics},
          {"notes", measurement.notes},
          {"missing", missing ? diagnostic_json(measurement.missing) : Json(nullptr)},
          {"failure", text_or_null(failure_text(measurement))},
          {"next", measurement.next}};
}

Json suite_json(const SuiteResult& suite) {
  Json scenarios = json_list(suite.scenarios, [&](const ScenarioResult& scenario) -> Json {
    return {{"name", scenario.name},
            {"line", scenario.line},
            {"required", scenario.required},
            {"outcome", to_string(outcome_of(scenario, suite.accepted))},
            {"prediction", prediction_json(scenario.prediction)},
            {"measurement", scenario.measurement ? measurement_json(*scenario.measurement) : Json(nullptr)}};
  });
  Json errors = json_list(suite.errors, diagnostic_json);
  return {{"file", suite.file},
          {"name", text_or_null(suite.name)},
          {"baseline",
           {{"file", text_or_null(suite.baseline)},
            {"accepted", suite.accepted},
            {"rewritten_by_hand", suite.rewritten_by_hand},
            {"gone", suite.gone}}},
          {"scenarios", scenarios},
          {"errors", errors}};
}

}  // namespace

std::string check_json(const CheckResult& result, const ToolFacts& tool) {
  const Tally tally = tally_of(result);
  Json json = json_head(1, tool);
  json["exit_status"] = status_of(result);
  json["summary"] = {{"scenarios", tally.scenarios},
                     {"pass", tally.pass},
                     {"warn", tally.warn},
                     {"fail", tally.fail},
                     {"skipped", tally.skipped},
                     {"missing", tally.missing},
                     {"bad_suites", tally.bad_suites}};
  json["suites"] = json_list(result.suites, suite_json);
  return json.text(2) + "\n";
}

}  // namespace debubble
