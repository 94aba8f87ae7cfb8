#include "tests/workload/fake_cuda_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

#include "tests/workload/block_runner.hpp"
#include "tests/workload/cuda_shim.hpp"
#include "tests/workload/host_kernels.hpp"

namespace debubble::testing {
namespace {

// The text says which data type it was made for.
const test::HostKernels& kernels_of(const std::string& text) {
  if (text.starts_with("#define DEBUBBLE_BF16")) return test::host_kernels_bf16();
  if (text.starts_with("#define DEBUBBLE_FP16")) return test::host_kernels_fp16();
  return test::host_kernels_fp32();
}

}  // namespace

int parameter_count(const std::string& text, const std::string& kernel) {
  for (const std::string& start : {"KERNEL(" + kernel + ")(", "void " + kernel + "("}) {
    const std::size_t at = text.find(start);
    if (at == std::string::npos) continue;
    const std::size_t open = at + start.size();
    const std::string parameters = text.substr(open, text.find(')', open) - open);
    return 1 + static_cast<int>(std::count(parameters.begin(), parameters.end(), ','));
  }
  return -1;
}

void run_kernel(const std::string& text, const std::string& kernel, unsigned blocks, unsigned threads,
                void** arguments) {
  if (kernel == "debubble_hold") return;
  if (kernel == "debubble_tick") {
    unsigned* count = nullptr;
    std::memcpy(&count, arguments[0], sizeof count);
    *count += 1;
    return;
  }
  const test::HostKernels& kernels = kernels_of(text);
  const auto found = kernels.find(kernel);
  if (found == kernels.end()) throw std::logic_error("no host kernel " + kernel);
  const std::span<void* const> values(arguments, static_cast<std::size_t>(parameter_count(text, kernel)));
  static test::BlockRunner runner;
  test::gridDim.x = blocks;
  test::blockDim.x = threads;
  for (unsigned block = 0; block < blocks; ++block) {
    test::blockIdx.x = block;
    runner.run(static_cast<int>(threads), [&found, values] { found->second(values); });
  }
}

}  // namespace debubble::testing
