// Accuracy: all records predicted, compared with what was measured, grouped by source.
//
// Every record is judged twice: without any constant, as `--model` predicts it for anybody, and with the constant of
// its hardware and number format that was fitted to the records of other sources. Where there are none, no constant is
// used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/accuracy/calibration.hpp"
#include "studies/accuracy/noise.hpp"
#include "studies/accuracy/prediction.hpp"
#include "studies/accuracy/results_file.hpp"

namespace debubble {

// Without any constant.
struct ComparedQuantity {
  Quantity quantity = Quantity::kStepTime;
  double measured = 0;
  double predicted = 0;
  double error = 0;  // predicted / measured - 1; of a bubble: of the time that the same work takes
};

// The step time with a constant.
struct CalibratedStep {
  FittedConstant constant;
  double predicted = 0;  // seconds
  double error = 0;
};

struct JudgedRecord {
  const ResultRecord* record = nullptr;
  std::vector<ComparedQuantity> comparisons;
  std::optional<CalibratedStep> calibrated;
  std::string refused;  // why it could not be predicted; else empty
};

// Of one quantity over some records of a source.
struct ErrorSummary {
  Quantity quantity = Quantity::kStepTime;
  std::string group;  // of records; empty: all of the source
  int records = 0;
  double mean_absolute = 0;
  double median_absolute = 0;
  double bias = 0;
  double worst = 0;  // signed
  std::string worst_id;
  std::optional<double> target;  // a share, as the errors; of the mean
};

// Of the step times that have a constant of other sources.
struct CalibratedSummary {
  ErrorSummary errors;
  double mean_without = 0;                // the mean absolute error of the same records without a constant
  std::vector<FittedConstant> constants;  // each once, in the order of the records
};

struct JudgedSource {
  const ResultSource* source = nullptr;
  std::vector<JudgedRecord> records;
  std::vector<ErrorSummary> summaries;           // without any constant; by quantity, of all records, then of groups
  std::optional<CalibratedSummary> calibrated;   // nothing: no record has a constant
  std::vector<HardwareFormat> without_constant;  // of its records' machines, those that no other source has
  std::optional<Noise> noise;                    // nothing: no set-up was measured twice

  // A share: by how much the longest step of one set-up exceeds the shortest, in the median. An error below it is
  // none of the model's.
  [[nodiscard]] double noise_floor() const { return noise ? noise->median - 1 : 0; }
};

// In the order of the file's sources, on all cores, with the same result on any number of them; `only` empty: all of
// them. `effects`: all but what is switched off. The results must outlive what is returned.
[[nodiscard]] std::vector<JudgedSource> judge_results(const ResultsFile& results, const Calibrations& calibrations,
                                                      const std::string& only, const ModelEffects& effects = {});

// Of everything that was measured of it.
[[nodiscard]] std::vector<ComparedQuantity> comparisons_of(const ResultRecord& record, const Prediction& prediction);

// Of the records of a group, or of all where it is empty; without any constant.
[[nodiscard]] ErrorSummary summarise(const std::vector<JudgedRecord>& records, Quantity quantity,
                                     const std::string& group);
// Nothing where no record has one.
[[nodiscard]] std::optional<CalibratedSummary> summarise_calibrated(const std::vector<JudgedRecord>& records);

}  // namespace debubble
