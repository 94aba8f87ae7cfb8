// Trace lint: does a Chrome trace keep the rules by which Perfetto and chrome://tracing read it as we mean it?
//
// It knows nothing of how traces are written; the rules come from the readers' importers: the object form, allowed
// phases, exact times, thread ids, nesting of slices, order of events, arrows that bind, counters, names and facts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble::testing {

// Everything wrong with the trace, in file order; empty when nothing is.
[[nodiscard]] std::vector<std::string> lint_trace(std::string_view text);

// The contents of a file, unpacked when it is gzip. Throws std::runtime_error when it cannot be read.
[[nodiscard]] std::string read_plain_or_gzip(const std::string& path);

}  // namespace debubble::testing
