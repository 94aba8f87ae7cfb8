// The Perfetto trace of a run whose spans are not kept: the same bytes as write_perfetto_trace (formats/exporters)
// writes of the run's Timeline, from the rows as they go by. The run goes by twice: once for what began each cell, 4
// bytes a cell, of which the critical path follows, and once to be written.
#pragma once

#include <cstdint>

#include "formats/exporters/chrome_trace.hpp"
#include "formats/files/text_sink.hpp"
#include "scenario/job/job.hpp"
#include "sim/analysis/report.hpp"

namespace debubble {

// Of a run of which there is a brief report (brief_report.hpp), which is `report`. Returns how many events were
// written. Throws what `sink` throws.
std::int64_t write_streamed_trace(const Job& job, const Report& report, const TraceInfo& info, const TextSink& sink);

}  // namespace debubble
