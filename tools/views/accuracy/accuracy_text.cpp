#include <fmt/format.h>

#include "tools/views/accuracy/accuracy_views.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

using Side = Table::Side;

std::string summary_line(const ErrorSummary& summary, const char* half) {
  std::string line =
      fmt::format("  {} of {} {} record{}: mean {}, bias {}, worst {} ({})\n", words_for(summary.quantity),
                  summary.records, half, summary.records == 1 ? "" : "s", percent(summary.mean_absolute),
                  error_text(summary.bias), error_text(summary.worst), summary.worst_id);
  if (summary.target) line += fmt::format("    target {}: {}\n", percent(*summary.target), verdict(summary));
  return line;
}

std::string source_heading(const JudgedSource& judged) {
  std::string text = fmt::format("{}  {}\n", judged.source->name, judged.source->title);
  if (judged.calibration) {
    text += fmt::format("  fitted to one half: compute {}, network {}\n", judged.calibration->compute,
                        judged.calibration->network);
  } else {
    text += "  nothing is fitted\n";
  }
  for (const ErrorSummary& summary : judged.judged) text += summary_line(summary, "judged");
  for (const ErrorSummary& summary : judged.fitted) text += summary_line(summary, "fitted");
  return text;
}

std::string record_table(const JudgedSource& judged, const ViewStyle& style) {
  Table table({{"record", Side::kLeft},
               {"half", Side::kLeft},
               {"", Side::kLeft},
               {"measured", Side::kRight},
               {"predicted", Side::kRight},
               {"error", Side::kRight}});
  for (const JudgedRecord& record : judged.records) {
    if (!record.refused.empty()) table.add_row({record.record->id, to_string(record.half), record.refused});
    for (const ComparedQuantity& one : record.comparisons) {
      table.add_row({record.record->id, to_string(record.half), words_for(one.quantity),
                     with_unit(one.quantity, one.measured), with_unit(one.quantity, one.predicted),
                     error_text(one.error)});
    }
  }
  return table.text(static_cast<std::size_t>(style.width), 2);
}

}  // namespace

std::string accuracy_text(const std::vector<JudgedSource>& sources, const ResultsFile& results,
                          const ViewStyle& style) {
  std::string text;
  for (const JudgedSource& judged : sources) {
    text += (text.empty() ? "" : "\n") + source_heading(judged) + record_table(judged, style);
    for (const std::string& effect : judged.source->not_modelled) text += "  not modelled: " + effect + "\n";
  }
  std::size_t unusable = 0;
  for (const UnusableResult& one : results.unusable) {
    for (const JudgedSource& judged : sources) unusable += one.source == judged.source->name ? 1U : 0U;
  }
  if (unusable > 0) text += fmt::format("\n{} records of these sources lack what a prediction needs\n", unusable);
  return text;
}

}  // namespace debubble
