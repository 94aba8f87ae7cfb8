#include "profiler/cupti/buffer_pool.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace debubble {

BufferPool& BufferPool::instance() {
  static auto* const pool = new BufferPool;  // NOLINT: never destroyed, see the header
  return *pool;
}

std::uint8_t* BufferPool::take(bool must) {
  {
    const std::lock_guard lock(mutex_);
    if (out_ >= kLimit && !must) return nullptr;
    ++out_;
    if (!free_.empty()) {
      std::uint8_t* const buffer = free_.back();
      free_.pop_back();
      return buffer;
    }
  }
  // calloc of this size is fresh memory of the system: zero, aligned, and not touched before it is used.
  auto* const buffer = static_cast<std::uint8_t*>(std::calloc(1, kSize));  // NOLINT: given to CUPTI and back
  if (buffer == nullptr) {
    const std::lock_guard lock(mutex_);
    --out_;
  }
  return buffer;
}

void BufferPool::give_back(std::uint8_t* buffer, std::size_t used) noexcept {
  std::memset(buffer, 0, std::min(used, kSize));
  const std::lock_guard lock(mutex_);
  --out_;
  try {
    free_.push_back(buffer);
  } catch (...) {
    std::free(buffer);  // NOLINT: from calloc
  }
}

}  // namespace debubble
