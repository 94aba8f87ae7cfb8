// Whether a run is one that a framework does today: what makes the best of a comparison something that can be run.
#pragma once

#include <string>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "schedules/common/contract.hpp"
#include "sim/analysis/report.hpp"

namespace debubble {

// The schedule as it is, without parameters and transforms other than recompute, with a number of microbatches that the
// framework takes. `entry` null (a file): false, for nobody knows.
[[nodiscard]] bool runs_today(const ScheduleEntry* entry, const Scenario& scenario, const Report& report,
                              const std::string& framework);

// Those of kFrameworks that do it: "Megatron-LM", "torchtitan", "DeepSpeed".
[[nodiscard]] std::vector<std::string> frameworks_today(const ScheduleEntry* entry, const Scenario& scenario,
                                                        const Report& report);

}  // namespace debubble
