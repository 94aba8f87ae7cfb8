#include "studies/accuracy/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/error.hpp"
#include "studies/parallel.hpp"

namespace debubble {
namespace {

double predicted_value(const Prediction& prediction, Quantity quantity) {
  switch (quantity) {
    case Quantity::kStepTime:
      return prediction.step_seconds;
    case Quantity::kPeakMemory:
      return prediction.peak_gib.value_or(0);
    case Quantity::kBubble:
      return prediction.bubble;
  }
  return 0;
}

ComparedQuantity compare(const MeasuredQuantity& measured, const Prediction& prediction) {
  ComparedQuantity one{measured.quantity, measured.value, predicted_value(prediction, measured.quantity), 0};
  // Shares of idle time cannot be compared by their ratio: 0.1 % of 0.2 % is nothing. The time they cost can.
  const bool ratio = one.quantity == Quantity::kBubble;
  one.error = ratio ? (1 - one.measured) / (1 - one.predicted) - 1 : one.predicted / one.measured - 1;
  return one;
}

void judge_record(JudgedRecord& judged, const FittedConstant* constant, const ModelEffects& effects) {
  try {
    std::vector<ComparedQuantity> comparisons =
        comparisons_of(*judged.record, predict(*judged.record, nullptr, effects));
    const std::optional<double> step = measured_step(*judged.record);
    if (constant != nullptr && step) {
      const double predicted = predict(*judged.record, constant, effects).step_seconds;
      judged.calibrated = {*constant, predicted, predicted / *step - 1};
    }
    judged.comparisons = std::move(comparisons);
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().front();
    judged.refused = first.code + ": " + first.message;
  }
}

std::vector<const ResultRecord*> records_of(const ResultsFile& results, const ResultSource& source) {
  std::vector<const ResultRecord*> records;
  for (const ResultRecord& record : results.records) {
    if (record.source == source.name) records.push_back(&record);
  }
  return records;
}

struct SignedError {
  double error = 0;
  const std::string* id = nullptr;
};

ErrorSummary summary_of(const std::vector<SignedError>& errors) {
  ErrorSummary summary;
  summary.records = static_cast<int>(errors.size());
  if (errors.empty()) return summary;
  std::vector<double> sizes;
  for (const SignedError& one : errors) {
    sizes.push_back(std::abs(one.error));
    summary.mean_absolute += std::abs(one.error);
    summary.bias += one.error;
    if (summary.worst_id.empty() || std::abs(one.error) > std::abs(summary.worst)) {
      summary.worst = one.error;
      summary.worst_id = *one.id;
    }
  }
  summary.mean_absolute /= summary.records;
  summary.bias /= summary.records;
  summary.median_absolute = median_of(std::move(sizes));
  return summary;
}

void add_summary(JudgedSource& judged, Quantity quantity, const std::string& group) {
  ErrorSummary summary = summarise(judged.records, quantity, group);
  for (const ResultTarget& target : judged.source->targets) {
    if (target.quantity == quantity && target.group == group) summary.target = target.per_cent / 100;
  }
  if (summary.records > 0) judged.summaries.push_back(std::move(summary));
}

void add_summaries(JudgedSource& judged) {
  std::vector<std::string> groups;
  for (const JudgedRecord& record : judged.records) {
    const std::string& group = record.record->group;
    if (!group.empty() && std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  std::sort(groups.begin(), groups.end());
  for (const Quantity quantity : {Quantity::kStepTime, Quantity::kPeakMemory, Quantity::kBubble}) {
    add_summary(judged, quantity, "");
    for (const std::string& group : groups) add_summary(judged, quantity, group);
  }
  judged.calibrated = summarise_calibrated(judged.records);
}

JudgedSource judged_source(const ResultsFile& results, const ResultSource& source) {
  JudgedSource judged;
  judged.source = &source;
  const std::vector<const ResultRecord*> records = records_of(results, source);
  for (const ResultRecord* record : records) judged.records.push_back({record, {}, {}, {}});
  judged.noise = noise_of(records);
  return judged;
}

}  // namespace

std::vector<ComparedQuantity> comparisons_of(const ResultRecord& record, const Prediction& prediction) {
  std::vector<ComparedQuantity> comparisons;
  for (const MeasuredQuantity& measured : record.measured) comparisons.push_back(compare(measured, prediction));
  return comparisons;
}

ErrorSummary summarise(const std::vector<JudgedRecord>& records, Quantity quantity, const std::string& group) {
  std::vector<SignedError> errors;
  for (const JudgedRecord& record : records) {
    if (!group.empty() && record.record->group != group) continue;
    for (const ComparedQuantity& one : record.comparisons) {
      if (one.quantity == quantity) errors.push_back({one.error, &record.record->id});
    }
  }
  ErrorSummary summary = summary_of(errors);
  summary.quantity = quantity;
  summary.group = group;
  return summary;
}

std::optional<CalibratedSummary> summarise_calibrated(const std::vector<JudgedRecord>& records) {
  CalibratedSummary summary;
  std::vector<SignedError> errors;
  for (const JudgedRecord& record : records) {
    if (!record.calibrated) continue;
    errors.push_back({record.calibrated->error, &record.record->id});
    for (const ComparedQuantity& one : record.comparisons) {
      if (one.quantity == Quantity::kStepTime) summary.mean_without += std::abs(one.error);
    }
    std::vector<FittedConstant>& known = summary.constants;
    const FittedConstant& constant = record.calibrated->constant;
    if (std::find(known.begin(), known.end(), constant) == known.end()) known.push_back(constant);
  }
  if (errors.empty()) return std::nullopt;
  summary.errors = summary_of(errors);
  summary.mean_without /= summary.errors.records;
  return summary;
}

std::vector<JudgedSource> judge_results(const ResultsFile& results, const Calibrations& calibrations,
                                        const std::string& only, const ModelEffects& effects) {
  std::vector<JudgedSource> all;
  struct Place {
    std::size_t source, record;
    const FittedConstant* constant;
  };
  std::vector<Place> places;
  for (const ResultSource& source : results.sources) {
    if (!only.empty() && source.name != only) continue;
    JudgedSource judged = judged_source(results, source);
    for (std::size_t k = 0; k < judged.records.size(); ++k) {
      const HardwareFormat machine = machine_of(*judged.records[k].record);
      const FittedConstant* constant = constant_without(calibrations, machine, source.name);
      places.push_back({all.size(), k, constant});
      std::vector<HardwareFormat>& missing = judged.without_constant;
      if (constant != nullptr || machine.empty()) continue;
      if (std::find(missing.begin(), missing.end(), machine) == missing.end()) missing.push_back(machine);
    }
    all.push_back(std::move(judged));
  }
  for_each_index(places.size(), threads_for(places.size(), 0), [&](std::size_t k) {
    judge_record(all[places[k].source].records[places[k].record], places[k].constant, effects);
  });
  for (JudgedSource& source : all) add_summaries(source);
  return all;
}

}  // namespace debubble
