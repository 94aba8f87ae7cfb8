// The workload's kernels, compiled for the host from their own text, once per data type.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

namespace debubble::test {

// Runs one thread of a kernel; the arguments are addresses of values, as in Launch.
using HostKernel = std::function<void(std::span<void* const>)>;
using HostKernels = std::map<std::string_view, HostKernel>;

[[nodiscard]] const HostKernels& host_kernels_bf16();
[[nodiscard]] const HostKernels& host_kernels_fp16();
[[nodiscard]] const HostKernels& host_kernels_fp32();
[[nodiscard]] const HostKernels& host_live_kernels();  // of live/cuda/kernels/live.inc

// Throws std::invalid_argument for another number of arguments than the kernel has.
template <typename... Arguments>
HostKernel host_kernel(void (*kernel)(Arguments...)) {
  return [kernel](std::span<void* const> addresses) {
    if (addresses.size() != sizeof...(Arguments)) throw std::invalid_argument("wrong number of arguments");
    std::tuple<Arguments...> values;
    const auto read = [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      (std::memcpy(&std::get<kIndex>(values), addresses[kIndex], sizeof(std::get<kIndex>(values))), ...);
    };
    read(std::index_sequence_for<Arguments...>());
    std::apply(kernel, values);
  };
}

}  // namespace debubble::test
