// What our own traces promise beyond what any viewer needs: the facts, times printed from whole nanoseconds, one
// exclusive resource per lane, what each category of slices says. Whether they open is asked of Perfetto's own engine
// (tests/cli/check_perfetto_engine.py).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble::testing {

// Every promise that the trace breaks; empty when it keeps all.
[[nodiscard]] std::vector<std::string> broken_promises(std::string_view text);

// The contents of a file, unpacked when it is gzip. Throws std::runtime_error when it cannot be read.
[[nodiscard]] std::string read_plain_or_gzip(const std::string& path);

}  // namespace debubble::testing
