
#include "formats/json/json.hpp"
#include "formats/version.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"

namespace debubble {
namespace {

Json summary_json(const ErrorSummary& summary) {
  Json target = nullptr;
  if (summary.target) target = *summary.target;
  Json group = nullptr;
  if (!summary.group.empty()) group = summary.group;
  return {{"quantity", to_string(summary.quantity)},
          {"group", group},
          {"records", summary.records},
          {"mean_absolute_error", summary.mean_absolute},
          {"median_absolute_error", summary.median_absolute},
          {"bias", summary.bias},
          {"worst", summary.worst},
          {"worst_record", summary.worst_id},
          {"target", target}};
}

Json noise_json(const std::optional<Noise>& noise) {
  if (!noise) return nullptr;
  Json setups = Json::array();
  for (const RepeatedSetup& setup : noise->setups) {
    Json records = json_list(setup.records, [](const ResultRecord* record) { return record->id; });
    setups.push_back({{"records", records}, {"ratio", setup.ratio}});
  }
  return {{"median_ratio", noise->median}, {"largest_ratio", noise->largest}, {"setups", setups}};
}

Json record_json(const JudgedSource& source, const JudgedRecord& judged) {
  Json comparisons = Json::array();
  for (const ComparedQuantity& one : judged.comparisons) {
    Json json{{"quantity", to_string(one.quantity)},
              {"measured", one.measured},
              {"predicted", one.predicted},
              {"error", one.error}};
    if (one.quantity == Quantity::kStepTime) {
      json["within_noise"] = !noise_text(source, one.quantity, one.error).empty();
    }
    comparisons.push_back(json);
  }
  Json record{{"id", judged.record->id}, {"command", command_of(*judged.record)}, {"comparisons", comparisons}};
  if (!judged.record->group.empty()) record["group"] = judged.record->group;
  if (!judged.record->software.empty()) record["software"] = judged.record->software;
  if (!judged.refused.empty()) record["refused"] = judged.refused;
  return record;
}

Json source_json(const JudgedSource& judged) {
  Json records = json_list(judged.records, [&](const JudgedRecord& record) { return record_json(judged, record); });
  Json summaries = json_list(judged.summaries, summary_json);
  return {{"source", judged.source->name},
          {"title", judged.source->title},
          {"where", judged.source->where},
          {"licence", judged.source->licence},
          {"without_constants", summaries},
          {"noise", noise_json(judged.noise)},
          {"not_modelled", judged.source->not_modelled},
          {"records", records}};
}

}  // namespace

std::string accuracy_json(const std::vector<JudgedSource>& sources, const ResultsFile& results,
                          const JudgedRanges& ranges, const std::string& command_line) {
  Json list = json_list(sources, source_json);
  Json unusable = json_list(results.unusable, [](const UnusableResult& one) -> Json {
    return {{"id", one.id}, {"source", one.source}, {"reason", one.reason}};
  });
  const Json document{{"schema", "debubble.accuracy/3"},  {"version", std::string(kVersion)},
                      {"command", command_line},          {"sources", list},
                      {"ranges", ranges_json_of(ranges)}, {"unusable", unusable}};
  return document.text(2) + "\n";
}

}  // namespace debubble
