// PackedName: what kind of thing something is, in which replica, and its index there, in one 64-bit number. Internal to
// sim/engine.
//
// Events and flows carry such names by the million. One number is compared and copied at once; fields that are written
// apart and read together stall.
#pragma once

#include <cstdint>

namespace debubble {

// `Kind`: an enum of at most 16 values.
template <typename Kind>
class PackedName {
 public:
  constexpr PackedName(Kind kind, int replica, std::uint32_t index)
      : packed_(static_cast<std::uint64_t>(kind) << kKindShift | static_cast<std::uint64_t>(replica) << kReplicaShift |
                index) {}

  [[nodiscard]] constexpr Kind kind() const { return static_cast<Kind>(packed_ >> kKindShift); }
  [[nodiscard]] constexpr int replica() const { return static_cast<int>(packed_ >> kReplicaShift & kMostReplicas); }
  [[nodiscard]] constexpr std::uint32_t index() const { return static_cast<std::uint32_t>(packed_); }

  // By kind, then replica, then index.
  [[nodiscard]] constexpr std::uint64_t packed() const { return packed_; }
  friend constexpr bool operator==(const PackedName& a, const PackedName& b) { return a.packed_ == b.packed_; }

 private:
  static constexpr int kKindShift = 60;
  static constexpr int kReplicaShift = 32;
  static constexpr std::uint64_t kMostReplicas = (std::uint64_t{1} << (kKindShift - kReplicaShift)) - 1;

  std::uint64_t packed_;
};

}  // namespace debubble
