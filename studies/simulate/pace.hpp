// The pace of a schedule without a flush: simulated on a stream that is long enough to show it.
#pragma once

#include "studies/simulate/simulate.hpp"

namespace debubble {

// Fills the report's steady period, its stream's period, and the throughput at that pace. A schedule of the catalog is
// built once more with many microbatches; any other one, and one that is long already, shows its own steady part, if it
// has one. Links that are shared and ops that vary are as in the run: of several replicas of the pipeline the slowest
// one's pace counts, its microbatches cost what the run's do, over and over, and where noise leaves no pattern the pace
// is the mean over the second half of the stream. The report must have a stream.
void add_pace(const Job& job, const Result& result, Report& report);

// Whether links on which flows meet, or ops whose times vary, take part: then the event-driven engine is asked.
[[nodiscard]] bool ops_need_events(const Job& job);

}  // namespace debubble
