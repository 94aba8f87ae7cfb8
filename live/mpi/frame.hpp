// Frame: a Message as MPI carries it. Whole blocks (MessagePassing::kBlock), zeros after the payload:
//
//     | header, 128 bytes: kind, tensor, iteration, chain, checksum, times, payload's length | payload | 0 ... 0 |
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "live/transport.hpp"

namespace debubble::live {

// Bytes rounded up to whole blocks.
[[nodiscard]] std::size_t whole_blocks(std::size_t bytes);

[[nodiscard]] std::vector<std::byte> to_frame(const Message& message);
// Throws std::logic_error when this is no frame.
[[nodiscard]] Message from_frame(std::span<const std::byte> frame);

}  // namespace debubble::live
