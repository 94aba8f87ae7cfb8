#include "gpu/workload/real_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace debubble {
namespace {

// What distinguishes the types: bits of the fraction, the exponent of the least normal number, the largest exponent.
struct FloatFormat {
  int fraction;
  int least;
  int most;
};

FloatFormat float_format(DataType type) {
  switch (type) {
    case DataType::kBf16:
      return {7, -126, 127};
    case DataType::kFp16:
      return {10, -14, 15};
    case DataType::kFp32:
      return {23, -126, 127};
  }
  return {};
}

int bits_of(DataType type) { return type == DataType::kFp32 ? 32 : 16; }

// The bits of a finite, rounded, non-negative value.
std::uint32_t pack(const FloatFormat& format, double value) {
  if (value == 0) return 0;
  const int exponent = std::ilogb(value);
  if (exponent < format.least) return static_cast<std::uint32_t>(std::ldexp(value, format.fraction - format.least));
  const double fraction = std::ldexp(value, format.fraction - exponent);  // from 2^fraction to 2^(fraction + 1)
  return static_cast<std::uint32_t>(fraction) +
         (static_cast<std::uint32_t>(exponent - format.least) << format.fraction);
}

}  // namespace

double decode(DataType type, std::uint32_t bits) {
  const FloatFormat format = float_format(type);
  const std::uint32_t sign = bits >> (bits_of(type) - 1);
  const auto exponent =
      static_cast<int>((bits >> format.fraction) & ((1U << (bits_of(type) - 1 - format.fraction)) - 1));
  const auto fraction = static_cast<double>(bits & ((1U << format.fraction) - 1));
  double value = 0;
  if (exponent > format.most - format.least + 1) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, format.least - format.fraction);
  } else {
    value = std::ldexp(fraction + std::ldexp(1.0, format.fraction), exponent - 1 + format.least - format.fraction);
  }
  return sign != 0 ? -value : value;
}

std::uint32_t encode(DataType type, double value) {
  const FloatFormat format = float_format(type);
  const std::uint32_t infinity = static_cast<std::uint32_t>(format.most - format.least + 2) << format.fraction;
  const std::uint32_t sign = std::signbit(value) ? 1U << (bits_of(type) - 1) : 0U;
  if (std::isnan(value)) return infinity | (1U << (format.fraction - 1));
  double rest = std::abs(value);
  if (rest > 0 && std::isfinite(rest)) {
    const int step = std::max(std::ilogb(rest), format.least) - format.fraction;
    rest = std::ldexp(std::nearbyint(std::ldexp(rest, -step)), step);
  }
  if (rest >= std::ldexp(1.0, format.most + 1)) return sign | infinity;
  return sign | pack(format, rest);
}

double unit_roundoff(DataType type) { return std::ldexp(1.0, -float_format(type).fraction - 1); }

std::vector<double> download_numbers(WorkDevice& device, DeviceAddress from, std::int64_t count, DataType type) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  if (type == DataType::kFp32) {
    std::vector<std::uint32_t> stored(numbers.size());
    device.download(stored.data(), from, count * 4);
    std::transform(stored.begin(), stored.end(), numbers.begin(),
                   [type](std::uint32_t bits) { return decode(type, bits); });
  } else {
    std::vector<std::uint16_t> stored(numbers.size());
    device.download(stored.data(), from, count * 2);
    std::transform(stored.begin(), stored.end(), numbers.begin(),
                   [type](std::uint16_t bits) { return decode(type, bits); });
  }
  return numbers;
}

void upload_numbers(WorkDevice& device, DeviceAddress to, const std::vector<double>& numbers, DataType type) {
  if (type == DataType::kFp32) {
    std::vector<std::uint32_t> stored(numbers.size());
    std::transform(numbers.begin(), numbers.end(), stored.begin(),
                   [type](double number) { return encode(type, number); });
    device.upload(to, stored.data(), static_cast<Bytes>(stored.size()) * 4);
    return;
  }
  std::vector<std::uint16_t> stored(numbers.size());
  std::transform(numbers.begin(), numbers.end(), stored.begin(),
                 [type](double number) { return static_cast<std::uint16_t>(encode(type, number)); });
  device.upload(to, stored.data(), static_cast<Bytes>(stored.size()) * 2);
}

std::vector<double> download_buffer(WorkDevice& device, const LayerBuffers& buffers, const LayerBuffer& buffer) {
  if (buffer.element == Element::kReal) {
    return download_numbers(device, buffer.data, buffer.elements, buffers.type());
  }
  if (buffer.element == Element::kFloat) {
    return download_numbers(device, buffer.data, buffer.elements, DataType::kFp32);
  }
  std::vector<std::int32_t> stored(static_cast<std::size_t>(buffer.elements));
  device.download(stored.data(), buffer.data, buffer.elements * 4);
  return {stored.begin(), stored.end()};
}

}  // namespace debubble
