// Plays the CUDA driver's and NVTX's part for a test program: loads the injection library as they do, and issues GPU
// work of fixed lengths on one stream.
//
//     FakeDriver driver;                 // cuInit: calls InitializeInjection of $CUDA_INJECTION64_PATH
//     FakeNvtx nvtx;                     // at the first call: InitializeInjectionNvtx2 of $NVTX_INJECTION64_PATH
//     nvtx.push("step"); driver.kernel("gemm", 10'000); nvtx.pop();
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "profiler/injection/nvtx_abi.hpp"
#include "tests/recording/fake_cupti.hpp"

namespace debubble::testing {

class FakeDriver {
 public:
  void init();  // once; what cuInit does with an injection library
  // Work of `length` ns on stream 7, 500 ns behind the work before, not before now. Any thread.
  void kernel(const std::string& name, std::uint64_t length);
  void copy_to_device(std::uint64_t bytes, std::uint64_t length);
  void memory(std::uint64_t address, std::int64_t bytes) const;

  [[nodiscard]] std::uint64_t works() const { return works_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }  // ns, of all work

 private:
  std::uint64_t begin_of(std::uint64_t length);

  FakeCupti gpu_;
  std::mutex mutex_;
  std::uint64_t free_ = 0;  // when the stream is
  std::uint64_t works_ = 0;
  std::uint64_t total_ = 0;
};

// One shared object's NVTX: its tables, filled in by the injection library.
class FakeNvtx {
 public:
  FakeNvtx();
  void push(const std::string& text);
  void pop();
  void push_wide();
  void mark(const char* text);
  std::uint64_t start(const char* text);
  void end(std::uint64_t id);
  const void* domain(const char* name);
  const void* registered(const void* domain, const char* text);
  void domain_push(const void* domain, const void* registered_text);
  void domain_push(const void* domain, const char* text);
  void domain_pop(const void* domain);

 private:
  void push_attributes(const void* domain, std::int32_t type, const void* message);

  nvtx_abi::AnyFunction core_[16] = {};
  nvtx_abi::AnyFunction core2_[16] = {};
};

}  // namespace debubble::testing
