#include "tools/views/assumption_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <sstream>

#include "tools/views/ansi.hpp"
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

namespace {

bool says_nothing_new(const Assumption& one) {
  if (!one.subject.empty() && one.source == Source::kGiven)
    return true;  // typed with the topology, whose text is shown
  return one.source == Source::kDefault && !one.changes_result;
}

}  // namespace

std::vector<BriefAssumption> brief_assumptions(const std::vector<Assumption>& all) {
  std::vector<BriefAssumption> brief;
  for (const Assumption& one : all) {
    if (says_nothing_new(one)) continue;
    if (one.subject.empty()) {
      brief.push_back({label(one), one.amount, one.source});
      continue;
    }
    const std::string text = one.key + " " + one.amount;
    const auto together = std::find_if(brief.begin(), brief.end(), [&](const BriefAssumption& other) {
      return other.what == one.subject && other.source == one.source;
    });
    if (together == brief.end()) {
      brief.push_back({one.subject, text, one.source});
    } else {
      together->amount += ", " + text;
    }
  }
  return brief;
}

std::vector<Assumption> unsettled(const std::vector<Assumption>& all) {
  std::vector<Assumption> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), [](const Assumption& one) {
    return one.changes_result && (one.source == Source::kDefault || one.source == Source::kModelled);
  });
  return some;
}

}  // namespace debubble
