#include "tools/views/accuracy/bubbles_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "formats/json/json.hpp"
#include "formats/text/columns.hpp"
#include "formats/text/quantities.hpp"
#include "formats/version.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"
#include "tools/views/escape.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

using Side = Table::Side;

constexpr std::string_view kBubblesIntroduction =
    "# Bubbles: predicted and measured\n\n"
    "Written by `debubble accuracy --bubbles --format markdown`; a test compares this page with what the binary "
    "prints. "
    "The runs of [traces/measured](../traces/measured/README.md) are public recordings and figures of real training on "
    "many GPUs. Each is predicted on levels, which differ in what the prediction knew:\n\n"
    "- **replay**: how long each op and transfer of that very step took. This tests order and dependencies.\n"
    "- **medians**: the medians of the other steps of the run, by stage and kind of op. This is what a prediction from "
    "a "
    "profile can reach.\n"
    "- **timers**: of a training log, the last rank's own timers in the other lines, taken for every stage. The bubble "
    "is that of the last stage alone, for the log says nothing of the others.\n"
    "- **forecast**: stage times that were measured apart from the run. This is what a user gets before it.\n\n"
    "The bubble is the idle share of the step over all devices, from the first op's begin to the last op's end. Ideal "
    "is "
    "the bubble of the same order of ops with equal stages, backwards that take twice a forward, and no transfers. "
    "Errors "
    "are predicted - measured, in points, and predicted / measured - 1 for the step. They are counted by run: of a "
    "recording, both sides are means over its steps. Nothing is fitted.\n\n";

std::string as_percent(double share) { return fmt::format("{:.2f} %", 100 * share); }
std::string as_points(double share) { return fmt::format("{:+.2f}", 100 * share); }
std::string as_error(double share) { return fmt::format("{:+.2f} %", 100 * share); }

std::string setting_of(const JudgedRun& run) {
  return fmt::format("{}, p={}, m={}", run.schedule, run.devices, run.microbatches);
}

std::string bubble_errors(const JudgedRun& run, BubbleLevel level) {
  if (!run.predicted[static_cast<std::size_t>(level)]) return "";
  return as_points(run.bubble_error(level)) + " / " + as_error(run.step_error(level));
}

// Those that some run of the source has.
std::vector<BubbleLevel> levels_of(const std::vector<JudgedRun>& runs, const std::string& source) {
  std::vector<BubbleLevel> levels;
  for (const BubbleLevel level : kLevels) {
    const bool has = std::any_of(runs.begin(), runs.end(), [&](const JudgedRun& run) {
      return run.row->source == source && run.predicted[static_cast<std::size_t>(level)];
    });
    if (has) levels.push_back(level);
  }
  return levels;
}

Json summary_json_of(const std::vector<JudgedRun>& runs) {
  Json all;
  for (const BubbleLevel level : kLevels) {
    const LevelSummary summary = summary_of(runs, level);
    all[to_string(level)] = {{"runs", summary.runs},
                             {"bubble_mean_absolute_error", summary.bubble_mean_absolute},
                             {"bubble_bias", summary.bubble_bias},
                             {"bubble_worst", summary.bubble_worst},
                             {"bubble_worst_run", summary.bubble_worst_id},
                             {"step_mean_absolute_error", summary.step_mean_absolute},
                             {"step_bias", summary.step_bias},
                             {"step_worst", summary.step_worst},
                             {"step_worst_run", summary.step_worst_id}};
  }
  return all;
}

}  // namespace

std::string bubbles_text(const std::vector<JudgedRun>& runs, const MeasuredList& list, const ViewStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string text;
  const auto add = [&](const std::string& paragraph, std::size_t indent) {
    bool first = true;
    for (const std::string& line : wrap(paragraph, width - indent)) {
      text += std::string(first ? 0 : indent, ' ') + line + "\n";
      first = false;
    }
  };
  add("bubbles of measured runs; errors are predicted - measured in points / of the step", 2);
  for (const MeasuredSource& source : list.sources) {
    text += "\n";
    add(source.name + ": " + source.title, 2);
    const std::vector<BubbleLevel> levels = levels_of(runs, source.name);
    std::vector<Table::Column> columns{{"run", Side::kLeft}, {"ideal", Side::kRight}, {"measured", Side::kRight}};
    for (const BubbleLevel level : levels) columns.push_back({to_string(level), Side::kRight});
    Table table(std::move(columns));
    for (const JudgedRun& run : runs) {
      if (run.row->source != source.name) continue;
      std::vector<std::string> fields{run.row->id, as_percent(run.ideal), as_percent(run.measured.bubble)};
      for (const BubbleLevel level : levels) fields.push_back(bubble_errors(run, level));
      table.add_row(std::move(fields));
    }
    text += table.text(width, 2);
    for (const std::string& effect : source.not_modelled) add("  not modelled: " + effect, 4);
  }
  text += "\n";
  for (const BubbleLevel level : kLevels) {
    const LevelSummary summary = summary_of(runs, level);
    if (summary.runs == 0) continue;
    add(fmt::format("{} of {} run{}: bubble off by {:.2f} points in the mean, {} at worst ({}); the step by {} in the "
                    "mean, {} at worst ({})",
                    to_string(level), summary.runs, summary.runs == 1 ? "" : "s", 100 * summary.bubble_mean_absolute,
                    as_points(summary.bubble_worst), summary.bubble_worst_id, as_percent(summary.step_mean_absolute),
                    as_error(summary.step_worst), summary.step_worst_id),
        2);
  }
  return text;
}

std::string bubbles_markdown(const std::vector<JudgedRun>& runs, const MeasuredList& list) {
  std::string text(kBubblesIntroduction);
  text +=
      "| level | runs | bubble: mean absolute error | bias | worst | step: mean absolute error | bias | worst |\n"
      "|---|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const BubbleLevel level : kLevels) {
    const LevelSummary summary = summary_of(runs, level);
    text +=
        fmt::format("| {} | {} | {:.2f} points | {} | {} | {} | {} | {} |\n", to_string(level), summary.runs,
                    100 * summary.bubble_mean_absolute, as_points(summary.bubble_bias), as_points(summary.bubble_worst),
                    as_percent(summary.step_mean_absolute), as_error(summary.step_bias), as_error(summary.step_worst));
  }
  for (const MeasuredSource& source : list.sources) {
    text +=
        fmt::format("\n## {}\n\n{}. From {}. Licence: {}.\n\nNot modelled:\n\n", source.name,
                    markdown_escaped(source.title), markdown_escaped(source.where), markdown_escaped(source.licence));
    for (const std::string& effect : source.not_modelled) text += "- " + markdown_escaped(effect) + "\n";
    const std::vector<BubbleLevel> levels = levels_of(runs, source.name);
    std::string names;
    std::string rule;
    for (const BubbleLevel level : levels) {
      names += std::string(" ") + to_string(level) + " |";
      rule += "--:|";
    }
    text += "\n| run | schedule | steps | step | ideal bubble | measured bubble |" + names +
            "\n|---|---|--:|--:|--:|--:|" + rule + "\n";
    for (const JudgedRun& run : runs) {
      if (run.row->source != source.name) continue;
      text +=
          fmt::format("| {} | {} | {} | {} | {} | {} |", run.row->id, setting_of(run),
                      run.steps == 0 ? "" : std::to_string(run.steps), format_duration(std::llround(run.measured.step)),
                      as_percent(run.ideal), as_percent(run.measured.bubble));
      for (const BubbleLevel level : levels) text += " " + bubble_errors(run, level) + " |";
      text += "\n";
    }
  }
  return text;
}

std::string bubbles_json(const std::vector<JudgedRun>& runs, const MeasuredList& list,
                         const std::string& command_line) {
  Json rows = Json::array();
  for (const JudgedRun& run : runs) {
    Json levels;
    for (const BubbleLevel level : kLevels) {
      const auto& predicted = run.predicted[static_cast<std::size_t>(level)];
      if (!predicted) {
        levels[to_string(level)] = nullptr;
        continue;
      }
      levels[to_string(level)] = {{"bubble_ratio", predicted->bubble},
                                  {"step_ns", predicted->step},
                                  {"bubble_error", run.bubble_error(level)},
                                  {"step_error", run.step_error(level)}};
    }
    rows.push_back({{"id", run.row->id},
                    {"source", run.row->source},
                    {"schedule", run.schedule},
                    {"devices", run.devices},
                    {"microbatches", run.microbatches},
                    {"steps", run.steps},
                    {"ideal_bubble_ratio", run.ideal},
                    {"bubble_ratio", run.measured.bubble},
                    {"step_ns", run.measured.step},
                    {"predicted", levels}});
  }
  Json sources = Json::array();
  for (const MeasuredSource& source : list.sources) {
    sources.push_back({{"source", source.name},
                       {"title", source.title},
                       {"where", source.where},
                       {"licence", source.licence},
                       {"not_modelled", source.not_modelled}});
  }
  const Json json = {{"schema", "debubble.bubbles/1"},
                     {"tool", {{"name", "debubble"}, {"version", kVersion}}},
                     {"command_line", command_line},
                     {"summary", summary_json_of(runs)},
                     {"sources", sources},
                     {"runs", rows}};
  return json.text(2) + "\n";
}

}  // namespace debubble
