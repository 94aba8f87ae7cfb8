#include "tests/workload/host_device.hpp"

#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include "gpu/workload/kernels.hpp"
#include "gpu/workload/real_numbers.hpp"
#include "tests/workload/cuda_shim.hpp"

namespace debubble::test {
namespace {

constexpr std::align_val_t kAlignment{256};

char* pointer(DeviceAddress address) { return reinterpret_cast<char*>(address); }  // NOLINT(*-int-to-ptr)

const HostKernels& kernels_of(DataType type) {
  switch (type) {
    case DataType::kBf16:
      return host_kernels_bf16();
    case DataType::kFp16:
      return host_kernels_fp16();
    case DataType::kFp32:
      break;
  }
  return host_kernels_fp32();
}

// One matrix of a batch, op() applied, in fp32.
struct Operand {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> values;
};

// Every 16-bit number's value, so that products do not spend their time on decoding.
const std::vector<float>& values_of(DataType type) {
  static const auto all = [](DataType of) {
    std::vector<float> values;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) values.push_back(static_cast<float>(decode(of, bits)));
    return values;
  };
  static const std::vector<float> bf16 = all(DataType::kBf16);
  static const std::vector<float> fp16 = all(DataType::kFp16);
  return type == DataType::kBf16 ? bf16 : fp16;
}

float stored_number(DeviceAddress data, std::int64_t index, DataType type) {
  if (type == DataType::kFp32) {
    float value = 0;
    std::memcpy(&value, pointer(data) + index * 4, 4);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, pointer(data) + index * 2, 2);
  return values_of(type)[bits];
}

void store_number(DeviceAddress data, std::int64_t index, DataType type, float value) {
  const std::uint32_t bits = encode(type, static_cast<double>(value));
  const std::int64_t size = bytes_of(type);
  std::memcpy(pointer(data) + index * size, &bits, static_cast<std::size_t>(size));
}

Operand operand(const MatrixView& view, bool transpose, std::int64_t batch, DataType type) {
  Operand result{transpose ? view.columns : view.rows, transpose ? view.rows : view.columns, {}};
  result.values.reserve(static_cast<std::size_t>(view.rows * view.columns));
  for (std::int64_t row = 0; row < result.rows; ++row) {
    for (std::int64_t column = 0; column < result.columns; ++column) {
      const std::int64_t index = transpose ? column * view.leading + row : row * view.leading + column;
      result.values.push_back(stored_number(view.data, batch * view.stride + index, type));
    }
  }
  return result;
}

void check_shapes(const Gemm& gemm, const Operand& a, const Operand& b) {
  if (a.columns != b.rows || a.rows != gemm.c.rows || b.columns != gemm.c.columns) {
    throw std::invalid_argument("matrices that do not fit");
  }
  for (const MatrixView* view : {&gemm.a, &gemm.b, &gemm.c}) {
    if (view->leading < view->columns) throw std::invalid_argument("rows that overlap");
  }
}

void multiply(const Gemm& gemm, std::int64_t batch) {
  const Operand a = operand(gemm.a, gemm.transpose_a, batch, gemm.type);
  const Operand b = operand(gemm.b, !gemm.transpose_b, batch, gemm.type);  // by columns
  check_shapes(gemm, a, {b.columns, b.rows, {}});
  const DataType type = gemm.fp32_output ? DataType::kFp32 : gemm.type;
  for (std::int64_t row = 0; row < gemm.c.rows; ++row) {
    for (std::int64_t column = 0; column < gemm.c.columns; ++column) {
      const float* left = a.values.data() + row * a.columns;
      const float* right = b.values.data() + column * b.columns;
      float sum = 0;
      for (std::int64_t i = 0; i < a.columns; ++i) sum += left[i] * right[i];
      const std::int64_t index = batch * gemm.c.stride + row * gemm.c.leading + column;
      sum *= gemm.alpha;
      if (gemm.beta != 0) sum += gemm.beta * stored_number(gemm.c.data, index, type);
      store_number(gemm.c.data, index, type, sum);
    }
  }
}

}  // namespace

HostDevice::HostDevice(DataType type) : kernels_(kernels_of(type)) {
  facts_.name = "host";
  facts_.capability = 90;
}

HostDevice::~HostDevice() {
  for (const auto& [address, bytes] : memory_) ::operator delete(pointer(address), kAlignment);
}

DeviceAddress HostDevice::allocate(Bytes bytes) {
  if (bytes <= 0) throw std::invalid_argument("no bytes to allocate");
  void* memory = ::operator new(static_cast<std::size_t>(bytes), kAlignment);
  std::memset(memory, 0xff, static_cast<std::size_t>(bytes));
  const auto address = reinterpret_cast<DeviceAddress>(memory);
  memory_[address] = bytes;
  allocated += bytes;
  return address;
}

void HostDevice::release(DeviceAddress address) {
  const auto found = memory_.find(address);
  if (found == memory_.end()) throw std::invalid_argument("released what is not allocated");
  allocated -= found->second;
  memory_.erase(found);
  ::operator delete(pointer(address), kAlignment);
}

void HostDevice::upload(DeviceAddress to, const void* from, Bytes bytes) {
  std::memcpy(pointer(to), from, static_cast<std::size_t>(bytes));
}

void HostDevice::download(void* to, DeviceAddress from, Bytes bytes) {
  std::memcpy(to, pointer(from), static_cast<std::size_t>(bytes));
}

void HostDevice::zero(DeviceAddress address, Bytes bytes) {
  std::memset(pointer(address), 0, static_cast<std::size_t>(bytes));
}

void HostDevice::launch(const Launch& launch) {
  if (launch.threads < 32 || launch.threads > kKernelThreads || launch.threads % 32 != 0 || launch.blocks < 1 ||
      launch.shared_memory != 0) {
    throw std::invalid_argument("a launch that the kernels do not allow");
  }
  const HostKernel& kernel = kernels_.at(launch.kernel);
  launched.emplace(launch.kernel);
  ++counts[std::string(launch.kernel)];
  if (launch.kernel == left_out) return;
  gridDim.x = static_cast<unsigned>(launch.blocks);
  blockDim.x = static_cast<unsigned>(launch.threads);
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
    runner_.run(launch.threads, [&] { kernel(launch.arguments); });
  }
}

void HostDevice::gemm(const Gemm& gemm) {
  ++counts["gemm"];
  if (no_products) return;
  for (std::int64_t batch = 0; batch < gemm.batch; ++batch) multiply(gemm, batch);
}

}  // namespace debubble::test
