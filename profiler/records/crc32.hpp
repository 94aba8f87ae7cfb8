// CRC-32 of zlib and PNG (polynomial 0xEDB88320), of our own: this code is loaded into programs of others, which bring
// their own zlib. Eight bytes a step; a test compares it with zlib's.
#pragma once

#include <cstdint>
#include <string_view>

namespace debubble {

[[nodiscard]] std::uint32_t crc32_of(std::string_view bytes);

}  // namespace debubble
