// CudaDevice on the fake GPU: products, kernels, time, and that everything is given back.
#include "gpu/cuda_device.hpp"

#include <cstring>

#include "gpu/workload/kernels.hpp"
#include "gpu/workload/self_check.hpp"
#include "tests/support/test.hpp"
#include "tests/workload/fake_machine.hpp"

namespace debubble {
namespace {

using testing::FakeMachine;

// Small whole numbers: exact in every type, and so are their sums.
std::vector<float> numbers(std::int64_t count, int seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = static_cast<float>(static_cast<int>(k * 7 + static_cast<std::size_t>(seed)) % 5 - 2);
  }
  return values;
}

// A matrix with a few elements to spare at the end of each row and between the items of a batch.
struct Stored {
  MatrixView view;
  std::vector<float> values;

  Stored(CudaDevice& device, std::int64_t rows, std::int64_t columns, std::int64_t batch, int seed)
      : view{0, rows, columns, columns + 3, rows * (columns + 3) + 5}, values(numbers(batch * view.stride, seed)) {
    view.data = device.allocate(static_cast<Bytes>(values.size() * sizeof(float)));
    device.upload(view.data, values.data(), static_cast<Bytes>(values.size() * sizeof(float)));
  }
  float at(std::int64_t item, std::int64_t row, std::int64_t column, bool transposed) const {
    const std::int64_t index = transposed ? column * view.leading + row : row * view.leading + column;
    return values[static_cast<std::size_t>(item * view.stride + index)];
  }
};

// What Gemm's comment says, literally.
std::vector<float> product(const Gemm& gemm, const Stored& a, const Stored& b, const Stored& c) {
  std::vector<float> result = c.values;
  const std::int64_t inner = gemm.transpose_a ? gemm.a.rows : gemm.a.columns;
  for (std::int64_t item = 0; item < gemm.batch; ++item) {
    for (std::int64_t row = 0; row < gemm.c.rows; ++row) {
      for (std::int64_t column = 0; column < gemm.c.columns; ++column) {
        float sum = 0;
        for (std::int64_t k = 0; k < inner; ++k) {
          sum += a.at(item, row, k, gemm.transpose_a) * b.at(item, k, column, gemm.transpose_b);
        }
        const auto at = static_cast<std::size_t>(item * gemm.c.stride + row * gemm.c.leading + column);
        result[at] = gemm.alpha * sum + gemm.beta * result[at];
      }
    }
  }
  return result;
}

TEST_CASE("a product is row-major, in every transposition, with padded rows and batches") {
  const FakeMachine machine;
  CudaDevice device(load_cuda_libraries(), 0, DataType::kFp32);
  constexpr std::int64_t kM = 5;
  constexpr std::int64_t kN = 7;
  constexpr std::int64_t kK = 4;
  for (int mode = 0; mode < 16; ++mode) {
    Gemm gemm;
    gemm.type = DataType::kFp32;
    gemm.transpose_a = (mode & 1) != 0;
    gemm.transpose_b = (mode & 2) != 0;
    gemm.batch = (mode & 4) != 0 ? 3 : 1;
    gemm.alpha = 2.0F;
    gemm.beta = (mode & 8) != 0 ? 1.0F : 0.0F;
    CAPTURE(mode);
    const Stored a(device, gemm.transpose_a ? kK : kM, gemm.transpose_a ? kM : kK, gemm.batch, 1);
    const Stored b(device, gemm.transpose_b ? kN : kK, gemm.transpose_b ? kK : kN, gemm.batch, 2);
    const Stored c(device, kM, kN, gemm.batch, 3);
    gemm.a = a.view;
    gemm.b = b.view;
    gemm.c = c.view;
    device.gemm(gemm);
    std::vector<float> found(c.values.size());
    device.download(found.data(), c.view.data, static_cast<Bytes>(found.size() * sizeof(float)));
    CHECK(found == product(gemm, a, b, c));
    for (const Stored* matrix : {&a, &b, &c}) device.release(matrix->view.data);
  }
}

TEST_CASE("cuBLASLt is told how a matrix inside a buffer is aligned") {
  const FakeMachine machine;
  CudaDevice device(load_cuda_libraries(), 0, DataType::kFp32);
  const Stored a(device, 4, 4, 2, 1);
  const Stored b(device, 4, 4, 2, 2);
  const Stored c(device, 4, 4, 2, 3);
  Gemm gemm{a.view, b.view, c.view};
  gemm.type = DataType::kFp32;
  CHECK_NOTHROW(device.gemm(gemm));
  gemm.a.data += 4;  // the fake refuses a pointer that is less aligned than it was promised
  gemm.b.data += 8;
  gemm.c.data += 16;
  CHECK_NOTHROW(device.gemm(gemm));
  for (const Stored* matrix : {&a, &b, &c}) device.release(matrix->view.data);
}

TEST_CASE("the workload's numbers are right through the driver, cuBLASLt and NVRTC interfaces") {
  const FakeMachine machine;
  CudaDevice device(load_cuda_libraries(), 0, DataType::kBf16);
  for (const NumberCheck& check : check_workload(device, DataType::kBf16)) {
    CAPTURE(check.what);
    CAPTURE(check.error);
    CHECK(check.ok);
  }
}

TEST_CASE("time between marks is that of the kernels and the gaps before them") {
  const FakeMachine machine;
  CudaDevice device(load_cuda_libraries(), 0, DataType::kFp32);
  device.mark(0);
  device.tick();
  device.mark(1);
  device.hold(1'000'000);
  device.mark(1023);
  CHECK(device.elapsed(0, 1) == testing::kFakeGap + testing::kFakeTickKernel);
  CHECK(device.elapsed(1, 1023) == testing::kFakeGap + 1'000'000);
  device.mark(0);  // a mark is used again
  CHECK(device.elapsed(0, 0) == 0);
  CHECK_THROWS_AS(device.mark(1024), std::logic_error);
  CHECK_THROWS_AS(device.mark(-1), std::logic_error);
}

TEST_CASE("a stream that waits for a mark of the other begins behind it") {
  const FakeMachine machine;
  CudaDevice device(load_cuda_libraries(), 0, DataType::kFp32);
  device.hold(1'000'000);
  device.mark(0);
  device.use_stream(1);
  device.wait_for_mark(0);
  device.tick();
  device.mark(1);
  CHECK(device.elapsed(0, 1) == testing::kFakeCrossGap + testing::kFakeTickKernel);
  CHECK_THROWS_AS(device.use_stream(2), std::logic_error);
}

TEST_CASE("memory goes to the device and back, and zero clears it") {
  const FakeMachine machine;
  CudaDevice device(load_cuda_libraries(), 0, DataType::kFp32);
  const Bytes free = device.free_memory();
  const std::vector<float> sent = numbers(1000, 1);
  std::vector<float> back(sent.size());
  const DeviceAddress buffer = device.allocate(4000);
  CHECK(device.free_memory() == free - 4000);
  device.upload(buffer, sent.data(), 4000);
  device.zero(buffer + 400, 400);
  device.download(back.data(), buffer, 4000);
  CHECK(std::memcmp(back.data(), sent.data(), 400) == 0);  // NOLINT(bugprone-suspicious-memory-comparison): bit by bit
  CHECK(back[100] == 0.0F);
  CHECK(back[199] == 0.0F);
  CHECK(std::memcmp(&back[200], &sent[200], 3200) == 0);  // NOLINT(bugprone-suspicious-memory-comparison): bit by bit
  device.release(buffer);
  CHECK(device.free_memory() == free);
  CHECK(device.allocate(0) == 0);
  device.release(0);
}

TEST_CASE("what is known of the GPU comes from its driver") {
  const FakeMachine machine("capability=86,memory=4294967296,libraries=12060");
  const CudaDevice device(load_cuda_libraries(), 0, DataType::kBf16);
  CHECK(device.facts().name == "Fake GPU");
  CHECK(device.facts().cuda == "12.6");
  CHECK(device.facts().capability == 86);
  CHECK(device.facts().processors == 4);
  CHECK(device.facts().memory == Bytes{4} << 30);
}

TEST_CASE("a device gives back every object and every byte") {
  const FakeMachine machine;
  {
    CudaDevice device(load_cuda_libraries(), 0, DataType::kFp32);
    device.tick();
    device.mark(5);
    const DeviceAddress buffer = device.allocate(1024);
    Gemm gemm;
    gemm.type = DataType::kFp32;
    gemm.a = gemm.b = gemm.c = {buffer, 8, 8, 8, 64};
    device.gemm(gemm);
    CHECK(FakeMachine::live_objects() > 5);
    device.release(buffer);
  }
  CHECK(FakeMachine::live_objects() == 0);
  CHECK(FakeMachine::live_bytes() == 0);
}

}  // namespace
}  // namespace debubble
