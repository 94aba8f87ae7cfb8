#include "tools/views/topology_facts.hpp"

#include <array>

#include "formats/json/json.hpp"
#include "sim/topologies/catalog.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/table.hpp"

namespace debubble {

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
    Json params = Json::array();
    for (const TopologyParam& param : entry.params) {
      params.push_back({{"name", param.name},
                        {"unit", kind_word(param.kind)},
                        {"default", param.value},
                        {"help", param.help},
                        {"source", to_string(param.source)},
                        {"origin", param.origin}});
    }
    list.push_back({{"name", entry.name},
                    {"form", entry.form},
                    {"summary", entry.summary},
                    {"units", entry.units.empty() ? Json(nullptr) : Json(entry.units)},
                    {"params", params}});
  }
  return Json{{"schema_version", 1}, {"topologies", list}}.text(2) + "\n";
}

}  // namespace debubble
