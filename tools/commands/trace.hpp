// What a run leaves for other tools, to files that are already open. The caller commits them.
#pragma once

#include <string>

#include "tools/exporters/chrome_trace.hpp"
#include "tools/exporters/output_file.hpp"
#include "tools/run.hpp"

namespace debubble {

// What a trace says about its run beside its events; the run must outlive it.
[[nodiscard]] TraceInfo trace_info(const Run& run, const std::string& command_line);

// Chrome's trace. The run must have a timeline.
void write_trace(const Run& run, const std::string& command_line, OutputFile& file);

// PyTorch's table; says on stderr when the table means something else by a microbatch than the schedule.
void write_table(const Schedule& schedule, OutputFile& file);

}  // namespace debubble
