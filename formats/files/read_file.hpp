// Files read whole, up to a limit that is checked while they are read.
//
// What is longer is refused before it is in memory: a regular file by its size, a pipe or a compressed file once it has
// given too much. Devices (/dev/zero) are no files; a terminal and /dev/null are.
#pragma once

#include <cstddef>
#include <string>

#include "formats/files/plain_text.hpp"

namespace debubble {

// The whole file as it is; also one that debubble brings with it (path_or_shipped). Throws InputError: C005 with the
// system's reason when it cannot be read, P017 when it has more than `most` bytes, C066 when a result goes there.
[[nodiscard]] std::string read_file(const std::string& path, const std::string& place,
                                    std::size_t most = kMostTableBytes);

// The same, out of gzip when it is in gzip; `most` holds for the text. Throws K001 for a damaged gzip file, too.
[[nodiscard]] std::string read_text_file(const std::string& path, const std::string& place,
                                         std::size_t most = kMostTableBytes);

}  // namespace debubble
