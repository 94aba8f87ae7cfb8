
#include "formats/json/json.hpp"
#include "formats/version.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"

namespace debubble {
namespace {

Json summary_json(const ErrorSummary& summary) {
  Json target = nullptr;
  if (summary.target) target = *summary.target;
  return {{"quantity", to_string(summary.quantity)},
          {"records", summary.records},
          {"mean_absolute_error", summary.mean_absolute},
          {"bias", summary.bias},
          {"worst", summary.worst},
          {"worst_record", summary.worst_id},
          {"target", target}};
}

Json summaries_json(const std::vector<ErrorSummary>& summaries) {
  Json list = Json::array();
  for (const ErrorSummary& summary : summaries) list.push_back(summary_json(summary));
  return list;
}

Json record_json(const JudgedRecord& judged, const std::optional<Calibration>& calibration) {
  Json comparisons = Json::array();
  for (const ComparedQuantity& one : judged.comparisons) {
    comparisons.push_back({{"quantity", to_string(one.quantity)},
                           {"measured", one.measured},
                           {"predicted", one.predicted},
                           {"error", one.error}});
  }
  Json record{{"id", judged.record->id},
              {"half", to_string(judged.half)},
              {"command", command_of(*judged.record, calibration ? &*calibration : nullptr)},
              {"comparisons", comparisons}};
  if (!judged.refused.empty()) record["refused"] = judged.refused;
  return record;
}

Json source_json(const JudgedSource& judged) {
  Json constants = nullptr;
  if (judged.calibration) {
    constants = {{"compute", judged.calibration->compute}, {"network", judged.calibration->network}};
  }
  Json records = Json::array();
  for (const JudgedRecord& record : judged.records) records.push_back(record_json(record, judged.calibration));
  return {{"source", judged.source->name},
          {"title", judged.source->title},
          {"where", judged.source->where},
          {"licence", judged.source->licence},
          {"constants", constants},
          {"judged", summaries_json(judged.judged)},
          {"fitted", summaries_json(judged.fitted)},
          {"not_modelled", judged.source->not_modelled},
          {"records", records}};
}

}  // namespace

std::string accuracy_json(const std::vector<JudgedSource>& sources, const ResultsFile& results,
                          const std::string& command_line) {
  Json list = Json::array();
  for (const JudgedSource& judged : sources) list.push_back(source_json(judged));
  Json unusable = Json::array();
  for (const UnusableResult& one : results.unusable) {
    unusable.push_back({{"id", one.id}, {"source", one.source}, {"reason", one.reason}});
  }
  const Json document{{"schema", "debubble.accuracy/1"},
                      {"version", std::string(kVersion)},
                      {"command", command_line},
                      {"sources", list},
                      {"unusable", unusable}};
  return document.text(2) + "\n";
}

}  // namespace debubble
