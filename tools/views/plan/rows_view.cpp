#include "tools/views/plan/rows_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/quantities.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

void add_to_list(std::string& list, const std::string& one) { list += (list.empty() ? "" : ", ") + one; }

// Rows that measured runs may rank otherwise.
std::string close_rows(const Plan& plan) {
  std::string rows;
  std::vector<double> needed;
  for (std::size_t k = 0; k < plan.rows.size(); ++k) {
    if (!plan.rows[k].is_close_to(plan.rows.front().run)) continue;
    add_to_list(rows, std::to_string(k + 1));
    needed.push_back(*plan.rows[k].needed);
  }
  if (rows.empty()) return "";
  const std::string least = format_percent(*std::min_element(needed.begin(), needed.end()));
  const std::string most = format_percent(*std::max_element(needed.begin(), needed.end()));
  return fmt::format(
      "{} cannot be told apart from 1: measured runs may rank differently where they differ by less than {} (how: "
      "docs/models.md)",
      rows, least == most ? least : least + " to " + most);
}

// "zb-v (2, 3), gis (5)"
std::string unrecorded_rows(const Plan& plan) {
  std::string parts;
  std::vector<std::string> told;
  for (const PlanRow& row : plan.rows) {
    if (row.unrecorded.empty() || std::find(told.begin(), told.end(), row.unrecorded) != told.end()) continue;
    told.push_back(row.unrecorded);
    std::string rows;
    for (std::size_t k = 0; k < plan.rows.size(); ++k) {
      if (plan.rows[k].unrecorded == row.unrecorded) add_to_list(rows, std::to_string(k + 1));
    }
    add_to_list(parts, fmt::format("{} ({})", row.unrecorded, rows));
  }
  return parts.empty() ? "" : "no measured run has " + parts;
}

}  // namespace

std::string slower(const PlannedRun& run, const PlannedRun& best) {
  return format_change(static_cast<double>(run.step) / static_cast<double>(best.step) - 1);
}

std::string rows_table(const Plan& plan, std::size_t width) {
  using Side = Table::Side;
  Table table({{"", Side::kLeft},
               {"step", Side::kRight},
               {"slower", Side::kRight},
               {"bubble", Side::kRight},
               {"memory", Side::kRight},
               {"plan", Side::kLeft}});
  const PlannedRun& best = plan.rows.front().run;
  for (std::size_t k = 0; k < plan.rows.size(); ++k) {
    const PlanRow& row = plan.rows[k];
    const std::string marks = std::string(row.is_close_to(best) ? " ~" : "") + (row.unrecorded.empty() ? "" : " ?");
    table.add_row({std::to_string(k + 1) + marks, format_duration(row.run.step), slower(row.run, best),
                   format_percent(row.run.bubble_ratio), format_size(row.run.peak), to_string(row.run.choice)});
  }
  return table.text(width);
}

std::vector<std::pair<std::string, std::string>> words_of_rows(const Plan& plan) {
  std::vector<std::pair<std::string, std::string>> words;
  const auto add = [&](const char* mark, const std::string& text) {
    if (!text.empty()) words.emplace_back(mark, text);
  };
  add("~", close_rows(plan));
  add("?", unrecorded_rows(plan));
  add("?", plan.kernels_measured ? "" : "no kernel of this GPU was measured: all times are by formulas");
  const std::vector<PlannedRun>& runs = plan.search.runs;
  const auto last = std::find_if(runs.begin(), runs.end(),
                                 [&](const PlannedRun& run) { return run.choice == plan.rows.back().run.choice; });
  const auto others = last - runs.begin() + 1 - static_cast<std::ptrdiff_t>(plan.rows.size());
  if (others > 0) {
    add("rows", fmt::format("have other ranks or ZeRO stages, a tenth less memory, or are simpler; {} between them {} "
                            "not (--format csv)",
                            others, others == 1 ? "has" : "have"));
  }
  return words;
}

}  // namespace debubble
