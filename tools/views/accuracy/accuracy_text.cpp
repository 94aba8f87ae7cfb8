#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

using Side = Table::Side;

std::vector<std::string> error_row(const std::string& name, const ErrorSummary& summary) {
  return {name,
          std::to_string(summary.records),
          format_percent_to(summary.mean_absolute, 2),
          format_percent_to(summary.median_absolute, 2),
          format_change(summary.bias),
          format_change(summary.worst),
          target_text(summary)};
}

std::string error_table(const JudgedSource& judged, const ViewStyle& style) {
  Table table({{"", Side::kLeft},
               {"records", Side::kRight},
               {"mean", Side::kRight},
               {"median", Side::kRight},
               {"bias", Side::kRight},
               {"worst", Side::kRight},
               {"target", Side::kLeft}});
  for (const ErrorSummary& summary : judged.summaries) table.add_row(error_row(words_for(summary), summary));
  return table.text(static_cast<std::size_t>(style.width), 2);
}

// What the figures are of, as a list with names.
std::string basis_table(const JudgedSource& judged, const ViewStyle& style) {
  Table table({{"", Side::kLeft}, {"", Side::kLeft}});
  table.add_row({"nothing fitted", "no figure has a constant"});
  const std::string software = common_software(judged);
  if (!software.empty()) table.add_row({"software", software});
  if (judged.noise) {
    table.add_row({"noise", fmt::format("{} measured more than once: the longest step is {:.3f} times the shortest in "
                                        "the median, {:.3f} at most",
                                        counted(judged.noise->setups.size(), "set-up"), judged.noise->median,
                                        judged.noise->largest)});
  }
  return table.text(static_cast<std::size_t>(style.width), 2);
}

std::string source_heading(const JudgedSource& judged, const ViewStyle& style) {
  return fmt::format("{}  {}\n", judged.source->name, judged.source->title) + error_table(judged, style) +
         basis_table(judged, style);
}

// Then nobody needs to be told what was measured; the summary says it.
bool only_step_times(const JudgedSource& judged) {
  return std::all_of(judged.records.begin(), judged.records.end(), [](const JudgedRecord& record) {
    const auto& all = record.comparisons;
    return record.refused.empty() && all.size() == 1 && all.front().quantity == Quantity::kStepTime;
  });
}

std::string record_table(const JudgedSource& judged, const ViewStyle& style) {
  Table table({{"record", Side::kLeft},
               {"", Side::kLeft},
               {"measured", Side::kRight},
               {"predicted", Side::kRight},
               {"error", Side::kRight},
               {"noise", Side::kLeft},
               {"software", Side::kLeft}});
  for (const JudgedRecord& record : judged.records) {
    if (!record.refused.empty()) table.add_row({record.record->id, record.refused});
    for (const ComparedQuantity& one : record.comparisons) {
      table.add_row({record.record->id, words_for(one.quantity), with_unit(one.quantity, one.measured),
                     with_unit(one.quantity, one.predicted), format_change(one.error),
                     noise_text(judged, one.quantity, one.error).empty() ? "" : "within", record.record->software});
    }
  }
  if (!software_differs(judged)) table.remove_column(6);
  if (!judged.noise) table.remove_column(5);
  if (only_step_times(judged)) table.remove_column(1);
  return table.text(static_cast<std::size_t>(style.width), 2);
}

}  // namespace

const char* words_for(Quantity quantity) { return at(std::array{"step time", "peak memory", "bubble"}, quantity); }

std::string words_for(const ErrorSummary& summary) {
  const std::string words = words_for(summary.quantity);
  return summary.group.empty() ? words : words + ", " + summary.group;
}

std::string with_unit(Quantity quantity, double value) {
  switch (quantity) {
    case Quantity::kStepTime:
      return fmt::format("{:#.4g} s", value);
    case Quantity::kPeakMemory:
      return fmt::format("{:.2f} GiB", value);
    case Quantity::kBubble:
      return fmt::format("{:.4f}", value);
  }
  return "";
}

std::string verdict(const ErrorSummary& summary) {
  if (!summary.target) return "";
  return summary.mean_absolute <= *summary.target ? "met" : "missed";
}

std::string target_text(const ErrorSummary& summary) {
  return summary.target ? fmt::format("{:g} %: {}", 100 * *summary.target, verdict(summary)) : std::string();
}

std::string noise_text(const JudgedSource& judged, Quantity quantity, double error) {
  const bool within = quantity == Quantity::kStepTime && std::abs(error) < judged.noise_floor();
  return within ? "within noise" : "";
}

bool software_differs(const JudgedSource& judged) {
  return std::any_of(judged.records.begin(), judged.records.end(), [&](const JudgedRecord& record) {
    return record.record->software != judged.records.front().record->software;
  });
}

std::string common_software(const JudgedSource& judged) {
  return judged.records.empty() || software_differs(judged) ? "" : judged.records.front().record->software;
}

std::string accuracy_text(const std::vector<JudgedSource>& sources, const ResultsFile& results,
                          const ViewStyle& style) {
  std::string text;
  for (const JudgedSource& judged : sources) {
    text += (text.empty() ? "" : "\n") + source_heading(judged, style) + record_table(judged, style);
    Table effects({{"", Side::kLeft}, {"", Side::kLeft}});
    for (const std::string& effect : judged.source->not_modelled) effects.add_row({"not modelled", effect});
    if (!judged.source->not_modelled.empty()) text += effects.text(static_cast<std::size_t>(style.width), 2);
  }
  std::size_t unusable = 0;
  for (const UnusableResult& one : results.unusable) {
    for (const JudgedSource& judged : sources) unusable += one.source == judged.source->name ? 1U : 0U;
  }
  if (unusable > 0) text += fmt::format("\n{} records of these sources lack what a prediction needs\n", unusable);
  return text;
}

}  // namespace debubble
