// WorkDevice: what the built-in workload asks of a GPU. Implemented by CudaDevice (driver, cuBLASLt and NVRTC, loaded
// at run time) and, in the tests, by a host that runs the very same kernel sources block by block.
//
// Everything is issued in order on one stream. Memory is a device address; 0 is "none".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/core/units.hpp"

namespace debubble {

enum class DataType { kBf16, kFp16, kFp32 };
[[nodiscard]] const char* to_string(DataType type);  // "bf16", "fp16", "fp32"
[[nodiscard]] Bytes bytes_of(DataType type);

using DeviceAddress = std::uint64_t;

// A row-major matrix in device memory; a batch is `stride` elements apart.
struct MatrixView {
  DeviceAddress data = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 0;  // elements from one row to the next, >= columns
  std::int64_t stride = 0;
};

// c = alpha * op(a) * op(b) + beta * c, products summed in fp32 (no TF32 for fp32 data). All row-major, of one type
// (but see fp32_output); the views give the sizes as stored, before op.
struct Gemm {
  MatrixView a;
  MatrixView b;
  MatrixView c;
  bool transpose_a = false;
  bool transpose_b = false;
  float alpha = 1.0F;
  float beta = 0.0F;
  std::int64_t batch = 1;
  DataType type = DataType::kBf16;
  bool fp32_output = false;  // c is fp32 whatever the type: weight gradients add up in fp32
};

// A kernel of gpu/workload/kernels.hpp. Blocks are one-dimensional; `arguments` are addresses of values, in order.
struct Launch {
  std::string_view kernel;
  std::int64_t blocks = 1;
  std::int32_t threads = 256;
  Bytes shared_memory = 0;
  std::span<void* const> arguments;
};

struct DeviceFacts {
  std::string name;    // "NVIDIA H200"
  std::string driver;  // "580.65.06", or the CUDA version it supports where only that is known
  std::string cuda;    // of the libraries in use, "13.0"
  std::int32_t processors = 0;
  Bytes memory = 0;
  std::int32_t capability = 0;  // 90 for 9.0
};

class WorkDevice {
 public:
  virtual ~WorkDevice() = default;
  [[nodiscard]] virtual const DeviceFacts& facts() const = 0;

  // Throws UnavailableError U026 "out of device memory" with the size asked for and the size free.
  [[nodiscard]] virtual DeviceAddress allocate(Bytes bytes) = 0;
  virtual void release(DeviceAddress address) = 0;
  virtual void upload(DeviceAddress to, const void* from, Bytes bytes) = 0;  // waits
  virtual void download(void* to, DeviceAddress from, Bytes bytes) = 0;      // waits
  virtual void zero(DeviceAddress address, Bytes bytes) = 0;

  virtual void launch(const Launch& launch) = 0;
  virtual void gemm(const Gemm& gemm) = 0;
  virtual void synchronise() = 0;

  // Marks a point on the stream; elapsed waits for both. Marks are reused by number, 0 to 1023.
  virtual void mark(int number) = 0;
  [[nodiscard]] virtual Nanoseconds elapsed(int from, int to) = 0;
};

}  // namespace debubble
