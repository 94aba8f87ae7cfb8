#include "tools/views/compare_assumptions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "formats/exporters/report_json.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"

namespace debubble {

namespace {

bool same(const Assumption& a, const Assumption& b) {
  return a.key == b.key && a.subject == b.subject && a.amount == b.amount && a.source == b.source;
}

bool makes(const Report& run, const Assumption& assumption) {
  return std::any_of(run.assumptions.begin(), run.assumptions.end(),
                     [&](const Assumption& own) { return same(own, assumption); });
}

std::vector<std::size_t> with_result(std::span<const Report> reports) {
  std::vector<std::size_t> runs;
  for (std::size_t k = 0; k < reports.size(); ++k) {
    if (has_result(reports[k])) runs.push_back(k);
  }
  return runs;
}

void add_of_some(std::vector<std::size_t> makers, const Assumption& assumption, ComparedAssumptions& compared) {
  const auto group = std::find_if(compared.of_some.begin(), compared.of_some.end(),
                                  [&](const auto& one) { return one.runs == makers; });
  if (group == compared.of_some.end()) {
    compared.of_some.push_back({std::move(makers), {assumption}});
  } else {
    group->assumptions.push_back(assumption);
  }
}

using Group = ComparedAssumptions::OfSome;

std::vector<std::size_t> all_but(const std::vector<std::size_t>& runs, const std::vector<std::size_t>& all) {
  std::vector<std::size_t> others;
  std::set_difference(all.begin(), all.end(), runs.begin(), runs.end(), std::back_inserter(others));
  return others;
}

// Those that make it, or, where that is the shorter list, those that do not.
std::string who(const std::vector<std::size_t>& makers, std::span<const Report> reports) {
  const std::vector<std::size_t> all = with_result(reports);
  const bool few = 2 * makers.size() <= all.size();
  std::string text;
  for (const std::size_t run : few ? makers : all_but(makers, all)) {
    text += (text.empty() ? "" : ", ") + reports[run].schedule.name;
  }
  return (few ? "only " : "all but ") + text;
}

std::string assumption_line(const std::string& whose, const Group& group) {
  std::string line = whose + ":";
  for (std::size_t k = 0; k < group.assumptions.size(); ++k) {
    const Assumption& one = group.assumptions[k];
    line += fmt::format("{} {} {} ({})", k == 0 ? "" : ";", label(one), full_text(one), to_string(one.source));
  }
  return line;
}

// Small groups first, each followed by what all others assume instead.
std::vector<std::string> assumption_lines(std::vector<Group> groups, std::span<const Report> reports) {
  const std::vector<std::size_t> all = with_result(reports);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.runs.size() < b.runs.size(); });
  std::vector<std::string> lines;
  while (!groups.empty()) {
    const Group group = groups.front();
    groups.erase(groups.begin());
    lines.push_back(assumption_line(who(group.runs, reports), group));
    const auto others = std::find_if(groups.begin(), groups.end(),
                                     [&](const Group& other) { return other.runs == all_but(group.runs, all); });
    if (others == groups.end()) continue;
    lines.push_back(assumption_line("the others", *others));
    groups.erase(others);
  }
  return lines;
}

}  // namespace

ComparedAssumptions compared_assumptions(std::span<const Report> reports) {
  ComparedAssumptions compared;
  const std::vector<std::size_t> runs = with_result(reports);
  std::vector<Assumption> seen;
  for (const std::size_t run : runs) {
    for (const Assumption& assumption : reports[run].assumptions) {
      const bool in_row = assumption.key == assumption_key::kStagesPerDevice;  // "interleaved v=2"
      const auto is_same = [&](const Assumption& other) { return same(other, assumption); };
      if (in_row || std::any_of(seen.begin(), seen.end(), is_same)) continue;
      seen.push_back(assumption);
      std::vector<std::size_t> makers;
      std::copy_if(runs.begin(), runs.end(), std::back_inserter(makers),
                   [&](std::size_t one) { return makes(reports[one], assumption); });
      if (makers.size() == runs.size()) {
        compared.shared.push_back(assumption);
      } else if (assumption.key != assumption_key::kPartition) {  // follows the number of stages; JSON has it
        add_of_some(std::move(makers), assumption, compared);
      }
    }
  }
  return compared;
}

std::string assumptions_of_some(const ComparedAssumptions& assumptions, std::span<const Report> reports,
                                const ViewStyle& style) {
  constexpr std::size_t kIndent = 2;
  std::string text;
  for (const std::string& line : assumption_lines(assumptions.of_some, reports)) {
    text += paragraph_after(std::string(kIndent, ' '), line, style, 2 * kIndent);
  }
  return text;
}

}  // namespace debubble
