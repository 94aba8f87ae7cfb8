#include "studies/accuracy/accuracy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
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

void judge_record(JudgedRecord& judged, const Calibration* calibration) {
  try {
    const Prediction prediction = predict(*judged.record, calibration);
    for (const MeasuredQuantity& measured : judged.record->measured) {
      judged.comparisons.push_back(compare(measured, prediction));
    }
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

void add_summaries(JudgedSource& judged) {
  for (const Quantity quantity : {Quantity::kStepTime, Quantity::kPeakMemory, Quantity::kBubble}) {
    ErrorSummary summary = summarise(judged.records, quantity, Half::kJudged);
    for (const auto& [wanted, per_cent] : judged.source->targets) {
      if (wanted == quantity) summary.target = per_cent / 100;
    }
    if (summary.records > 0) judged.judged.push_back(std::move(summary));
    ErrorSummary fitted = summarise(judged.records, quantity, Half::kFitted);
    if (fitted.records > 0) judged.fitted.push_back(std::move(fitted));
  }
}

}  // namespace

const char* to_string(Half half) { return half == Half::kFitted ? "fitted" : "judged"; }

std::vector<Half> halves(const ResultSource& source, const std::vector<const ResultRecord*>& records) {
  std::vector<Half> list(records.size(), Half::kJudged);
  if (source.constants.empty()) return list;
  std::map<std::vector<std::string>, Half> setups;
  for (std::size_t k = 0; k < records.size(); ++k) {
    const Half next = setups.size() % 2 == 0 ? Half::kFitted : Half::kJudged;
    list[k] = setups.emplace(records[k]->arguments, next).first->second;
  }
  return list;
}

ErrorSummary summarise(const std::vector<JudgedRecord>& records, Quantity quantity, Half half) {
  ErrorSummary summary;
  summary.quantity = quantity;
  for (const JudgedRecord& record : records) {
    if (record.half != half) continue;
    for (const ComparedQuantity& one : record.comparisons) {
      if (one.quantity != quantity) continue;
      ++summary.records;
      summary.mean_absolute += std::abs(one.error);
      summary.bias += one.error;
      if (summary.worst_id.empty() || std::abs(one.error) > std::abs(summary.worst)) {
        summary.worst = one.error;
        summary.worst_id = record.record->id;
      }
    }
  }
  if (summary.records > 0) {
    summary.mean_absolute /= summary.records;
    summary.bias /= summary.records;
  }
  return summary;
}

std::vector<JudgedSource> judge_results(const ResultsFile& results, const Calibrations& calibrations,
                                        const std::string& only) {
  std::vector<JudgedSource> all;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // source, record
  for (const ResultSource& source : results.sources) {
    if (!only.empty() && source.name != only) continue;
    JudgedSource judged;
    judged.source = &source;
    const auto found = calibrations.find(source.name);
    if (!source.constants.empty()) judged.calibration = found == calibrations.end() ? Calibration{} : found->second;
    const std::vector<const ResultRecord*> records = records_of(results, source);
    const std::vector<Half> half = halves(source, records);
    for (std::size_t k = 0; k < records.size(); ++k) {
      judged.records.push_back({records[k], half[k], {}, {}});
      places.emplace_back(all.size(), k);
    }
    all.push_back(std::move(judged));
  }
  for_each_index(places.size(), threads_for(places.size(), 0), [&](std::size_t k) {
    JudgedSource& source = all[places[k].first];
    judge_record(source.records[places[k].second], source.calibration ? &*source.calibration : nullptr);
  });
  for (JudgedSource& source : all) add_summaries(source);
  return all;
}

}  // namespace debubble
