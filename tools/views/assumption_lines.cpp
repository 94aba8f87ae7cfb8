#include "tools/views/assumption_lines.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <sstream>

#include "tools/views/ansi.hpp"
#include "tools/views/brief_assumptions.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::array<Source, 5> kSourceOrder = {Source::kDefault, Source::kModelled, Source::kMeasured,
                                                Source::kPublished, Source::kGiven};

Table source_table() { return Table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}}); }

std::string every_assumption(const std::vector<Assumption>& all, const ViewStyle& style) {
  Table table = source_table();
  for (const Source source : kSourceOrder) {
    for (const Assumption& one : all) {
      if (one.source != source) continue;
      const std::string whose = one.subject.empty() ? "" : one.subject + " ";
      table.add_row({to_string(source), fmt::format("{}{}: {}", whose, label(one), full_text(one))});
    }
  }
  return paint(style.color, kBold, "assumed") + "\n" + table.text(static_cast<std::size_t>(style.width), 2);
}

// The first of the lines, and what shows the others.
std::string cut_after(const std::string& text, std::size_t most) {
  std::istringstream lines(text);
  std::string kept;
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (count + 1 < most) kept += line + "\n";
    if (count + 1 == most) kept += lines.peek() == std::char_traits<char>::eof() ? line + "\n" : "  ...\n";
  }
  return kept;
}

}  // namespace

std::string assumption_lines(const std::vector<Assumption>& assumptions, std::size_t most_lines,
                             const ViewStyle& style) {
  if (assumptions.empty()) return "";
  if (style.all_assumptions) return every_assumption(assumptions, style);
  const std::vector<BriefAssumption> brief = brief_assumptions(unsettled(assumptions));
  Table table = source_table();
  for (const Source source : kSourceOrder) {
    std::string text;
    for (const BriefAssumption& one : brief) {
      if (one.source == source) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", one.what, one.amount);
    }
    if (!text.empty()) table.add_row({to_string(source), text});
  }
  const std::string all = fmt::format(" (--assumptions shows all {})", assumptions.size());
  const std::string lead = paint(style.color, kBold, "assumed");
  if (brief.empty()) return lead + " nothing" + all + "\n";
  return cut_after(lead + all + "\n" + table.text(static_cast<std::size_t>(style.width), 2), most_lines);
}

std::string assumption_lines(const std::vector<Assumption>& assumptions, const ViewStyle& style) {
  return assumption_lines(assumptions, std::numeric_limits<std::size_t>::max(), style);
}

}  // namespace debubble
