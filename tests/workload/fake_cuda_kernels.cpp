#include "tests/workload/fake_cuda_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>

#include "tests/workload/block_runner.hpp"
#include "tests/workload/cuda_shim.hpp"
#include "tests/workload/host_kernels.hpp"

namespace debubble::testing {
namespace {

// The text says which data type it was made for.
const test::HostKernels& kernels_of(const std::string& text) {
  if (text.find("debubble_live_stamp") != std::string::npos) return test::host_live_kernels();
  if (text.starts_with("#define DEBUBBLE_BF16")) return test::host_kernels_bf16();
  if (text.starts_with("#define DEBUBBLE_FP16")) return test::host_kernels_fp16();
  return test::host_kernels_fp32();
}

// The types and names of a kernel's parameters; nothing where the text has no such kernel.
std::optional<std::vector<std::string>> parameters_of(const std::string& text, const std::string& kernel) {
  for (const std::string& start : {"KERNEL(" + kernel + ")(", "void " + kernel + "("}) {
    const std::size_t at = text.find(start);
    if (at == std::string::npos) continue;
    const std::size_t open = at + start.size();
    std::istringstream list(text.substr(open, text.find(')', open) - open));
    std::vector<std::string> parameters;
    for (std::string one; std::getline(list, one, ',');) parameters.push_back(one);
    return parameters;
  }
  return std::nullopt;
}

std::size_t size_of(const std::string& parameter) {
  for (const char* const wide : {"*", "long long", "llong", "word "}) {
    if (parameter.find(wide) != std::string::npos) return 8;
  }
  return 4;
}

}  // namespace

int parameter_count(const std::string& text, const std::string& kernel) {
  const auto parameters = parameters_of(text, kernel);
  return parameters ? static_cast<int>(parameters->size()) : -1;
}

KernelArguments::KernelArguments(const std::string& text, const std::string& kernel, void** arguments) {
  const auto parameters = parameters_of(text, kernel);
  values_.resize(parameters->size());
  for (std::size_t k = 0; k < values_.size(); ++k) {
    std::memcpy(values_[k].data(), arguments[k], size_of((*parameters)[k]));
  }
}

std::vector<void*> KernelArguments::pointers() const {
  std::vector<void*> found;
  for (const auto& value : values_) found.push_back(const_cast<std::byte*>(value.data()));
  return found;
}

bool is_live_kernel(const std::string& name) { return name.starts_with("debubble_live_"); }

std::map<const FakeModule*, std::map<std::string, Kernel>>& fake_kernels() {
  static std::map<const FakeModule*, std::map<std::string, Kernel>> all;
  return all;
}

void run_kernel(const std::string& text, const std::string& kernel, unsigned blocks, unsigned threads,
                const void* const* arguments, Nanoseconds time) {
  if (kernel == "debubble_hold" || kernel == kWaitKernel) return;
  if (kernel == "debubble_tick") {
    unsigned* count = nullptr;
    std::memcpy(&count, arguments[0], sizeof count);
    *count += 1;
    return;
  }
  const test::HostKernels& kernels = kernels_of(text);
  const auto found = kernels.find(kernel);
  if (found == kernels.end()) throw std::logic_error("no host kernel " + kernel);
  std::vector<void*> copied;
  for (int k = 0; k < parameter_count(text, kernel); ++k) copied.push_back(const_cast<void*>(arguments[k]));
  test::shim_time = static_cast<unsigned long long>(time);
  test::shim_time_step = static_cast<unsigned long long>(kFakeTick);
  static test::BlockRunner runner;
  test::gridDim.x = blocks;
  test::blockDim.x = threads;
  for (unsigned block = 0; block < blocks; ++block) {
    test::blockIdx.x = block;
    runner.run(static_cast<int>(threads), [&found, &copied] { found->second(copied); });
  }
}

}  // namespace debubble::testing
