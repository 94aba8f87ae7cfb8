#include "tools/views/check/wording.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "tools/views/live_view.hpp"
#include "tools/views/style.hpp"

namespace debubble {
namespace {

bool is_bubble(const MetricResult& metric) { return metric.kind == MetricResult::Kind::kBubble; }

const char* metric_unit(const MetricResult& metric) { return is_bubble(metric) ? "pp" : "%"; }

// Two decimals, and no "-0.00".
std::string with_sign(double value) {
  const std::string text = fmt::format("{:+.2f}", value);
  return text == "-0.00" ? "+0.00" : text;
}

std::string value_text(const MetricResult& metric, double value) {
  switch (metric.kind) {
    case MetricResult::Kind::kBubble:
      return format_percent_to(value, 2);
    case MetricResult::Kind::kStep:
      return format_duration(std::llround(value));
    case MetricResult::Kind::kMemory:
      return format_size(std::llround(value));
  }
  return {};
}

// Per cent by which a number grew; empty for texts and for what was 0.
std::string relative_change(const NumberChange& change) {
  const auto number = [](const std::string& text) { return number_of(text).value_or(std::nan("")); };
  const double before = number(change.before);
  const double after = number(change.after);
  if (!std::isfinite(before) || !std::isfinite(after) || std::abs(before) <= 0) return {};
  return fmt::format(" ({:+.2g} %)", 100 * (after - before) / std::abs(before));
}

std::string present(const std::string& value) { return value.empty() ? "(absent)" : value; }

}  // namespace

std::string predicted_text(const MetricResult& metric) { return value_text(metric, metric.predicted); }
std::string measured_text(const MetricResult& metric) {
  return metric.counted ? value_text(metric, metric.measured) : "not counted";
}

std::string error_text(const MetricResult& metric) {
  if (!metric.counted) return {};
  return fmt::format("{} {}", with_sign(metric.error.median), metric_unit(metric));
}

std::string tolerance_text(const MetricResult& metric) {
  return fmt::format("{:g} {}", metric.tolerance, metric_unit(metric));
}

std::string interval_text(const MetricResult& metric, int repetitions) {
  if (repetitions < 2 || !metric.counted) return {};
  return fmt::format("[{}, {}]", with_sign(metric.error.low), with_sign(metric.error.high));
}

std::string metric_name(const MetricResult& metric) {
  if (metric.device < 0) return to_string(metric.kind);
  return fmt::format("{} on d{}", to_string(metric.kind), metric.device);
}

std::string metric_sentence(const MetricResult& metric, int repetitions) {
  if (!metric.counted) {
    return fmt::format("{}: {} predicted, but the run did not count it, and {} are allowed", metric_name(metric),
                       predicted_text(metric), tolerance_text(metric));
  }
  const std::string interval = interval_text(metric, repetitions);
  return fmt::format("{}: {} predicted, {} measured: {}{}{}, {} allowed", metric_name(metric), predicted_text(metric),
                     measured_text(metric), error_text(metric), interval.empty() ? "" : " ", interval,
                     tolerance_text(metric));
}

std::string change_text(const NumberChange& change) {
  return fmt::format("{} {} -> {}{}", change.number, present(change.before), present(change.after),
                     relative_change(change));
}

std::string prediction_sentence(const PredictionResult& prediction, std::size_t most) {
  switch (prediction.state) {
    case PredictionResult::State::kSame:
      return "the prediction is the accepted one";
    case PredictionResult::State::kNew:
      return "the baseline does not hold this scenario";
    case PredictionResult::State::kNone:
      return "there is no baseline";
    case PredictionResult::State::kDeadlock:
      return "there is nothing to predict: deadlock: " + prediction.deadlock;
    case PredictionResult::State::kChanged:
      break;
  }
  std::string text = "the prediction is not the accepted one: ";
  for (std::size_t k = 0; k < prediction.changes.size() && k < most; ++k) {
    text += (k == 0 ? "" : ", ") + change_text(prediction.changes[k]);
  }
  if (prediction.changes.size() > most) text += fmt::format(", and {} more", prediction.changes.size() - most);
  return text;
}

std::string source_text(const MeasurementResult& measurement) {
  std::string text = measurement.fresh ? "fresh" : "recorded";
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += ", " + part;
  };
  if (measurement.times == MeasurementResult::Times::kSimulated) {
    add("a simulated run");
  } else {
    add(measurement.backend);
    add(measurement.clock.empty() ? "" : measurement.clock + " clock");
  }
  if (measurement.times == MeasurementResult::Times::kGiven) add("exact by construction");
  if (!measurement.fresh || measurement.backend != "cpu") add(measurement.device);  // a fresh run's CPU is this one
  if (!measurement.fresh) add(measurement.date);
  if (measurement.repetitions == 1) add("1 repetition");
  if (measurement.repetitions > 1) add(fmt::format("{} repetitions", measurement.repetitions));
  if (measurement.calibrations > 1) add(fmt::format("calibrated {} times", measurement.calibrations));
  return text;
}

std::string failure_text(const MeasurementResult& measurement) {
  if (!measurement.stall) return measurement.failure;
  constexpr int kUnwrapped = 1000;  // columns: every output wraps by its own rules
  ViewStyle style;
  style.width = kUnwrapped;
  return stall_view(*measurement.stall, style);
}

std::string tally_text(const Tally& tally) {
  std::string text = fmt::format("{} scenario{}", tally.scenarios, tally.scenarios == 1 ? "" : "s");
  std::string parts;
  const auto add = [&](int count, const char* what) {
    if (count > 0) parts += fmt::format("{}{} {}", parts.empty() ? ": " : ", ", count, what);
  };
  add(tally.pass, "pass");
  add(tally.warn, "warn");
  add(tally.fail, "fail");
  add(tally.skipped, "skipped");
  add(tally.missing, "missing");
  text += parts;
  if (tally.bad_suites > 0) {
    text += fmt::format("; {} suite{} with errors", tally.bad_suites, tally.bad_suites == 1 ? "" : "s");
  }
  return text;
}

}  // namespace debubble
