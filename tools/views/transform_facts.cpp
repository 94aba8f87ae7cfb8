#include "tools/views/transform_facts.hpp"

#include "formats/json/json.hpp"
#include "schedules/transforms/catalog.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/param_facts.hpp"
#include "tools/views/table.hpp"

namespace debubble {

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
  Json list = Json::array();
  for (const TransformEntry& entry : transform_catalog()) {
    list.push_back({{"name", entry.name},
                    {"summary", entry.summary},
                    {"citation", entry.citation},
                    {"constraints", entry.constraints},
                    {"params", params_json(entry.params)},
                    {"certainty", to_string(entry.certainty)},
                    {"certainty_note", entry.certainty_note},
                    {"advice", entry.advice},
                    {"uses_costs", entry.uses_costs}});
  }
  return Json{{"schema_version", 1}, {"transforms", list}}.text(2) + "\n";
}

}  // namespace debubble
