// The facts of a run that a Chrome trace carries in addition to its events.
#pragma once

#include <string>

#include "formats/exporters/chrome_trace.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// Whether the facts have the schedule's rows, which make a trace readable as a run and are as long as the run.
enum class TraceRows { kKeep, kLeaveOut };

// A flat JSON object, for Perfetto makes one queryable row of each key. Keys carry their unit, as in the JSON report.
// With costs in `info` the trace can be read back (formats/run/open_trace.hpp): "costs of stage 0" is then one text,
// "forward_ns=1000000 backward_ns=2000000 ...".
[[nodiscard]] std::string trace_facts(const Timeline& timeline, const Schedule& schedule, const Report& report,
                                      const TraceInfo& info, TraceRows rows = TraceRows::kKeep);

}  // namespace debubble
