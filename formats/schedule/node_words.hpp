// What the writer and the reader of node lists share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/core/schedule.hpp"

namespace debubble {

// "F", "B", "W", "BW", "R"; "" for what node lists do not have.
[[nodiscard]] std::string_view node_word(OpKind kind);

// By stage: which of its device's stages it is, in model order.
[[nodiscard]] std::vector<std::int32_t> chunks_of(const Schedule& schedule);

// The device at the other end of a transfer between a stage and a neighbour; nothing where there is no such stage, or
// both are on one device.
[[nodiscard]] std::optional<std::int32_t> peer_of(const Schedule& schedule, std::int32_t stage, std::int32_t neighbour);

}  // namespace debubble
