// Measured runs against their predictions: bubble, step time and peak activation memory, over all repetitions.
//
// A prediction is made from costs. Where those were given, one run is compared with one prediction. Where they were
// calibrated, they are measurements too, with an error of their own: each run is then compared with the prediction of
// its own calibration, and one calibration alone never fails a run.
#pragma once

#include <span>
#include <string>

#include "sim/analysis/report.hpp"
#include "sim/core/run_record.hpp"
#include "studies/check/result.hpp"
#include "studies/check/suite.hpp"

namespace debubble {

// A run and what it is held against: a group of repetitions after one calibration. `predicted` must have a result, the
// record at least one iteration.
struct PredictedRun {
  RunRecord record;
  Report predicted;
};

// Whether a gate calibrated the costs just before it ran, or took them as they are in a suite or a file.
enum class CostOrigin { kAsGiven, kCalibratedNow };

// Errors are measured - predicted. Memory is judged on the device with the worst verdict, of several the one with the
// largest median error; where the executor did not count it and somebody asked for it, that is said by the metric.
// `runs` are of one schedule, at least one.
[[nodiscard]] MeasurementResult judge_runs(std::span<const PredictedRun> runs, const Tolerances& tolerances,
                                           CostOrigin costs);
// One run, with costs as given.
[[nodiscard]] MeasurementResult judge_run(const RunRecord& record, const Report& predicted,
                                          const Tolerances& tolerances);

// What keeps a run from being compared with a scenario, op by op: "the run is of another schedule: device 0 runs 0F1 in
// place 2 of the predicted one, 0B0 of the measured one"; empty when nothing does.
[[nodiscard]] std::string mismatch(const RunRecord& record, const Schedule& predicted);

// With fewer calibrations a median may be far off by chance, so they warn at most; with more the interval says so.
inline constexpr std::size_t kFewCalibrations = 4;

}  // namespace debubble
