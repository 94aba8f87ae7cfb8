// analyse: Timeline -> Report.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// Fills everything that follows from the timeline itself: ratios, spans, idle by cause, memory, critical path, volume.
// Leaves assumptions, steady_period and throughput to the caller, who knows the model. Linear in the number of spans;
// how far the wait before one reaches back counts by its logarithm.
[[nodiscard]] Report analyse(const Timeline& timeline, const Schedule& schedule, const StageCosts& costs);

// What a report says about the schedule itself.
[[nodiscard]] ScheduleFacts facts_of(const Schedule& schedule);

// What one device share holds for one microbatch, in bytes: the whole model's activations over the devices.
[[nodiscard]] double activation_share(const StageCosts& costs, int devices);

// The steps of every device's memory, static state first (sim/analysis/memory.cpp). Index: device.
[[nodiscard]] std::vector<std::vector<MemoryPoint>> memory_curves(const Timeline& timeline, const Schedule& schedule,
                                                                  const StageCosts& costs);

// The wait of a span's device just before it, split as in DeviceReport; all 0 where the device had work until then.
[[nodiscard]] NanosecondsByCause wait_by_cause(const Timeline& timeline, std::int32_t span);

// The spans, transfers and other things of the critical path, first to last: what to shorten to shorten the step.
[[nodiscard]] std::vector<Gate> critical_path(const Timeline& timeline);

}  // namespace debubble
