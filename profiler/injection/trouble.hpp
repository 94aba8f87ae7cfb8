// Trouble at the start or end of an injected recording: the program under test goes on, so it is said once on stderr
// and written to a file that the launcher turns into its own message and exit status.
//
//     DIR/trouble-<pid>.txt     U003: another profiler is attached to this process: ...; end Nsight Systems, ...
#pragma once

#include <string>

#include "sim/core/error.hpp"

namespace debubble {

// `folder` may be empty: then only stderr. One line per trouble.
void report_trouble(const std::string& folder, const Diagnostic& diagnostic);

}  // namespace debubble
