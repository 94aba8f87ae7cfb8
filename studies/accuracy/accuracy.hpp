// Accuracy: all records predicted, compared with what was measured, grouped by source.
//
// Records are predicted as `--model` predicts them for anybody: no constant is fitted. Where their flags have
// --calibrate it is used.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost_models/transformer/model_effects.hpp"
#include "studies/accuracy/results_file.hpp"

namespace debubble {

// What `debubble simulate` says of one record's run, by the very same path.
struct Prediction {
  double step_seconds = 0;
  double bubble = 0;               // (span - work) / span, the zero-bubble papers' rate
  std::optional<double> peak_gib;  // of the device that needs most; only where the record has it
};

// Throws InputError for flags that do not fit together, and where the run ends in a deadlock. `effects`: all but what a
// study switches off.
[[nodiscard]] Prediction predict(const ResultRecord& record, const ModelEffects& effects = {});

// All but one part by its name, "measured-products"; nothing where no part has this name.
[[nodiscard]] std::optional<ModelEffects> effects_without(std::string_view part);
[[nodiscard]] std::vector<std::string> effect_names();

// The command that shows the same: "debubble simulate --schedule 1f1b ...".
[[nodiscard]] std::string command_of(const ResultRecord& record);

struct ComparedQuantity {
  Quantity quantity = Quantity::kStepTime;
  double measured = 0;
  double predicted = 0;
  double error = 0;  // predicted / measured - 1; of a bubble: of the time that the same work takes
};

struct JudgedRecord {
  const ResultRecord* record = nullptr;
  std::vector<ComparedQuantity> comparisons;
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

// Records of one source with the same flags, and a step time each.
struct RepeatedSetup {
  std::vector<const ResultRecord*> records;  // two or more, by id
  double ratio = 1;                          // of the longest step to the shortest
};

// How far apart measurements of the same set-up are, which no prediction can be better than.
struct Noise {
  std::vector<RepeatedSetup> setups;  // by the id of their first record
  double median = 1;                  // of the ratios; of an even number the mean of the two in the middle
  double largest = 1;
};

struct JudgedSource {
  const ResultSource* source = nullptr;
  std::vector<JudgedRecord> records;
  std::vector<ErrorSummary> summaries;  // by quantity, of all records, then of groups
  std::optional<Noise> noise;           // nothing: no set-up was measured twice

  // A share: by how much the longest step of one set-up exceeds the shortest, in the median. An error below it is
  // none of the model's.
  [[nodiscard]] double noise_floor() const { return noise ? noise->median - 1 : 0; }
};

// In the order of the file's sources, on all cores, with the same result on any number of them; `only` empty: all of
// them. `effects`: all but what is switched off. The results must outlive what is returned.
[[nodiscard]] std::vector<JudgedSource> judge_results(const ResultsFile& results, const std::string& only,
                                                      const ModelEffects& effects = {});

// Of everything that was measured of it.
[[nodiscard]] std::vector<ComparedQuantity> comparisons_of(const ResultRecord& record, const Prediction& prediction);

// Of the records of a group, or of all where it is empty.
[[nodiscard]] ErrorSummary summarise(const std::vector<JudgedRecord>& records, Quantity quantity,
                                     const std::string& group);

// Nothing where no set-up was measured twice.
[[nodiscard]] std::optional<Noise> noise_of(const std::vector<const ResultRecord*>& records);

[[nodiscard]] std::optional<double> measured_step(const ResultRecord& record);  // seconds

// Of an even number the mean of the two in the middle; `values` must not be empty.
[[nodiscard]] double median_of(std::vector<double> values);

}  // namespace debubble
