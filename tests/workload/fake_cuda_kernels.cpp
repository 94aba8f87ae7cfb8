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
const test::HostKernels& kernels_of(const Kernel& kernel) {
  const std::string& text = kernel.module->text;
  if (is_live_kernel(kernel.name)) return test::host_live_kernels();
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

Kernel* find_kernel(const FakeModule* module, const std::string& name) {
  std::map<std::string, Kernel>& known = fake_kernels()[module];
  if (const auto found = known.find(name); found != known.end()) return &found->second;
  const auto parameters = parameters_of(module->text, name);
  if (!parameters) return nullptr;
  Kernel& kernel = known[name];
  kernel.module = module;
  kernel.name = name;
  for (const std::string& parameter : *parameters) kernel.sizes.push_back(size_of(parameter));
  return &kernel;
}

KernelArguments::KernelArguments(const Kernel& kernel, void** arguments) : values_(kernel.sizes.size()) {
  for (std::size_t k = 0; k < values_.size(); ++k) std::memcpy(values_[k].data(), arguments[k], kernel.sizes[k]);
}

std::vector<void*> KernelArguments::pointers() const {
  std::vector<void*> found;
  for (const auto& value : values_) found.push_back(const_cast<std::byte*>(value.data()));  // NOLINT(*-const-cast)
  return found;
}

bool is_live_kernel(const std::string& name) { return name.starts_with("debubble_live_"); }

std::map<const FakeModule*, std::map<std::string, Kernel>>& fake_kernels() {
  static std::map<const FakeModule*, std::map<std::string, Kernel>> all;
  return all;
}

void run_kernel(const Kernel& kernel, unsigned blocks, unsigned threads, const KernelArguments& arguments,
                Nanoseconds time) {
  if (kernel.name == "debubble_hold" || kernel.name == kWaitKernel) return;
  if (kernel.name == "debubble_tick") {
    *arguments.read<unsigned*>(0) += 1;
    return;
  }
  const test::HostKernels& kernels = kernels_of(kernel);
  const auto found = kernels.find(kernel.name);
  if (found == kernels.end()) throw std::logic_error("no host kernel " + kernel.name);
  const std::vector<void*> copied = arguments.pointers();
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
