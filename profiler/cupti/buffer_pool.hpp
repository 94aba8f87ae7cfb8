// Buffers for CUPTI: 4 MiB each, zeroed before they are handed out, reused, at most kLimit of them at a time.
//
// Thread-safe. Its lock is never held across a call into CUPTI. Lives until the process ends: CUPTI may return a buffer
// late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace debubble {

class BufferPool {
 public:
  static constexpr std::size_t kSize = std::size_t{4} << 20U;
  static constexpr std::size_t kLimit = 128;

  // The pool of this process.
  static BufferPool& instance();

  // Aligned to 8 bytes and zero; null when the limit is reached and `must` is not set, or without memory.
  std::uint8_t* take(bool must);
  // Zeroes it whole; the first `used` bytes are known to be written.
  void give_back(std::uint8_t* buffer, std::size_t used) noexcept;

 private:
  std::mutex mutex_;
  std::vector<std::uint8_t*> free_;
  std::size_t out_ = 0;
};

}  // namespace debubble
