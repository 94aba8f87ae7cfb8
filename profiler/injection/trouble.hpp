// Trouble at the start or end of an injected recording: the program under test goes on, so it is said once on stderr
// and written to DIR/trouble-<pid>.txt (profiler/records/trouble_file.hpp), which the launcher turns into its own
// message and exit status.
#pragma once

#include <string>

#include "sim/core/error.hpp"

namespace debubble {

// `folder` may be empty: then only stderr.
void report_trouble(const std::string& folder, const Diagnostic& diagnostic);

}  // namespace debubble
