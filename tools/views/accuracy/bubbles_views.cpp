#include "tools/views/accuracy/bubbles_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "formats/json/json.hpp"
#include "formats/text/columns.hpp"
#include "formats/version.hpp"
#include "sim/core/quantities.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

using Side = Table::Side;

std::string as_points(double share) { return fmt::format("{:+.2f}", 100 * share); }

std::string bubble_errors(const JudgedRun& run, BubbleLevel level) {
  if (!run.predicted[static_cast<std::size_t>(level)]) return "";
  const std::string step = format_change(run.step_error(level), "%", 2);
  return run.has_bubble ? as_points(run.bubble_error(level)) + " / " + step : "step " + step;
}

std::string bubble_cell(const JudgedRun& run) {
  return run.has_bubble ? format_percent_to(run.measured.bubble, 2) : "not measured";
}

// Runs that are judged together: all, those of a source, or one half of these.
struct JudgedGroup {
  std::string name;
  std::vector<JudgedRun> runs;
};

std::vector<JudgedRun> runs_of(const std::vector<JudgedRun>& runs, const MeasuredSource& source) {
  std::vector<JudgedRun> found;
  for (const JudgedRun& run : runs) {
    if (run.row->source == source.name) found.push_back(run);
  }
  return found;
}

// Those that are counted together, whatever their source.
std::vector<JudgedRun> runs_of_all(const std::vector<JudgedRun>& runs, const MeasuredList& list) {
  std::vector<JudgedRun> found;
  for (const MeasuredSource& source : list.sources) {
    if (!source.counted_apart.empty()) continue;
    for (JudgedRun& run : runs_of(runs, source)) found.push_back(std::move(run));
  }
  return found;
}

// Nothing where no constant was taken from the source.
std::vector<JudgedGroup> halves_of(const std::vector<JudgedRun>& runs, const MeasuredSource& source) {
  if (source.calibrated.empty()) return {};
  std::vector<JudgedGroup> halves{{"calibrated on", {}}, {"others", {}}};
  for (const JudgedRun& run : runs_of(runs, source)) {
    halves[is_calibrated_on(source, run.row->id) ? 0 : 1].runs.push_back(run);
  }
  return halves;
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
                             {"bubble_runs", summary.bubbles},
                             {"bubble_mean_absolute_error", summary.bubble.mean_absolute},
                             {"bubble_bias", summary.bubble.bias},
                             {"bubble_worst", summary.bubble.worst},
                             {"bubble_worst_run", summary.bubble.worst_id},
                             {"step_mean_absolute_error", summary.step.mean_absolute},
                             {"step_bias", summary.step.bias},
                             {"step_worst", summary.step.worst},
                             {"step_worst_run", summary.step.worst_id}};
  }
  return all;
}

Json source_json_of(const MeasuredSource& source, const std::vector<JudgedRun>& runs) {
  Json json = {{"source", source.name},
               {"title", source.title},
               {"where", source.where},
               {"licence", source.licence},
               {"not_modelled", source.not_modelled},
               {"summary", summary_json_of(runs_of(runs, source))}};
  if (!source.counted_apart.empty()) json["counted_apart"] = source.counted_apart;
  if (source.calibrated.empty()) return json;
  const std::vector<JudgedGroup> halves = halves_of(runs, source);
  json["calibrated"] = source.calibrated;
  json["calibrated_on"] = source.calibrated_on;
  json["summary_calibrated_on"] = summary_json_of(halves[0].runs);
  json["summary_others"] = summary_json_of(halves[1].runs);
  return json;
}

std::string summary_sentence(BubbleLevel level, const LevelSummary& summary) {
  std::string text = fmt::format("{} of {} run{}: ", to_string(level), summary.runs, summary.runs == 1 ? "" : "s");
  if (summary.bubbles > 0) {
    text +=
        fmt::format("bubble off by {:.2f} points in the mean{}, {} at worst ({}); ", 100 * summary.bubble.mean_absolute,
                    summary.bubbles < summary.runs ? " of " + std::to_string(summary.bubbles) : "",
                    as_points(summary.bubble.worst), summary.bubble.worst_id);
  }
  return text + fmt::format("the step by {} in the mean, {} at worst ({})",
                            format_percent_to(summary.step.mean_absolute, 2), format_change(summary.step.worst, "%", 2),
                            summary.step.worst_id);
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
  const auto add_summaries = [&](const std::string& who, const std::vector<JudgedRun>& group) {
    for (const BubbleLevel level : kLevels) {
      const LevelSummary summary = summary_of(group, level);
      if (summary.runs > 0) add("  " + who + summary_sentence(level, summary), 4);
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
      std::vector<std::string> fields{run.row->id, format_percent_to(run.ideal, 2), bubble_cell(run)};
      for (const BubbleLevel level : levels) fields.push_back(bubble_errors(run, level));
      table.add_row(std::move(fields));
    }
    constexpr std::size_t kIdeal = 1;
    if (table.natural_width() + 2 > width) table.remove_column(kIdeal);  // it follows from p, m and v
    text += table.text(width, 2);
    const std::vector<JudgedRun> own = runs_of(runs, source);
    add_summaries("", own);
    if (!source.calibrated.empty()) add("  calibrated: " + source.calibrated, 4);
    for (const JudgedGroup& half : halves_of(runs, source)) add_summaries(half.name + ": ", half.runs);
    for (const std::string& effect : source.not_modelled) add("  not modelled: " + effect, 4);
    if (!source.counted_apart.empty()) add("  not counted with the others: " + source.counted_apart, 4);
  }
  text += "\n";
  const std::vector<JudgedRun> all = runs_of_all(runs, list);
  for (const BubbleLevel level : kLevels) {
    const LevelSummary summary = summary_of(all, level);
    if (summary.runs > 0) add(summary_sentence(level, summary), 2);
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
                                  {"makespan_ns", predicted->step},
                                  {"step_ns", predicted->step},
                                  {"bubble_error", run.has_bubble ? Json(run.bubble_error(level)) : Json(nullptr)},
                                  {"step_error", run.step_error(level)}};
    }
    rows.push_back({{"id", run.row->id},
                    {"source", run.row->source},
                    {"schedule", run.schedule},
                    {"devices", run.devices},
                    {"microbatches", run.microbatches},
                    {"steps", run.steps},
                    {"ideal_bubble_ratio", run.ideal},
                    {"bubble_ratio", run.has_bubble ? Json(run.measured.bubble) : Json(nullptr)},
                    {"makespan_ns", run.measured.step},
                    {"step_ns", run.measured.step},
                    {"predicted", levels}});
  }
  Json sources = Json::array();
  for (const MeasuredSource& source : list.sources) {
    sources.push_back(source_json_of(source, runs));
  }
  const Json json = {{"schema", "debubble.bubbles/1"},
                     {"tool", {{"name", "debubble"}, {"version", kVersion}}},
                     {"command_line", command_line},
                     {"summary", summary_json_of(runs_of_all(runs, list))},
                     {"sources", sources},
                     {"runs", rows}};
  return json.text(2) + "\n";
}

}  // namespace debubble
