#include <fmt/format.h>

#include "tools/views/accuracy/accuracy_views.hpp"
#include "tools/views/escape.hpp"

namespace debubble {
namespace {

constexpr std::string_view kIntroduction =
    "# Accuracy\n\n"
    "Written by `debubble accuracy --format markdown`; a test compares this page with what the binary prints. Every "
    "record of [traces/published/results.json](../traces/published/results.json) is predicted by the path that "
    "`debubble simulate` takes, with the flags given there, and compared with what was measured. Bubbles of measured "
    "runs, op by op: [bubbles.md](bubbles.md).\n\n"
    "At most two constants are fitted per source: `compute` divides all kernel times, `network` all times of "
    "collectives and transfers. They are in [calibration.json](../traces/published/calibration.json); `--fit` finds "
    "them again, to the first, third, fifth, ... set-up of a source, ordered by id; the others are judged. No constant "
    "depends on a record. Errors are predicted / measured - 1; of a bubble rate, those of the time that the same work "
    "takes. Which effects are modelled, and how, was chosen with all records in view, the judged ones included: only "
    "the constants are blind to them.\n\n";

std::string source_overview(const std::vector<JudgedSource>& sources) {
  std::string text =
      "| source | what | judged | mean absolute error | bias | worst | target | fitted half | compute | network |\n"
      "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const JudgedSource& judged : sources) {
    for (std::size_t k = 0; k < judged.judged.size(); ++k) {
      const ErrorSummary& one = judged.judged[k];
      std::string fitted;
      for (const ErrorSummary& other : judged.fitted) {
        if (other.quantity == one.quantity) fitted = percent(other.mean_absolute);
      }
      const bool constants = judged.calibration.has_value();
      const std::string target =
          one.target ? fmt::format("{:g} %: {}", 100 * *one.target, verdict(one)) : std::string();
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", judged.source->name,
                          words_for(one.quantity), one.records, percent(one.mean_absolute), error_text(one.bias),
                          error_text(one.worst), target, fitted,
                          constants ? fmt::format("{}", judged.calibration->compute) : "",
                          constants ? fmt::format("{}", judged.calibration->network) : "");
    }
  }
  return text;
}

std::string record_rows(const JudgedSource& judged) {
  const bool divided = judged.calibration.has_value();
  std::string text = fmt::format("| record |{} what | measured | predicted | error |\n|---|{}---|--:|--:|--:|\n",
                                 divided ? " half |" : "", divided ? "---|" : "");
  for (const JudgedRecord& record : judged.records) {
    const std::string start = fmt::format("| {} |{}", record.record->id,
                                          divided ? fmt::format(" {} |", to_string(record.half)) : std::string());
    if (!record.refused.empty()) text += fmt::format("{} {} | | | |\n", start, markdown_escaped(record.refused));
    for (const ComparedQuantity& one : record.comparisons) {
      text +=
          fmt::format("{} {} | {} | {} | {} |\n", start, words_for(one.quantity), with_unit(one.quantity, one.measured),
                      with_unit(one.quantity, one.predicted), error_text(one.error));
    }
  }
  return text;
}

std::string section(const JudgedSource& judged) {
  const ResultSource& source = *judged.source;
  std::string text = fmt::format("\n## {}\n\n{}. From {}. Licence: {}. {}.\n", source.name, source.title, source.where,
                                 source.licence, source.kind);
  if (!source.assumed.empty()) text += fmt::format("\nAssumed: {}.\n", source.assumed);
  if (!source.not_modelled.empty()) {
    text += "\nNot modelled:\n\n";
    for (const std::string& effect : source.not_modelled) text += fmt::format("- {}\n", effect);
  }
  return text + "\n" + record_rows(judged);
}

std::string unusable(const ResultsFile& results) {
  if (results.unusable.empty()) return "";
  std::string text =
      "\n## Not usable\n\nRecords that lack what a prediction needs.\n\n| source | records | reason | ids |\n"
      "|---|--:|---|---|\n";
  for (const UnusableGroup& group : unusable_groups(results)) {
    std::string ids;
    for (const std::string& id : group.ids) ids += (ids.empty() ? "" : ", ") + id;
    text += fmt::format("| {} | {} | {} | {} |\n", group.source, group.ids.size(), group.reason, ids);
  }
  return text;
}

}  // namespace

std::string accuracy_markdown(const std::vector<JudgedSource>& sources, const ResultsFile& results) {
  std::string text = std::string(kIntroduction) + source_overview(sources);
  for (const JudgedSource& judged : sources) text += section(judged);
  return text + unusable(results);
}

}  // namespace debubble
