#include "live/cuda/arena.hpp"

#include <algorithm>
#include <iterator>

namespace debubble::live {

Bytes Arena::take(Bytes bytes) {
  const Bytes size = rounded(bytes);
  if (size == 0) return 0;
  live_ += size;
  high_water_ = std::max(high_water_, live_);
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    if (hole->second < size) continue;
    const auto [offset, room] = *hole;
    free_.erase(hole);
    if (room > size) free_[offset + size] = room - size;
    return offset;
  }
  // The last hole may reach up to the end: grow it.
  Bytes offset = extent_;
  if (!free_.empty()) {
    const auto last = std::prev(free_.end());
    if (last->first + last->second == extent_) {
      offset = last->first;
      free_.erase(last);
    }
  }
  extent_ = offset + size;
  return offset;
}

void Arena::give_back(Bytes offset, Bytes bytes) {
  Bytes size = rounded(bytes);
  if (size == 0) return;
  live_ -= size;
  auto next = free_.lower_bound(offset);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      size += before->second;
      free_.erase(before);
    }
  }
  if (next != free_.end() && offset + size == next->first) {
    size += next->second;
    free_.erase(next);
  }
  free_[offset] = size;
}

}  // namespace debubble::live
