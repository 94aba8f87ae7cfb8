#include "studies/simulate/transform_findings.hpp"

#include <string>

#include "formats/exporters/report_json.hpp"
#include "scenario/job/transforms.hpp"
#include "schedules/common/memory_limit.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

void note_precondition(Report& report) {
  if (!report.extra_work || report.extra_work->precondition == 0) return;
  report.findings.emplace_back(PreconditionTime{report.extra_work->precondition});
}

// The device that is furthest above a limit that was written like --param memory_limit.
void warn_above(const std::string& planner, const std::string& text, const Job& job, Report& report) {
  const PlanningCosts costs = costs_to_plan_with(job.schedule, job.costs, job.topology);
  ScheduleRequest request;
  request.devices = job.schedule.devices;
  request.params = {{"memory_limit", text}};
  MemoryLimit limit;
  try {
    limit = memory_limit_of(request, costs, "");
  } catch (const InputError&) {
    return;  // of a file, which may say anything there
  }
  const DeviceReport* worst = nullptr;
  Bytes most = 0;
  for (const DeviceReport& device : report.devices) {
    const auto d = static_cast<std::size_t>(device.device);
    const Bytes above = device.peak_memory - costs.static_bytes[d] - limit.activations[d];
    if (above <= most) continue;
    most = above;
    worst = &device;
  }
  if (worst == nullptr) return;
  report.findings.emplace_back(AbovePlannedMemory{planner, text, worst->device, worst->peak_memory, most});
}

}  // namespace

void add_transform_findings(const Job& job, Report& report) {
  if (!has_result(report)) return;
  note_precondition(report);
  const std::size_t transformed = job.schedule.name.find(" + ");
  if (transformed == std::string::npos) return;
  constexpr std::string_view kKey = "memory_limit";
  for (const auto& [key, value] : job.schedule.params) {
    if (key == kKey) warn_above(job.schedule.name.substr(0, transformed), value, job, report);
    if (key.ends_with(".memory_limit")) warn_above(key.substr(0, key.size() - kKey.size() - 1), value, job, report);
  }
}

}  // namespace debubble
