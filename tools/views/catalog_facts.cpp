#include "tools/views/catalog_facts.hpp"

#include <array>

#include "formats/json/json.hpp"
#include "schedules/transforms/catalog.hpp"
#include "sim/topologies/catalog.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

using FactLines = std::vector<std::pair<std::string, std::string>>;

std::string certainty_text(const ScheduleEntry& entry) {
  const std::string word = to_string(entry.certainty);
  return entry.certainty_note.empty() ? word : word + ": " + entry.certainty_note;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> schedule_facts(const ScheduleEntry& entry) {
  FactLines facts{{"what", entry.summary}};
  if (!entry.advice.empty()) facts.emplace_back("use", entry.advice);
  facts.emplace_back("needs", entry.needs.empty() ? "nothing but one copy of the weights" : entry.needs);
  facts.emplace_back("legal", entry.constraints);
  for (const ParamSpec& param : entry.params) {
    facts.emplace_back("--param", param.name + "=" + param_words(param));
  }
  if (entry.uses_costs) facts.emplace_back("order", "follows from the times, sizes and links it is given");
  if (!entry.makespan.text.empty()) facts.emplace_back("makespan", entry.makespan.text);
  if (!entry.peak.text.empty()) facts.emplace_back("peak", entry.peak.text);
  facts.emplace_back("runs in", entry.frameworks.empty() ? "no framework that we know of" : entry.frameworks);
  facts.emplace_back("certainty", certainty_text(entry));
  facts.emplace_back("source", entry.citation);
  return facts;
}

std::string schedule_facts_text(const ScheduleEntry& entry, const ViewStyle& style) {
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  for (const auto& [label, text] : schedule_facts(entry)) table.add_row({label, text});
  return paint(style.color, kBold, entry.name) + "\n" + table.text(static_cast<std::size_t>(style.width), 2);
}

std::string formula_letters() {
  return "p devices, d the device (0 first), m microbatches, v stages per device, S stages, s the stage (0 first), "
         "g the group, k the slices per microbatch; f, b, i, w: forward, whole backward, input and weight gradient of "
         "one device share, fb an overlapped pair; h the share of an activation held from I to W (--w-share); peaks in "
         "activations of one device share";
}

std::string param_words(const ParamSpec& param) {
  return param.values + " (default " + param.default_value + "): " + param.help;
}

Json params_json(const std::vector<ParamSpec>& params) {
  return json_list(params, [](const ParamSpec& param) -> Json {
    return {{"name", param.name}, {"values", param.values}, {"default", param.default_value}, {"help", param.help}};
  });
}

std::string transform_text(const TransformEntry& entry, const ViewStyle& style) {
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  table.add_row({"what", entry.summary});
  table.add_row({"use", entry.advice});
  table.add_row({"legal", entry.constraints});
  for (const ParamSpec& param : entry.params) {
    table.add_row({":" + param.name, param_words(param)});
  }
  if (entry.uses_costs) table.add_row({"order", "may follow from the times, sizes and links it is given"});
  table.add_row({"certainty", std::string(to_string(entry.certainty)) + ": " + entry.certainty_note});
  table.add_row({"source", entry.citation});
  return paint(style.color, kBold, entry.name) + "\n" + table.text(static_cast<std::size_t>(style.width), 2);
}

std::string transforms_text(const ViewStyle& style) {
  std::string text;
  for (const TransformEntry& entry : transform_catalog()) {
    if (!text.empty()) text += "\n";
    text += transform_text(entry, style);
  }
  return text;
}

std::string transforms_json() {
  Json list = json_list(transform_catalog(), [](const TransformEntry& entry) -> Json {
    return {{"name", entry.name},
            {"summary", entry.summary},
            {"citation", entry.citation},
            {"constraints", entry.constraints},
            {"params", params_json(entry.params)},
            {"certainty", to_string(entry.certainty)},
            {"certainty_note", entry.certainty_note},
            {"advice", entry.advice},
            {"uses_costs", entry.uses_costs}};
  });
  return Json{{"schema_version", 1}, {"transforms", list}}.text(2) + "\n";
}

namespace {

constexpr const char* kIdeal = "every pair of devices has its own link: --comm latency, --bandwidth, no sharing";

std::string param_text(const TopologyParam& param) {
  std::string text = param.help + ": " + preset_value_text(param.kind, param.value);
  if (!param.origin.empty()) text += "; " + param.origin;
  return param.origin.empty() && param.source == Source::kDefault
             ? text
             : text + " (" + std::string(to_string(param.source)) + ")";
}

std::string facts_text(const TopologyEntry& entry, const ViewStyle& style) {
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  table.add_row({"what", entry.summary});
  if (!entry.units.empty()) table.add_row({"N", entry.units});
  for (const TopologyParam& param : entry.params) table.add_row({"," + param.name, param_text(param)});
  const bool fits = entry.form.size() <= static_cast<std::size_t>(style.width);
  return paint(style.color, kBold, fits ? entry.form : entry.name) + "\n" +
         table.text(static_cast<std::size_t>(style.width), 2);
}

const char* kind_word(TopologyParam::Kind kind) {
  constexpr std::array<const char*, 4> kWords{"bytes_per_s", "ns", "count", "thousandths"};
  return kWords.at(static_cast<std::size_t>(kind));
}

}  // namespace

std::string topology_text(std::string_view name, const ViewStyle& style) {
  if (const TopologyEntry* entry = find_topology(name)) return facts_text(*entry, style);
  Table ideal({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  ideal.add_row({"what", kIdeal});
  return paint(style.color, kBold, "ideal") + "\n" + ideal.text(static_cast<std::size_t>(style.width), 2);
}

std::string topologies_text(const ViewStyle& style) {
  std::string text = topology_text("ideal", style);
  for (const TopologyEntry& entry : topology_catalog()) text += "\n" + facts_text(entry, style);
  Table file({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  file.add_row(
      {"what", "nodes and links of your own; `debubble export --to topology-json` shows any of the above as one"});
  return text + "\n" + paint(style.color, kBold, "FILE.json") + "\n" +
         file.text(static_cast<std::size_t>(style.width), 2);
}

std::string topologies_json() {
  Json list = Json::array();
  list.push_back(
      {{"name", "ideal"}, {"form", "ideal"}, {"summary", kIdeal}, {"units", nullptr}, {"params", Json::array()}});
  for (const TopologyEntry& entry : topology_catalog()) {
    Json params = json_list(entry.params, [](const TopologyParam& param) -> Json {
      return {{"name", param.name}, {"unit", kind_word(param.kind)},     {"default", param.value},
              {"help", param.help}, {"source", to_string(param.source)}, {"origin", param.origin}};
    });
    list.push_back({{"name", entry.name},
                    {"form", entry.form},
                    {"summary", entry.summary},
                    {"units", entry.units.empty() ? Json(nullptr) : Json(entry.units)},
                    {"params", params}});
  }
  return Json{{"schema_version", 1}, {"topologies", list}}.text(2) + "\n";
}

}  // namespace debubble
