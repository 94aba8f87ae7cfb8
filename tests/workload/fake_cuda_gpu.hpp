// FakeGpu: the state behind the fake CUDA libraries: options, memory, streams and time. See fake_cuda.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tests/workload/fake_cuda.hpp"

namespace debubble::testing {

struct FakeStream {
  std::uint32_t number = 0;
  Nanoseconds end = 0;         // of what was issued so far
  Nanoseconds not_before = 0;  // what follows waits for another stream until then
};

struct FakeEvent {
  Nanoseconds time = -1;  // -1: never recorded
  std::uint32_t stream = 0;
};

// A module is the text of its kernels.
struct FakeModule {
  std::string text;
};

class FakeGpu {
 public:
  static FakeGpu& one();

  // $FAKE_CUDA, as it is now: tests change it between cases.
  [[nodiscard]] static bool has(std::string_view word);
  [[nodiscard]] static std::string value(std::string_view word);
  [[nodiscard]] static std::int64_t number(std::string_view word, std::int64_t otherwise);

  // nullptr: out of memory.
  [[nodiscard]] void* allocate(std::size_t bytes);
  [[nodiscard]] bool release(void* address);
  [[nodiscard]] std::size_t free_memory() const;

  // Time passes on the stream; the fake CUPTI hears of it.
  void kernel(FakeStream& stream, const std::string& name, Nanoseconds duration);
  void copy(FakeStream& stream, std::uint8_t kind, std::size_t bytes);
  void set(FakeStream& stream, std::size_t bytes);

  [[nodiscard]] FakeStream* make_stream();
  // The stream of a null handle, which exists always.
  [[nodiscard]] FakeStream& default_stream() { return default_stream_; }

  int broken = 0;  // error of a kernel that broke the context; every later synchronisation returns it
  std::int64_t live_objects = 0;
  [[nodiscard]] std::int64_t live_bytes() const { return static_cast<std::int64_t>(used_); }

 private:
  FakeGpu();
  Nanoseconds pass(FakeStream& stream, Nanoseconds duration);  // returns the begin

  std::map<void*, std::size_t> sizes_;
  std::size_t used_ = 0;
  Nanoseconds latest_ = 0;
  std::uint32_t streams_ = 7;  // CUPTI counts from the default stream's 7
  FakeStream default_stream_;
};

}  // namespace debubble::testing
