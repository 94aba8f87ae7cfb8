#include "tools/views/explain/schedule_story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "formats/exporters/report_json.hpp"
#include "scenario/check_scenario.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/suggest.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/catalog_facts.hpp"
#include "tools/views/compare_table.hpp"
#include "tools/views/diagnostics.hpp"
#include "tools/views/gantt.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

constexpr const char* kYardstick = "1f1b";  // what everybody has

double peak_shares(const Report& report) {
  double peak = 0;
  for (const DeviceReport& device : report.devices) peak = std::max(peak, device.peak_activation_shares);
  return peak;
}

std::string change(double own, double other) {
  if (other <= 0) return "";
  const double by = own / other - 1;
  if (std::abs(by) < 0.0005) return "the same";
  return fmt::format("{} {}", format_percent(std::abs(by)), by < 0 ? "less" : "more");
}

// The example's numbers next to those of 1f1b for the same job (null: it is 1f1b, or 1f1b does not take the job).
std::string numbers_text(const Report& own, const Report* yardstick, const ViewStyle& style) {
  using enum Table::Side;
  Table table(
      {{"", kLeft}, {own.schedule.name, kRight}, {yardstick == nullptr ? "" : kYardstick, kRight}, {"", kLeft}});
  const auto add = [&](const char* what, const auto& text_of, const auto& value_of) {
    std::vector<std::string> fields{what, text_of(own)};
    if (yardstick != nullptr) {
      fields.push_back(text_of(*yardstick));
      fields.push_back(change(static_cast<double>(value_of(own)), static_cast<double>(value_of(*yardstick))));
    }
    table.add_row(fields);
  };
  const auto count = [&](const char* what, const auto& value_of) {
    add(
        what, [&](const Report& report) { return fmt::format("{}", value_of(report)); }, value_of);
  };
  const auto step = [](const Report& report) { return report.makespan; };
  const auto bubble = [](const Report& report) { return report.bubble_ratio; };
  add(
      "step", [&](const Report& report) { return format_duration(step(report)); }, step);
  if (own.stream && own.stream->period && yardstick != nullptr) {  // what no flush is for
    const auto pace = [](const Report& report) {
      return report.stream && report.stream->period ? std::llround(report.stream->period->per_microbatch())
                                                    : report.makespan / std::max(1, report.schedule.microbatches);
    };
    add(
        "per microbatch, in a stream", [&](const Report& report) { return format_duration(pace(report)); }, pace);
  }
  add(
      "bubble", [&](const Report& report) { return format_percent(bubble(report)); }, bubble);
  add(
      "peak activations", [](const Report& report) { return fmt::format("{:.2f}", peak_shares(report)); }, peak_shares);
  count("copies of the weights", [](const Report& report) { return weight_copies(report); });
  count("messages", [](const Report& report) { return report.p2p_messages; });
  return table.text(static_cast<std::size_t>(style.width), 2);
}

std::string story_numbers(const ScheduleEntry& entry, const Simulated& own, const Scenario& scenario,
                          Progress& progress, const ViewStyle& style) {
  if (entry.name == kYardstick) return numbers_text(own.result.report, nullptr, style);
  Scenario plain = scenario;
  plain.params.clear();
  plain.chunks = 0;
  try {
    const Simulated other = simulate(plain, kYardstick, progress);
    return numbers_text(own.result.report, has_result(other.result.report) ? &other.result.report : nullptr, style);
  } catch (const InputError&) {
    return numbers_text(own.result.report, nullptr, style);  // 1f1b does not take this job: nothing to compare with
  }
}

std::string next(const ScheduleEntry& entry, const Simulated& own, const ScenarioFlags& scenario,
                 const ViewStyle& style) {
  const std::string flags = repeated_flags(scenario);
  const std::string size = fmt::format("-p {} -m {}{}{}", own.job.schedule.devices, own.job.schedule.microbatches,
                                       flags.empty() ? "" : " ", flags);
  return "\n" + paint(style.color, kBold, "next") + "  debubble simulate --schedule " + entry.name + " " + size +
         "\n      debubble compare --schedules all " + size + "\n";
}

}  // namespace

std::string schedule_story(const ScheduleEntry& entry, const Simulated& own, const Scenario& scenario,
                           const ScenarioFlags& flags, Progress& progress, const ViewStyle& style) {
  std::string text = schedule_facts_text(entry, style);
  const auto width = static_cast<std::size_t>(style.width);
  for (const std::string& line : wrap(formula_letters(), width - 2)) {
    text += "  " + paint(style.color, kDim, line) + "\n";
  }
  text += "\n" + paint(style.color, kBold, "for example") + "\n";
  if (!has_result(own.result.report)) return text + findings_view(own.result.report, style);
  text += gantt(own.result.timeline, style, {&own.job.schedule, &own.job.costs}) + "\n";
  return text + story_numbers(entry, own, scenario, progress, style) + next(entry, own, flags, style);
}

}  // namespace debubble
