#include "tools/catalog/schedule_example.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/exporters/report_json.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/quantities.hpp"
#include "studies/simulate/simulate.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/gantt.hpp"

namespace debubble {

namespace {

// Small enough to read, large enough for every row: DualPipe needs two microbatches per device.
constexpr int kExampleDevices = 4;
constexpr int kExampleMicrobatches = 8;

std::string example_numbers(const Report& report) {
  double peak = 0;
  for (const DeviceReport& device : report.devices) peak = std::max(peak, device.peak_activation_shares);
  return fmt::format("step {}, bubble {} of the step, peak {:.2f} activations of a device share",
                     format_duration(report.makespan), format_percent(report.bubble_ratio), peak);
}

}  // namespace

ScheduleExample schedule_example(const ScheduleEntry& entry, const ViewStyle& style) {
  ScenarioFlags flags;
  flags.devices = kExampleDevices;
  flags.microbatches = kExampleMicrobatches;
  StderrProgress progress;
  const Simulated run = simulate(check_scenario(flags), entry.name, progress);
  ScheduleExample example;
  example.command =
      fmt::format("debubble simulate --schedule {} -p {} -m {}", entry.name, kExampleDevices, kExampleMicrobatches);
  if (!has_result(run.result.report)) return example;
  example.drawing = gantt(run.result.timeline, style, {&run.job.schedule, &run.job.costs});
  example.numbers = example_numbers(run.result.report);
  return example;
}

}  // namespace debubble
