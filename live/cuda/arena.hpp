// Arena: places for buffers in one piece of memory, first fit, with the high-water mark of what was live. It decides
// about addresses only; a row of ops, walked once in order, gives every buffer of a run a place that never changes,
// which a CUDA graph needs.
#pragma once

#include <map>

#include "sim/core/units.hpp"

namespace debubble::live {

class Arena {
 public:
  static constexpr Bytes kAlignment = 256;
  [[nodiscard]] static constexpr Bytes rounded(Bytes bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  // Offset of a new place. A place of no bytes is at 0 and takes nothing.
  [[nodiscard]] Bytes take(Bytes bytes);
  void give_back(Bytes offset, Bytes bytes);

  [[nodiscard]] Bytes live() const { return live_; }
  [[nodiscard]] Bytes high_water() const { return high_water_; }
  [[nodiscard]] Bytes extent() const { return extent_; }  // of all places ever taken: high water and gaps

 private:
  std::map<Bytes, Bytes> free_;  // offset -> size, never two that touch
  Bytes live_ = 0;
  Bytes high_water_ = 0;
  Bytes extent_ = 0;
};

}  // namespace debubble::live
