#include "tools/views/plan/schedule_plan_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/json/json.hpp"
#include "formats/text/columns.hpp"
#include "formats/text/csv.hpp"
#include "formats/text/printable.hpp"
#include "formats/text/shell.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/assumption_lines.hpp"
#include "tools/views/summary.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::size_t kNameColumn = 7;

std::string scheduled_name(const ScheduleTrial& trial) {
  return trial.schedule + chunks_flag(trial.schedule, trial.chunks);
}

Bytes most_on_a_device(const Report& report) {
  Bytes peak = 0;
  for (const DeviceReport& device : report.devices) peak = std::max(peak, device.peak_memory);
  return peak;
}

std::string against(const ScheduleTrial& trial, const ScheduleTrial& best) {
  return format_change(static_cast<double>(trial.report.makespan) /
                           static_cast<double>(std::max<Nanoseconds>(best.report.makespan, 1)) -
                       1);
}

void add_item(std::string& text, const std::string& name, const std::vector<std::string>& lines) {
  for (std::size_t k = 0; k < lines.size(); ++k) text += pad_right(k == 0 ? name : "", kNameColumn) + lines[k] + "\n";
}

// A PyTorch table has no words for copies to the host; our own format has.
std::string export_command(const ScheduleTrial& trial) {
  constexpr std::string_view kSimulate = "debubble simulate";
  if (trial.report.copies == 0) return trial.command + " --export-schedule order.csv";
  return "debubble export" + trial.command.substr(kSimulate.size()) + " --to schedule-json --output order.json";
}

}  // namespace

std::string schedule_plan_view(const SchedulePlan& plan, std::size_t top, const ViewStyle& style) {
  const ScheduleTrial& best = plan.best();
  const std::string title = fmt::format("schedules on {}: {}, memory_limit={}", counted(plan.devices, "device"),
                                        counted(plan.microbatches, "microbatch"), printable(plan.limit));
  std::string text = title_lines(title, style) + "\n";
  const auto room = static_cast<std::size_t>(style.width) - kNameColumn;
  Table table({{"", Table::Side::kRight},
               {"schedule"},
               {"step", Table::Side::kRight},
               {"", Table::Side::kRight},
               {"bubble", Table::Side::kRight},
               {"peak", Table::Side::kRight},
               {"needs"}});
  std::size_t shown = 0;
  std::size_t fit = 0;
  std::size_t over = 0;
  std::size_t refused = 0;
  for (std::size_t k = 0; k < plan.trials.size(); ++k) {
    const ScheduleTrial& trial = plan.trials[k];
    fit += trial.fits ? 1U : 0U;
    over += !trial.fits && has_result(trial.report) ? 1U : 0U;
    refused += has_result(trial.report) ? 0U : 1U;
    if (!trial.fits || (shown >= top && trial.proof.empty())) continue;
    ++shown;
    table.add_row({std::to_string(k + 1), scheduled_name(trial), format_duration(trial.report.makespan),
                   against(trial, best), format_percent(trial.report.bubble_ratio),
                   format_size(most_on_a_device(trial.report)), trial.needs});
  }
  add_item(text, "best",
           wrap(fmt::format("{}: step {}, bubble {}", scheduled_name(best), format_duration(best.report.makespan),
                            format_percent(best.report.bubble_ratio)),
                room));
  for (const ScheduleTrial& trial : plan.trials) {
    if (!trial.fits || trial.report.makespan >= best.report.makespan) continue;
    add_item(text, "also",
             wrap(fmt::format("{} takes {}, but not of this pipeline as it is: {}", scheduled_name(trial),
                              format_duration(trial.report.makespan), trial.needs),
                  room));
  }
  for (const ScheduleTrial& trial : plan.trials) {
    if (trial.fits && !trial.proof.empty())
      add_item(text, "proof", wrap(scheduled_name(trial) + ": " + trial.proof, room));
  }
  add_item(text, "tried",
           wrap(fmt::format("{} within the limit, {} beyond it, {} that do not run here",
                            counted(static_cast<std::int64_t>(fit), "schedule"), over, refused),
                room));
  text += "\n" + table.text(static_cast<std::size_t>(style.width)) + "\n";
  constexpr std::size_t kGoesOn = 2;
  std::vector<std::string> lines = command_lines(export_command(best), room - kGoesOn);
  for (std::size_t k = 1; k < lines.size(); ++k) lines[k].insert(0, kGoesOn, ' ');
  add_item(text, "export", lines);
  return text + "\n" + assumption_lines(best.report.assumptions, style);
}

std::string schedule_plan_json(const SchedulePlan& plan, const ToolFacts& tool) {
  Json json = json_head(1, tool);
  json["devices"] = plan.devices;
  json["microbatches"] = plan.microbatches;
  json["memory_limit"] = plan.limit;
  json["schedules"] = Json::array();
  for (const ScheduleTrial& trial : plan.trials) {
    const bool ran = has_result(trial.report);
    json["schedules"].push_back({{"schedule", trial.schedule},
                                 {"chunks", trial.chunks},
                                 {"fits", trial.fits},
                                 {"same_pipeline", trial.same},
                                 {"makespan_ns", ran ? Json(trial.report.makespan) : Json(nullptr)},
                                 {"bubble_ratio", ran ? Json(trial.report.bubble_ratio) : Json(nullptr)},
                                 {"peak_memory_bytes", ran ? Json(most_on_a_device(trial.report)) : Json(nullptr)},
                                 {"why", trial.why},
                                 {"needs", trial.needs},
                                 {"proof", trial.proof},
                                 {"command", trial.command}});
  }
  return json.text(2) + "\n";
}

std::string schedule_plan_csv(const SchedulePlan& plan) {
  std::string csv = "rank,schedule,chunks,fits,makespan_ns,bubble_ratio,peak_memory_bytes,note\n";
  int place = 0;
  for (const ScheduleTrial& trial : plan.trials) {
    const bool ran = has_result(trial.report);
    csv += fmt::format("{},{},{},{},{},{},{},{}\n", ++place, trial.schedule, trial.chunks, trial.fits ? 1 : 0,
                       ran ? std::to_string(trial.report.makespan) : "",
                       ran ? fmt::format("{:.6f}", trial.report.bubble_ratio) : "",
                       ran ? std::to_string(most_on_a_device(trial.report)) : "",
                       csv_cell(trial.why.empty() ? trial.needs : trial.why, true));
  }
  return csv;
}

}  // namespace debubble
