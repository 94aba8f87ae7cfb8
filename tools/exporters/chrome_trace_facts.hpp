// The facts of a run that a Chrome trace carries beside its events.
#pragma once

#include <string>

#include "sim/analysis/report.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"
#include "tools/exporters/chrome_trace.hpp"

namespace debubble {

// A flat JSON object, for Perfetto makes one queryable row of each key. Keys carry their unit, as in the JSON report.
[[nodiscard]] std::string trace_facts(const Timeline& timeline, const Schedule& schedule, const Report& report,
                                      const TraceInfo& info);

}  // namespace debubble
