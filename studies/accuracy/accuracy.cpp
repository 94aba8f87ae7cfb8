#include "studies/accuracy/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <map>
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

void judge_record(JudgedRecord& judged, const ModelEffects& effects) {
  try {
    judged.comparisons = comparisons_of(*judged.record, predict(*judged.record, effects));
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
}

JudgedSource judged_source(const ResultsFile& results, const ResultSource& source) {
  JudgedSource judged;
  judged.source = &source;
  const std::vector<const ResultRecord*> records = records_of(results, source);
  for (const ResultRecord* record : records) judged.records.push_back({record, {}, {}});
  judged.noise = noise_of(records);
  return judged;
}

}  // namespace

std::optional<double> measured_step(const ResultRecord& record) {
  for (const MeasuredQuantity& one : record.measured) {
    if (one.quantity == Quantity::kStepTime) return one.value;
  }
  return std::nullopt;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<Noise> noise_of(const std::vector<const ResultRecord*>& records) {
  Noise noise;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const ResultRecord* record : records) {
    if (!measured_step(*record)) continue;
    const auto [found, fresh] = known.try_emplace(record->arguments, noise.setups.size());
    if (fresh) noise.setups.emplace_back();
    noise.setups[found->second].records.push_back(record);
  }
  std::erase_if(noise.setups, [](const RepeatedSetup& setup) { return setup.records.size() < 2; });
  if (noise.setups.empty()) return std::nullopt;
  std::vector<double> ratios;
  for (RepeatedSetup& setup : noise.setups) {
    std::vector<double> steps;
    for (const ResultRecord* record : setup.records) steps.push_back(measured_step(*record).value_or(0));
    const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
    setup.ratio = *most / *least;
    ratios.push_back(setup.ratio);
  }
  noise.median = median_of(ratios);
  noise.largest = *std::max_element(ratios.begin(), ratios.end());
  return noise;
}

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

std::vector<JudgedSource> judge_results(const ResultsFile& results, const std::string& only,
                                        const ModelEffects& effects) {
  std::vector<JudgedSource> all;
  for (const ResultSource& source : results.sources) {
    if (only.empty() || source.name == only) all.push_back(judged_source(results, source));
  }
  std::vector<JudgedRecord*> records;
  for (JudgedSource& source : all) {
    for (JudgedRecord& record : source.records) records.push_back(&record);
  }
  for_each_index(records.size(), threads_for(records.size(), 0),
                 [&](std::size_t k) { judge_record(*records[k], effects); });
  for (JudgedSource& source : all) add_summaries(source);
  return all;
}

}  // namespace debubble
