#include "studies/check/measured.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "sim/analysis/analyse.hpp"
#include "studies/check/estimate.hpp"
#include "studies/diff/diff.hpp"
#include "studies/runs/predict.hpp"
#include "studies/runs/recognise.hpp"

namespace debubble {
namespace {

// Error of `measured` in per cent of `predicted`; where nothing was predicted, of what was measured.
double percent_error(double measured, double predicted) {
  const double base = predicted > 0 ? predicted : measured;
  return base > 0 ? 100 * (measured - predicted) / base : 0;
}

double percentage_points(double measured, double predicted) { return 100 * (measured - predicted); }

using ErrorOf = double (*)(double measured, double predicted);
using Runs = std::span<const PredictedRun>;

// One number of every repetition, by run, and of every prediction.
struct Values {
  std::vector<std::vector<double>> measured;
  std::vector<double> predicted;
};

// `of_run` reads iteration k of a record, `of_report` its prediction.
template <typename OfRun, typename OfReport>
Values values_of(Runs runs, const OfRun& of_run, const OfReport& of_report) {
  Values values;
  for (const PredictedRun& run : runs) {
    std::vector<double>& measured = values.measured.emplace_back();
    for (std::size_t k = 0; k < run.record.iterations.size(); ++k) measured.push_back(of_run(run.record, k));
    values.predicted.push_back(of_report(run.predicted));
  }
  return values;
}

MetricResult judge_values(MetricResult::Kind kind, const Values& values, ErrorOf error_of, double tolerance) {
  std::vector<double> all;
  std::vector<std::vector<double>> errors;
  for (std::size_t g = 0; g < values.measured.size(); ++g) {
    std::vector<double>& group = errors.emplace_back();
    for (const double value : values.measured[g]) {
      all.push_back(value);
      group.push_back(error_of(value, values.predicted[g]));
    }
  }
  MetricResult result;
  result.kind = kind;
  result.predicted = median(values.predicted);
  result.measured = median(all);
  result.error = estimate(errors);
  result.tolerance = tolerance;
  result.verdict = judge(result.error, tolerance);
  return result;
}

// A device that fails must not hide behind one that only warns, by however much.
bool is_worse(const MetricResult& a, const MetricResult& b) {
  if (a.verdict != b.verdict) return a.verdict > b.verdict;
  return std::abs(a.error.median) > std::abs(b.error.median);
}

MetricResult judge_memory(Runs runs, double tolerance) {
  MetricResult worst;
  for (std::size_t d = 0; d < runs.front().predicted.devices.size(); ++d) {
    const Values values = values_of(
        runs,
        [d](const RunRecord& record, std::size_t k) {
          return static_cast<double>(record.iterations[k].peak_activation[d]);
        },
        [d](const Report& report) { return static_cast<double>(report.devices[d].peak_activation); });
    MetricResult one = judge_values(MetricResult::Kind::kMemory, values, percent_error, tolerance);
    one.device = static_cast<int>(d);
    if (d == 0 || is_worse(one, worst)) worst = one;
  }
  return worst;
}

MetricResult uncounted_memory(const Report& predicted, const Tolerances& tolerances) {
  MetricResult result;
  result.kind = MetricResult::Kind::kMemory;
  result.counted = false;
  result.tolerance = tolerances.memory_percent;
  for (const DeviceReport& device : predicted.devices) {
    result.predicted = std::max(result.predicted, static_cast<double>(device.peak_activation));
  }
  const bool insists = tolerances.memory_asked_by == Tolerances::Asker::kScenario;
  result.verdict = insists ? Verdict::kFail : Verdict::kWarn;
  return result;
}

bool counted_memory(const PredictedRun& run) {
  const RunRecord& record = run.record;
  return std::all_of(record.iterations.begin(), record.iterations.end(), [&](const RunIteration& iteration) {
    return iteration.peak_activation.size() == static_cast<std::size_t>(record.schedule.devices);
  });
}

// A run that is as predicted to the last digit needs no interval: on the logical clock that is the rule.
void note_repetitions(MeasurementResult& result) {
  const bool exact = std::all_of(result.metrics.begin(), result.metrics.end(), [](const MetricResult& metric) {
    return !(metric.error.low < 0) && !(metric.error.high > 0);  // what was not counted has no error either
  });
  if (exact) return;
  if (result.repetitions == 1) {
    result.notes.emplace_back("1 repetition: no interval, the error is judged as it is");
  } else if (result.repetitions < kFewRepetitions) {
    result.notes.push_back(std::to_string(result.repetitions) + " repetitions: the interval is all they span; " +
                           std::to_string(kFewRepetitions) + " or more give a better one");
  }
}

// Few calibrations do not fail a run: what all their repetitions share may be the error of the costs.
void soften(MeasurementResult& result) {
  if (result.calibrations >= static_cast<int>(kFewCalibrations)) return;
  bool softened = false;
  for (MetricResult& metric : result.metrics) {
    if (metric.verdict != Verdict::kFail || !metric.counted || metric.kind == MetricResult::Kind::kMemory) continue;
    metric.verdict = Verdict::kWarn;
    softened = true;
  }
  if (!softened) return;
  const std::string often = result.calibrations == 1 ? "once" : std::to_string(result.calibrations) + " times";
  result.notes.push_back("calibrated " + often +
                         ": the error may be that of the costs, so this warns at most; a fail takes " +
                         std::to_string(kFewCalibrations) + " calibrations or more");
}

MeasurementResult::Times kind_of_times(const RunRecord& record) {
  if (record.origin.backend == "simulator") return MeasurementResult::Times::kSimulated;
  const bool measured = std::all_of(record.iterations.begin(), record.iterations.end(),
                                    [](const RunIteration& iteration) { return iteration.timeline.measured; });
  return measured ? MeasurementResult::Times::kMeasured : MeasurementResult::Times::kGiven;
}

// Who ran it, and how often.
void describe(Runs runs, MeasurementResult& result) {
  const RunRecord& record = runs.front().record;
  result.backend = record.origin.backend;
  result.clock = record.origin.clock;
  result.device = record.origin.device;
  result.date = record.origin.date;
  result.times = kind_of_times(record);
  result.calibrations = static_cast<int>(runs.size());
  for (const PredictedRun& run : runs) result.repetitions += static_cast<int>(run.record.iterations.size());
  if (result.times != MeasurementResult::Times::kSimulated) return;
  result.notes.emplace_back("nothing was measured: the file holds a simulation");
}

}  // namespace

std::string mismatch(const RunRecord& record, const Schedule& predicted) {
  const std::string difference = first_difference(predicted, record.schedule);
  return difference.empty() ? "" : "the run is of another schedule: " + difference;
}

MeasurementResult judge_runs(Runs runs, const Tolerances& tolerances, CostOrigin costs) {
  MeasurementResult result;
  describe(runs, result);
  const Values bubbles = values_of(
      runs, [](const RunRecord& record, std::size_t k) { return report_of(record, k).bubble_ratio; },
      [](const Report& predicted) { return predicted.bubble_ratio; });
  const Values steps = values_of(
      runs,
      [](const RunRecord& record, std::size_t k) {
        return static_cast<double>(record.iterations[k].timeline.makespan);
      },
      [](const Report& predicted) { return static_cast<double>(predicted.makespan); });
  result.metrics.push_back(judge_values(MetricResult::Kind::kBubble, bubbles, percentage_points, tolerances.bubble_pp));
  result.metrics.push_back(judge_values(MetricResult::Kind::kStep, steps, percent_error, tolerances.step_percent));
  const bool counted = std::all_of(runs.begin(), runs.end(), counted_memory);
  if (counted) {
    result.metrics.push_back(judge_memory(runs, tolerances.memory_percent));
  } else if (tolerances.memory_asked_by != Tolerances::Asker::kNobody) {
    result.metrics.push_back(uncounted_memory(runs.front().predicted, tolerances));
  } else {
    result.notes.emplace_back("memory was not counted in this run and is not judged");
  }
  if (costs == CostOrigin::kCalibratedNow) {
    soften(result);
  } else {
    note_repetitions(result);
  }
  return result;
}

MeasurementResult judge_run(const RunRecord& record, const Report& predicted, const Tolerances& tolerances) {
  const std::vector<PredictedRun> one{{record, predicted}};
  return judge_runs(one, tolerances, CostOrigin::kAsGiven);
}

}  // namespace debubble
