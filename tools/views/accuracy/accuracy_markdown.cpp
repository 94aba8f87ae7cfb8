#include <fmt/format.h>

#include "tools/views/accuracy/accuracy_views.hpp"
#include "tools/views/accuracy/ranges_views.hpp"
#include "tools/views/escape.hpp"

namespace debubble {
namespace {

constexpr std::string_view kIntroduction =
    "# Accuracy\n\n"
    "Written by `debubble accuracy --format markdown`; a test compares this page with what the binary prints. Every "
    "record of [traces/published/results.json](../traces/published/results.json) is predicted by the path that "
    "`debubble simulate` takes, with the flags given there, and compared with what was measured. Bubbles of measured "
    "runs, op by op: [bubbles.md](bubbles.md). Errors are predicted / measured - 1; of a bubble rate, those of the "
    "time that the same work takes. Mean and median are of their sizes, the bias is the mean with signs. Which effects "
    "are modelled, and how, was chosen with all records in view.\n\n"
    "## Without any constant\n\n"
    "What a user of `--model` gets: nothing is fitted to a record. The targets are of these means. Where a "
    "source measured a set-up more than once, its noise floor is the median over such set-ups of by how much the "
    "longest step exceeds the shortest; an error below it is not called one of the model.\n\n";

constexpr std::string_view kWithConstant =
    "\n## With one constant\n\n"
    "One constant per hardware and number format divides all compute times. It is fitted over sources and judged on "
    "records of another one: the constant of a source comes from all other sources with the same hardware and number "
    "format, each of which counts once. Where there are none, no constant is used. The constants are in "
    "[calibration.json](../traces/published/calibration.json); `--fit` finds them again.\n\n";

std::string source_overview(const std::vector<JudgedSource>& sources) {
  std::string text =
      "| source | what | records | mean absolute error | median | bias | worst | target | noise floor |\n"
      "|---|---|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const JudgedSource& judged : sources) {
    for (const ErrorSummary& one : judged.summaries) {
      const bool has_floor = judged.noise && one.quantity == Quantity::kStepTime && one.group.empty();
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", judged.source->name, words_for(one),
                          one.records, percent(one.mean_absolute), percent(one.median_absolute), error_text(one.bias),
                          error_text(one.worst), target_text(one), has_floor ? percent(judged.noise_floor()) : "");
    }
  }
  return text;
}

std::string constant_overview(const std::vector<JudgedSource>& sources) {
  std::string text =
      "| source | constants, of other sources | records | mean absolute error | without | median | bias | worst |\n"
      "|---|---|--:|--:|--:|--:|--:|--:|\n";
  for (const JudgedSource& judged : sources) {
    if (judged.calibrated) {
      std::string constants;
      for (const FittedConstant& one : judged.calibrated->constants) {
        constants += (constants.empty() ? "" : "; ") + constant_text(one);
      }
      const ErrorSummary& errors = judged.calibrated->errors;
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", judged.source->name, constants, errors.records,
                          percent(errors.mean_absolute), percent(judged.calibrated->mean_without),
                          percent(errors.median_absolute), error_text(errors.bias), error_text(errors.worst));
    }
    std::string missing;
    for (const HardwareFormat& one : judged.without_constant)
      missing += (missing.empty() ? "" : ", ") + machine_text(one);
    if (missing.empty()) continue;
    text +=
        fmt::format("| {} | no other source has {}: no constant is used | | | | | | |\n", judged.source->name, missing);
  }
  return text;
}

std::string all_constants(const Calibrations& calibrations) {
  std::string text;
  for (const FittedConstant& one : calibrations) {
    if (one.left_out.empty() && one.sources > 1) text += "- " + constant_text(one) + "\n";
  }
  return text.empty() ? "" : "\nOver all sources, where there are several:\n\n" + text;
}

std::string software_of(const ResultRecord& record) {
  return record.software.empty() ? record.id : record.id + " (" + record.software + ")";
}

std::string noise_section(const std::vector<JudgedSource>& sources) {
  std::string text;
  std::string setups;
  for (const JudgedSource& judged : sources) {
    if (!judged.noise) continue;
    text += fmt::format("| {} | {} | {:.3f} | {:.3f} |\n", judged.source->name, judged.noise->setups.size(),
                        judged.noise->median, judged.noise->largest);
    for (const RepeatedSetup& setup : judged.noise->setups) {
      std::string records;
      for (const ResultRecord* record : setup.records) {
        records += fmt::format("{}{} {}", records.empty() ? "" : ", ", software_of(*record),
                               with_unit(Quantity::kStepTime, measured_step(*record).value_or(0)));
      }
      setups += fmt::format("| {} | {} | {:.3f} |\n", judged.source->name, markdown_escaped(records), setup.ratio);
    }
  }
  if (text.empty()) return "";
  return "\n## Noise\n\nSet-ups that were measured more than once: records with the same flags. The ratio is that of "
         "the longest step to the shortest. Where the source states its software, most of a spread may be the "
         "software's.\n\n"
         "| source | set-ups measured more than once | median ratio | largest ratio |\n|---|--:|--:|--:|\n" +
         text + "\n| source | records of one set-up | ratio |\n|---|---|--:|\n" + setups;
}

std::string calibrated_cells(const JudgedRecord& record, Quantity quantity) {
  if (quantity != Quantity::kStepTime || !record.calibrated) return " | |";
  return fmt::format(" {} | {} |", with_unit(quantity, record.calibrated->predicted),
                     error_text(record.calibrated->error));
}

std::string record_rows(const JudgedSource& judged) {
  const bool software = software_differs(judged);
  const bool constant = judged.calibrated.has_value();
  std::string text =
      fmt::format("| record |{} what | measured | predicted | error |{}{}\n|---|{}---|--:|--:|--:|{}{}\n",
                  software ? " software |" : "", judged.noise ? " |" : "", constant ? " with a constant | error |" : "",
                  software ? "---|" : "", judged.noise ? "---|" : "", constant ? "--:|--:|" : "");
  for (const JudgedRecord& record : judged.records) {
    std::string start = "| " + record.record->id + " |";
    if (software) start += " " + record.record->software + " |";
    if (!record.refused.empty()) text += fmt::format("{} {} | | | |\n", start, markdown_escaped(record.refused));
    for (const ComparedQuantity& one : record.comparisons) {
      text +=
          fmt::format("{} {} | {} | {} | {} |", start, words_for(one.quantity), with_unit(one.quantity, one.measured),
                      with_unit(one.quantity, one.predicted), error_text(one.error));
      if (judged.noise) text += " " + noise_text(judged, one.quantity, one.error) + " |";
      if (constant) text += calibrated_cells(record, one.quantity);
      text += "\n";
    }
  }
  return text;
}

std::string section(const JudgedSource& judged) {
  const ResultSource& source = *judged.source;
  std::string text = fmt::format("\n## {}\n\n{}. From {}. Licence: {}. {}.\n", source.name, source.title, source.where,
                                 source.licence, source.kind);
  const std::string software = common_software(judged);
  if (!software.empty()) text += fmt::format("\nSoftware: {}.\n", software);
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

std::string accuracy_markdown(const std::vector<JudgedSource>& sources, const ResultsFile& results,
                              const Calibrations& calibrations, const JudgedRanges& ranges) {
  std::string text = std::string(kIntroduction) + source_overview(sources);
  text += std::string(kWithConstant) + constant_overview(sources) + all_constants(calibrations);
  text += noise_section(sources);
  text += ranges_section(ranges);
  for (const JudgedSource& judged : sources) text += section(judged);
  return text + unusable(results);
}

}  // namespace debubble
