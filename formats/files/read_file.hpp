// Files read whole.
#pragma once

#include <string>

namespace debubble {

// The whole file as text; also one that debubble brings with it (path_or_shipped). Throws InputError C005 with the
// system's reason when it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path, const std::string& place);

}  // namespace debubble
