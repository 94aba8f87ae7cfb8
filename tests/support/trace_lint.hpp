// The lint of our own traces: what formats/lint finds in any trace, --strict, and what ours promise beyond that: the
// facts, times printed from whole nanoseconds, one exclusive resource per lane, what each category of slices says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble::testing {

// Everything wrong with the trace; empty when nothing is.
[[nodiscard]] std::vector<std::string> lint_trace(std::string_view text);

// The contents of a file, unpacked when it is gzip. Throws std::runtime_error when it cannot be read.
[[nodiscard]] std::string read_plain_or_gzip(const std::string& path);

}  // namespace debubble::testing
