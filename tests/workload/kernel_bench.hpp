// KernelBench: one kernel at a time on the host device, with numbers that are known exactly.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gpu/workload/kernels.hpp"
#include "gpu/workload/real_numbers.hpp"
#include "tests/workload/host_device.hpp"

namespace debubble::test {

using Doubles = std::vector<double>;

// Buffers live as long as the bench.
class KernelBench {
 public:
  explicit KernelBench(DataType type) : device(type), type_(type) {}

  // Random numbers of about `deviation` around `mean`, rounded to the type; `numbers` receives them.
  DeviceAddress random(std::int64_t count, Doubles* numbers, double mean = 0, double deviation = 1);
  DeviceAddress reals(const Doubles& numbers) { return uploaded(numbers, type_); }
  DeviceAddress floats(const Doubles& numbers) { return uploaded(numbers, DataType::kFp32); }
  DeviceAddress integers(const std::vector<std::int32_t>& numbers);
  DeviceAddress room(std::int64_t count) { return device.allocate(count * 4); }

  [[nodiscard]] Doubles read_reals(DeviceAddress from, std::int64_t count) {
    return download_numbers(device, from, count, type_);
  }
  [[nodiscard]] Doubles read_floats(DeviceAddress from, std::int64_t count) {
    return download_numbers(device, from, count, DataType::kFp32);
  }

  template <typename... Arguments>
  void launch(const std::string& kernel, std::int64_t blocks, std::int32_t threads, Arguments... arguments) {
    const std::array<void*, sizeof...(Arguments)> pointers{&arguments...};
    device.launch({kernel, blocks, threads, 0, pointers});
  }

  [[nodiscard]] DataType type() const { return type_; }
  // Of one rounding of a result, with a little for fp32 on the way, relative to the largest of the right numbers.
  [[nodiscard]] bool close(const Doubles& found, const Doubles& right, double roundings = 1) const;

  HostDevice device;

 private:
  DeviceAddress uploaded(const Doubles& numbers, DataType type);

  DataType type_;
  std::uint64_t seed_ = 1;
};

// Calls the function once per data type, within a doctest subcase named by it.
void for_each_type(const std::function<void(DataType)>& test);

}  // namespace debubble::test
