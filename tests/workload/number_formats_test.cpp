// Conversions: of the kernels (their text), of the checks (real_numbers), against each other and known values.
#include <bit>

#include "tests/support/test.hpp"
#include "tests/workload/kernel_bench.hpp"

namespace debubble {
namespace {

using test::Doubles;
using test::for_each_type;
using test::KernelBench;

TEST_CASE("numbers are encoded as the formats say") {
  CHECK(encode(DataType::kBf16, 1.0) == 0x3f80);
  CHECK(encode(DataType::kBf16, -2.0) == 0xc000);
  CHECK(encode(DataType::kBf16, 1.0 + 0x1p-8) == 0x3f80);  // a tie: to even
  CHECK(encode(DataType::kBf16, 1.0 + 3 * 0x1p-8) == 0x3f82);
  CHECK(encode(DataType::kFp16, 1.0) == 0x3c00);
  CHECK(encode(DataType::kFp16, 65504.0) == 0x7bff);
  CHECK(encode(DataType::kFp16, 65519.0) == 0x7bff);
  CHECK(encode(DataType::kFp16, 65520.0) == 0x7c00);
  CHECK(encode(DataType::kFp16, 0x1p-24) == 0x0001);
  CHECK(encode(DataType::kFp16, 0x1p-25) == 0x0000);
  CHECK(encode(DataType::kFp16, 0x1.8p-24) == 0x0002);
  CHECK(encode(DataType::kFp16, 0x1p-14) == 0x0400);
  CHECK(encode(DataType::kFp32, 1.0) == 0x3f800000);
  CHECK(encode(DataType::kFp32, -0.0) == 0x80000000);
  CHECK(std::isnan(decode(DataType::kFp16, encode(DataType::kFp16, std::nan("")))));
}

TEST_CASE("every 16-bit number survives decoding and encoding") {
  for (const DataType type : {DataType::kBf16, DataType::kFp16}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double value = decode(type, bits);
      if (!std::isnan(value) && encode(type, value) != bits) FAIL(to_string(type), " ", bits);
    }
  }
}

// residual_add with zeros reads and writes each number once.
void check_conversion(KernelBench& bench, const Doubles& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const DeviceAddress x = bench.reals(values);
  const DeviceAddress zeros = bench.reals(Doubles(values.size()));
  const DeviceAddress out = bench.room(count);
  bench.launch("residual_add", 1, 256, x, DeviceAddress{0}, zeros, out, std::int64_t{1}, count);
  const Doubles found = bench.read_reals(out, count);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    wrong += std::isnan(values[i]) ? !std::isnan(found[i]) : found[i] != values[i];
  }
  CHECK(wrong == 0);
}

TEST_CASE("the kernels read and write every 16-bit number unchanged") {
  for (const DataType type : {DataType::kBf16, DataType::kFp16}) {
    KernelBench bench(type);
    Doubles values;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) values.push_back(decode(type, bits));
    check_conversion(bench, values);
  }
}

// a + b with a and b of the type, so that the sum needs rounding; fp32 holds it exactly or nearly so.
TEST_CASE("the kernels round to nearest, ties to even") {
  for_each_type([](DataType type) {
    KernelBench bench(type);
    constexpr std::int64_t kCount = 4096;
    Doubles a;
    Doubles b;
    const DeviceAddress left = bench.random(kCount, &a, 0, type == DataType::kFp16 ? 2e-5 : 1);
    const DeviceAddress right = bench.random(kCount, &b, 0, type == DataType::kFp16 ? 4e-2 : 300);
    const DeviceAddress out = bench.room(kCount);
    bench.launch("residual_add", 1, 64, left, DeviceAddress{0}, right, out, std::int64_t{1}, kCount);
    const Doubles found = bench.read_reals(out, kCount);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const float sum = static_cast<float>(a[i]) + static_cast<float>(b[i]);
      wrong += found[i] != decode(type, encode(type, static_cast<double>(sum)));
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("random numbers are normal, the same for a seed, and other for another seed") {
  for_each_type([](DataType type) {
    KernelBench bench(type);
    constexpr std::int64_t kCount = 20'001;  // odd: the last pair is half
    const DeviceAddress out = bench.room(kCount);
    const auto draw = [&](std::int64_t seed, std::int64_t blocks) {
      bench.launch("fill_normal", blocks, 256, out, kCount, seed, 3.0F, 2.0F);
      return bench.read_reals(out, kCount);
    };
    const Doubles numbers = draw(7, 10);
    double mean = 0;
    double squares = 0;
    double fourth = 0;
    for (const double number : numbers) {
      mean += number / kCount;
      squares += std::pow(number - 3, 2) / kCount;
      fourth += std::pow((number - 3) / 2, 4) / kCount;
    }
    CHECK(mean == doctest::Approx(3).epsilon(0.02));
    CHECK(squares == doctest::Approx(4).epsilon(0.05));
    CHECK(fourth == doctest::Approx(3).epsilon(0.1));  // a normal distribution's
    CHECK(draw(7, 3) == numbers);
    CHECK(draw(8, 10) != numbers);
  });
}

}  // namespace
}  // namespace debubble
