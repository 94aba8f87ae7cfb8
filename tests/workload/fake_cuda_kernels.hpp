// Running the workload's kernels on the host, from a module's text. See fake_cuda.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "gpu/cuda_abi.hpp"
#include "tests/workload/fake_cuda_gpu.hpp"

namespace debubble::testing {

// A kernel of a module's text.
struct Kernel {
  const FakeModule* module = nullptr;
  std::string name;
  std::vector<std::size_t> sizes;  // of its parameters
  int shared_memory = static_cast<int>(cuda::kFreeSharedMemory);
  bool loaded = false;  // see the word `lazy`
};

// Functions live as long as their module or library; CUDA gives them no destructor either.
[[nodiscard]] std::map<const FakeModule*, std::map<std::string, Kernel>>& fake_kernels();

// The kernel of this name; nullptr where the text has none.
[[nodiscard]] Kernel* find_kernel(const FakeModule* module, const std::string& name);

// The values of a launch's arguments, which the caller may change once the launch has returned.
class KernelArguments {
 public:
  KernelArguments(const Kernel& kernel, void** arguments);

  template <typename Value>
  [[nodiscard]] Value read(std::size_t argument) const {
    Value value{};
    std::memcpy(&value, values_[argument].data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::vector<void*> pointers() const;

 private:
  std::vector<std::array<std::byte, 8>> values_;
};

// The executor's own kernels (live/cuda/kernels/live.inc) are run even where nothing else is computed.
inline constexpr const char* kWaitKernel = "debubble_live_wait";
[[nodiscard]] bool is_live_kernel(const std::string& name);

// Runs every block, at this time of the GPU's clock. Throws std::logic_error for a kernel nobody knows.
void run_kernel(const Kernel& kernel, unsigned blocks, unsigned threads, const KernelArguments& arguments,
                Nanoseconds time);

}  // namespace debubble::testing
