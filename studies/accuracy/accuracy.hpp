// Accuracy: all records predicted, compared with what was measured, grouped by source; and the fit of its constants.
//
// A source with constants is divided: of its set-ups, ordered by id, the first, third, fifth, ... is fitted, the others
// are judged. Records with the same flags are one set-up, so that none is judged by its twin. What was measured plays
// no part in that.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/accuracy/calibration.hpp"
#include "studies/accuracy/prediction.hpp"
#include "studies/accuracy/results_file.hpp"

namespace debubble {

enum class Half { kFitted, kJudged };
[[nodiscard]] const char* to_string(Half half);  // "fitted", "judged"

struct ComparedQuantity {
  Quantity quantity = Quantity::kStepTime;
  double measured = 0;
  double predicted = 0;
  double error = 0;  // predicted / measured - 1; of a bubble: of the time that the same work takes
};

struct JudgedRecord {
  const ResultRecord* record = nullptr;
  Half half = Half::kJudged;
  std::vector<ComparedQuantity> comparisons;
  std::string refused;  // why it could not be predicted; else empty
};

// Of one quantity over some records of a source.
struct ErrorSummary {
  Quantity quantity = Quantity::kStepTime;
  int records = 0;
  double mean_absolute = 0;
  double bias = 0;
  double worst = 0;  // signed
  std::string worst_id;
  std::optional<double> target;  // a share, as the errors; of the judged half
};

struct JudgedSource {
  const ResultSource* source = nullptr;
  std::optional<Calibration> calibration;  // absent: nothing is fitted
  std::vector<JudgedRecord> records;
  std::vector<ErrorSummary> judged;  // by quantity
  std::vector<ErrorSummary> fitted;  // only where a half was fitted
};

// Which half each record of a source, ordered by id, belongs to.
[[nodiscard]] std::vector<Half> halves(const ResultSource& source, const std::vector<const ResultRecord*>& records);

// In the order of the file's sources, on all cores, with the same result on any number of them; `only` empty: all of
// them. The results must outlive what is returned.
[[nodiscard]] std::vector<JudgedSource> judge_results(const ResultsFile& results, const Calibrations& calibrations,
                                                      const std::string& only);

// The constants that make the mean absolute error of the fitted half's step times least, on a fixed lattice: compute in
// steps of 0.005, network of 0.05. Sources without constants are left out.
[[nodiscard]] Calibrations fit_constants(const ResultsFile& results, const std::string& only);

[[nodiscard]] ErrorSummary summarise(const std::vector<JudgedRecord>& records, Quantity quantity, Half half);

}  // namespace debubble
