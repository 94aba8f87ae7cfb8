// What a run leaves for other tools, to files that are already open. The caller commits them.
#pragma once

#include <string>

#include "formats/exporters/chrome_trace.hpp"
#include "formats/files/output_file.hpp"
#include "scenario/request/flag.hpp"
#include "schedules/exchange/expressible.hpp"
#include "sim/core/run_record.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

// What a trace says about its run in addition to its events; the run must outlive it.
[[nodiscard]] TraceInfo trace_info(const Simulated& run, const std::string& command_line);

// Who ran it, by whose clock, and what memory was counted in one of its iterations.
void add_origin(TraceInfo& info, const RunRecord& record, std::size_t iteration);

struct TraceChoice {
  bool ops_only = false;  // without the tracks of idle times and of the critical path
  bool perfetto = false;  // Perfetto's own format in place of Chrome's
};

// A trace. `record` (may be null: the run is simulated) is the same run, whose median iteration is shown: the trace
// takes who ran it and what memory was counted from there. Throws InputError X005 where the machine has not the memory
// for it.
void write_trace(const Simulated& run, const std::string& command_line, const RunRecord* record,
                 const TraceChoice& choice, OutputFile& file);

// --trace-ops-only
[[nodiscard]] Flag ops_only_row(bool& target);
// Throws InputError C004 where it is given and no trace is written; `remedy` says how to write one.
void require_trace(bool ops_only, bool writes_trace, const std::string& remedy);

// Throws InputError T054, at the flag `place`, when the format has no words for some of the schedule.
void refuse_what_is_not_expressible(const Schedule& schedule, ExchangeFormat format, const std::string& format_name,
                                    const std::string& place);

// PyTorch's table; says on stderr when the table means something else by a microbatch than the schedule. Refuses what a
// table cannot say.
void write_table(const Schedule& schedule, OutputFile& file, const std::string& place = "--export-schedule");

}  // namespace debubble
