#include "scenario/job/transform_findings.hpp"

#include <string>

#include "formats/exporters/report_json.hpp"
#include "formats/text/quantities.hpp"
#include "scenario/job/transforms.hpp"
#include "schedules/common/memory_limit.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

void note_precondition(Report& report) {
  if (!report.extra_work || report.extra_work->precondition == 0) return;
  report.findings.push_back({"note", "S020",
                             "each step takes " + format_duration(report.extra_work->precondition) +
                                 " more to precondition, not counted in the step time"});
}

// The device that is furthest above a limit that was written like --param memory_limit.
void warn_above(const std::string& planner, const std::string& text, Run& run) {
  const PlanningCosts costs = costs_to_plan_with(run.schedule, run.costs, run.topology);
  ScheduleRequest request;
  request.devices = run.schedule.devices;
  request.params = {{"memory_limit", text}};
  MemoryLimit limit;
  try {
    limit = memory_limit_of(request, costs, "");
  } catch (const InputError&) {
    return;  // of a file, which may say anything there
  }
  const DeviceReport* worst = nullptr;
  Bytes most = 0;
  for (const DeviceReport& device : run.report.devices) {
    const auto d = static_cast<std::size_t>(device.device);
    const Bytes above = device.peak_memory - costs.static_bytes[d] - limit.activations[d];
    if (above <= most) continue;
    most = above;
    worst = &device;
  }
  if (worst == nullptr) return;
  run.report.findings.push_back({"warning", "M030",
                                 "above the memory_limit=" + text + " that " + planner +
                                     " was planned for: " + format_size(worst->peak_memory) + " on device " +
                                     std::to_string(worst->device) + ", " + format_size(most) + " too much"});
}

}  // namespace

void add_transform_findings(Run& run) {
  if (!has_result(run.report)) return;
  note_precondition(run.report);
  const std::size_t transformed = run.schedule.name.find(" + ");
  if (transformed == std::string::npos) return;
  constexpr std::string_view kKey = "memory_limit";
  for (const auto& [key, value] : run.schedule.params) {
    if (key == kKey) warn_above(run.schedule.name.substr(0, transformed), value, run);
    if (key.ends_with(".memory_limit")) warn_above(key.substr(0, key.size() - kKey.size() - 1), value, run);
  }
}

}  // namespace debubble
