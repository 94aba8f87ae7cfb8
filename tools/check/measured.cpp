#include "tools/check/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "sim/analysis/analyse.hpp"
#include "tools/check/estimate.hpp"
#include "tools/runs/predict.hpp"

namespace debubble {
namespace {

// Error of `measured` in per cent of `predicted`; where nothing was predicted, of what was measured.
double percent_error(double measured, double predicted) {
  const double base = predicted > 0 ? predicted : measured;
  return base > 0 ? 100 * (measured - predicted) / base : 0;
}

double percentage_points(double measured, double predicted) { return 100 * (measured - predicted); }

using ErrorOf = double (*)(double measured, double predicted);

MetricResult judge_values(MetricResult::Kind kind, double predicted, const std::vector<double>& measured,
                          ErrorOf error_of, double tolerance) {
  std::vector<double> errors;
  errors.reserve(measured.size());
  for (const double value : measured) errors.push_back(error_of(value, predicted));
  MetricResult result;
  result.kind = kind;
  result.predicted = predicted;
  result.measured = median(measured);
  result.error = estimate(errors);
  result.tolerance = tolerance;
  result.verdict = judge(result.error, tolerance);
  return result;
}

// The device that is predicted worst.
MetricResult judge_memory(const RunRecord& record, const Report& predicted, double tolerance) {
  MetricResult worst;
  for (std::size_t d = 0; d < predicted.devices.size(); ++d) {
    std::vector<double> measured;
    for (const RunIteration& iteration : record.iterations) {
      measured.push_back(static_cast<double>(iteration.peak_activation[d]));
    }
    const auto bytes = static_cast<double>(predicted.devices[d].peak_activation);
    MetricResult one = judge_values(MetricResult::Kind::kMemory, bytes, measured, percent_error, tolerance);
    one.device = static_cast<int>(d);
    if (d == 0 || std::abs(one.error.median) > std::abs(worst.error.median)) worst = one;
  }
  return worst;
}

bool counted_memory(const RunRecord& record) {
  return std::all_of(record.iterations.begin(), record.iterations.end(), [&](const RunIteration& iteration) {
    return iteration.peak_activation.size() == static_cast<std::size_t>(record.schedule.devices);
  });
}

// A run that is as predicted to the last digit needs no interval: on the logical clock that is the rule.
void note_repetitions(MeasurementResult& result) {
  const bool exact = std::all_of(result.metrics.begin(), result.metrics.end(), [](const MetricResult& metric) {
    return !(metric.error.low < 0) && !(metric.error.high > 0);
  });
  if (exact) return;
  if (result.repetitions == 1) {
    result.notes.emplace_back("1 repetition: no interval, the error is judged as it is");
  } else if (result.repetitions < kFewRepetitions) {
    result.notes.push_back(fmt::format("{} repetitions: the interval is all they span; {} or more give a better one",
                                       result.repetitions, kFewRepetitions));
  }
}

}  // namespace

std::string mismatch(const RunRecord& record, const Report& predicted) {
  const ScheduleFacts measured = facts_of(record.schedule);
  const ScheduleFacts& wanted = predicted.schedule;
  const auto differ = [](const char* what, int run, int scenario) {
    return fmt::format("the run has {} {}, the scenario {}", run, what, scenario);
  };
  if (measured.devices != wanted.devices) return differ("devices", measured.devices, wanted.devices);
  if (measured.stages != wanted.stages) return differ("stages", measured.stages, wanted.stages);
  if (measured.microbatches == wanted.microbatches) return {};
  return differ("microbatches", measured.microbatches, wanted.microbatches);
}

MeasurementResult judge_run(const RunRecord& record, const Report& predicted, const Tolerances& tolerances) {
  MeasurementResult result;
  result.backend = record.origin.backend;
  result.clock = record.origin.clock;
  result.device = record.origin.device;
  result.date = record.origin.date;
  result.repetitions = static_cast<int>(record.iterations.size());
  std::vector<double> bubbles;
  std::vector<double> steps;
  for (std::size_t k = 0; k < record.iterations.size(); ++k) {
    const Report report = report_of(record, k);
    bubbles.push_back(report.bubble_ratio);
    steps.push_back(static_cast<double>(report.makespan));
  }
  result.metrics.push_back(judge_values(MetricResult::Kind::kBubble, predicted.bubble_ratio, bubbles, percentage_points,
                                        tolerances.bubble_pp));
  result.metrics.push_back(judge_values(MetricResult::Kind::kStep, static_cast<double>(predicted.makespan), steps,
                                        percent_error, tolerances.step_percent));
  if (counted_memory(record)) {
    result.metrics.push_back(judge_memory(record, predicted, tolerances.memory_percent));
  } else {
    result.notes.emplace_back("memory was not counted in this run and is not judged");
  }
  note_repetitions(result);
  return result;
}

}  // namespace debubble
