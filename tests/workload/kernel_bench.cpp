#include "tests/workload/kernel_bench.hpp"

#include <random>

#include "tests/support/test.hpp"

namespace debubble::test {

DeviceAddress KernelBench::uploaded(const Doubles& numbers, DataType type) {
  const DeviceAddress data = device.allocate(static_cast<Bytes>(numbers.size()) * bytes_of(type));
  upload_numbers(device, data, numbers, type);
  return data;
}

// The sum of twelve uniform numbers: normal enough, and the same with every library.
DeviceAddress KernelBench::random(std::int64_t count, Doubles* numbers, double mean, double deviation) {
  std::mt19937_64 generator(seed_++);
  numbers->clear();
  for (std::int64_t i = 0; i < count; ++i) {
    double sum = -6;
    for (int term = 0; term < 12; ++term) sum += static_cast<double>(generator() >> 11) * std::ldexp(1.0, -53);
    numbers->push_back(decode(type_, encode(type_, mean + deviation * sum)));
  }
  return reals(*numbers);
}

DeviceAddress KernelBench::integers(const std::vector<std::int32_t>& numbers) {
  const auto bytes = static_cast<Bytes>(numbers.size()) * 4;
  const DeviceAddress data = device.allocate(bytes);
  device.upload(data, numbers.data(), bytes);
  return data;
}

bool KernelBench::close(const Doubles& found, const Doubles& right, double roundings) const {
  REQUIRE(found.size() == right.size());
  double largest = 0;
  for (const double number : right) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double allowed = roundings * unit_roundoff(type_) * std::abs(right[i]) + 2e-6 * largest;
    if (std::abs(found[i] - right[i]) <= allowed) continue;  // false for what is not a number
    MESSAGE(to_string(type_), ", number ", i, ": ", found[i], " instead of ", right[i]);
    return false;
  }
  return true;
}

void for_each_type(const std::function<void(DataType)>& test) {
  for (const DataType type : {DataType::kFp32, DataType::kBf16, DataType::kFp16}) {
    CAPTURE(std::string(to_string(type)));
    test(type);
  }
}

}  // namespace debubble::test
