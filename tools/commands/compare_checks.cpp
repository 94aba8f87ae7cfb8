#include "tools/commands/compare_checks.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "formats/exporters/report_json.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"
#include "tools/views/compare_rows.hpp"

namespace debubble {

void check_compared_params(const Scenario& scenario, const std::vector<std::string>& names) {
  std::set<std::string> unknown;
  for (const auto& [key, value] : scenario.params) unknown.insert(key);
  for (const std::string& name : names) {
    for (const auto& [key, value] : scenario_for(scenario, name).params) {
      if (find_schedule(name) != nullptr) unknown.erase(key);
    }
  }
  std::vector<Diagnostic> diagnostics;
  for (const std::string& key : unknown) {
    diagnostics.push_back({"S002", "--param " + key, "none of the compared schedules has a parameter \"" + key + "\"",
                           "see `debubble list schedules`"});
  }
  if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
}

void require_equal_work(const std::vector<Contender>& contenders) {
  const Report* first = nullptr;
  const auto size = [](const ScheduleFacts& facts) {
    return "-p " + std::to_string(facts.devices) + " -m " + std::to_string(facts.microbatches);
  };
  for (const Contender& contender : contenders) {
    const Report& report = contender.report;
    if (!has_result(report)) continue;
    if (first == nullptr) first = &report;
    const ScheduleFacts& a = first->schedule;
    const ScheduleFacts& b = report.schedule;
    if (a.devices == b.devices && a.microbatches == b.microbatches) continue;
    throw InputError(
        Diagnostic{"C001", "--schedule",
                   a.name + " runs " + size(a) + ", " + b.name + " " + size(b) + ": their step times do not compare",
                   "give the table's numbers to all, with -p and -m"});
  }
}

void check_compare_figure(const std::string& show) {
  if (show.empty() || show == "bars" || show == "front") return;
  fail("C002", "--show", "\"" + show + "\" is nothing that a figure of a comparison shows", "bars or front");
}

void refuse_figure_of_unequal_work() {
  fail("C087", "--figure", "a figure compares step times, and these runs do not do the same work in a step",
       "compare schedules on equal devices, or leave --figure out");
}

figure::Drawing compare_figure(const std::vector<Contender>& contenders, const std::string& show,
                               const figure::FigureFrame& frame) {
  std::vector<figure::ComparedBar> bars;
  std::vector<figure::FrontPoint> points;
  std::size_t refused = 0;
  std::optional<Bytes> capacity;  // the same for all: of the hardware
  for (const Contender& contender : contenders) {
    const Report& report = contender.report;
    if (!has_result(report)) {
      ++refused;
      continue;
    }
    Bytes peak = 0;
    for (const DeviceReport& device : report.devices) peak = std::max(peak, device.peak_memory);
    if (report.memory_fit) capacity = report.memory_fit->capacity;
    const std::string label = schedule_label(report.schedule);
    bars.push_back({label, report.makespan, report.bubble_ratio, peak});
    points.push_back({label, report.makespan, peak});
  }
  figure::FigureFrame whole = frame;
  if (!whole.limit) whole.limit = capacity;
  if (refused > 0)
    whole.description = counted(refused, "schedule") + " without a result left out. " + frame.description;
  return show == "front" ? front_figure(points, whole) : bars_figure(bars, whole);
}

}  // namespace debubble
