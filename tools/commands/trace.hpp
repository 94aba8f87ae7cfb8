// What a run leaves for other tools, to files that are already open. The caller commits them.
#pragma once

#include <string>

#include "tools/exporters/output_file.hpp"
#include "tools/run.hpp"

namespace debubble {

// Chrome's trace. The run must have a timeline.
void write_trace(const Run& run, const std::string& command_line, OutputFile& file);

// PyTorch's table; says on stderr when the table means something else by a microbatch than the schedule.
void write_table(const Schedule& schedule, OutputFile& file);

}  // namespace debubble
