#include "tools/views/trace_lint.hpp"

#include <cstddef>
#include <cstdint>

#include "formats/json/json.hpp"
#include "formats/text/printable.hpp"
#include "sim/core/words.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

std::string lint_counts(const TraceLint& lint) {
  return counted(lint.events, "event") + ": " + counted(lint.slices, "slice") + " on " + counted(lint.tracks, "track") +
         ", " + counted(lint.arrows, "arrow") + ", " + counted(lint.counters, "counter event");
}

std::string lint_summary(const TraceLint& lint) {
  std::string text;
  for (const auto& [rule, count] : lint.by_rule)
    text += (text.empty() ? "" : ", ") + rule + " " + std::to_string(count);
  const auto shown = static_cast<std::int64_t>(lint.findings.size());
  text = counted(lint.total(), "finding") + ": " + text;
  return shown < lint.total() ? text + "; " + std::to_string(shown) + " of them above" : text;
}

}  // namespace

std::string trace_lint_text(const std::vector<TraceLint>& lints, const ViewStyle& style) {
  std::string text;
  for (const TraceLint& lint : lints) {
    text += text.empty() ? "" : "\n";
    text += paint(style.color, kBold, printable(lint.file)) + "\n";
    text += paragraph(lint_counts(lint), style);
    if (lint.total() == 0) {
      text += "no findings\n";
      continue;
    }
    Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
    for (const TraceFinding& finding : lint.findings) {
      const std::size_t hash = finding.place.rfind('#');
      const std::string place = hash == std::string::npos ? "" : finding.place.substr(hash);
      table.add_row({finding.rule, place, printable(finding.message)});
    }
    text += table.text(static_cast<std::size_t>(style.width), 2);
    text += paragraph(lint_summary(lint), style);
  }
  return text;
}

std::string trace_lint_json(const std::vector<TraceLint>& lints, const ToolFacts& tool) {
  Json files = Json::array();
  for (const TraceLint& lint : lints) {
    Json by_rule = Json::object();
    for (const auto& [rule, count] : lint.by_rule) by_rule[rule] = count;
    Json findings = Json::array();
    for (const TraceFinding& finding : lint.findings) {
      findings.push_back({{"rule", finding.rule}, {"place", finding.place}, {"message", finding.message}});
    }
    files.push_back({{"file", lint.file},
                     {"events", lint.events},
                     {"slices", lint.slices},
                     {"tracks", lint.tracks},
                     {"arrows", lint.arrows},
                     {"counter_events", lint.counters},
                     {"finding_count", lint.total()},
                     {"by_rule", by_rule},
                     {"findings", findings}});
  }
  const Json all{{"schema_version", 1},
                 {"tool", {{"name", "debubble"}, {"version", tool.version}}},
                 {"command_line", tool.command_line},
                 {"files", files}};
  return all.text(2) + "\n";
}

}  // namespace debubble
