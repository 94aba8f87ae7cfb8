// What a copy is called in our records, by CUPTI's number of its kind (CUpti_ActivityMemcpyKind), which Nsight Systems
// writes too.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace debubble {

inline constexpr std::int64_t kPeerCopyKind = 10;

// "copy" for a number that is no kind of copy.
[[nodiscard]] constexpr std::string_view copy_name(std::int64_t kind) {
  constexpr std::array<std::string_view, kPeerCopyKind + 1> kNames = {"copy",
                                                                      "copy host to device",
                                                                      "copy device to host",
                                                                      "copy host to array",
                                                                      "copy array to host",
                                                                      "copy array to array",
                                                                      "copy array to device",
                                                                      "copy device to array",
                                                                      "copy device to device",
                                                                      "copy host to host",
                                                                      "copy peer to peer"};
  return kNames[kind > 0 && kind <= kPeerCopyKind ? static_cast<std::size_t>(kind) : 0];
}

}  // namespace debubble
