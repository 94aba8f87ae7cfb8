// A run's Chrome trace, to a file that is already open.
#pragma once

#include <string>

#include "tools/exporters/output_file.hpp"
#include "tools/run.hpp"

namespace debubble {

// Writes and commits. The run must have a timeline.
void write_trace(const Run& run, const std::string& command_line, OutputFile& file);

}  // namespace debubble
