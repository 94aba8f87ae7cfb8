// GroupWalk: in which order a device meets (microbatch, chunk) where groups of microbatches pass chunk by chunk.
//
//     group 2, 2 chunks:   (0, 0) (1, 0) (0, 1) (1, 1)   (2, 0) (3, 0) (2, 1) ...
#pragma once

#include <cstdint>

namespace debubble {

// A cursor, since dividing the step's number costs more than all else that a generated op takes.
class GroupWalk {
 public:
  GroupWalk(std::int32_t group, std::int32_t chunks) : group_(group), chunks_(chunks) {}

  [[nodiscard]] std::int32_t microbatch() const { return base_ + within_; }
  [[nodiscard]] std::int32_t chunk() const { return chunk_; }

  void next() {
    if (++within_ < group_) return;
    within_ = 0;
    if (++chunk_ < chunks_) return;
    chunk_ = 0;
    base_ += group_;
  }

 private:
  std::int32_t group_;
  std::int32_t chunks_;
  std::int32_t base_ = 0;
  std::int32_t chunk_ = 0;
  std::int32_t within_ = 0;
};

}  // namespace debubble
