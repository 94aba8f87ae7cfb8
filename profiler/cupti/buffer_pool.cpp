#include "profiler/cupti/buffer_pool.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace debubble {

namespace {

// CUPTI may have written behind what it declares valid, so the whole buffer is looked at. Pages that nobody has written
// are only read: they stay the system's one page of zeros and cost no memory.
void clear(std::uint8_t* buffer, std::size_t used) noexcept {
  constexpr std::size_t kPage = 4096;
  static const std::uint8_t zeros[kPage] = {};
  const std::size_t whole = std::min((used + kPage - 1) / kPage * kPage, BufferPool::kSize);
  std::memset(buffer, 0, whole);
  for (std::size_t at = whole; at < BufferPool::kSize; at += kPage) {
    if (std::memcmp(buffer + at, zeros, kPage) != 0) std::memset(buffer + at, 0, kPage);
  }
}

}  // namespace

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
  clear(buffer, std::min(used, kSize));
  const std::lock_guard lock(mutex_);
  --out_;
  try {
    free_.push_back(buffer);
  } catch (...) {
    std::free(buffer);  // NOLINT: from calloc
  }
}

}  // namespace debubble
