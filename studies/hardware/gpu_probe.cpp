#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "gpu/cuda_device.hpp"
#include "gpu/workload/kernels.hpp"
#include "sim/core/median.hpp"
#include "studies/hardware/probe.hpp"

namespace debubble {
namespace {

constexpr Nanoseconds kWarm = 1'000'000'000;   // busy, until clocks settle
constexpr Nanoseconds kLong = 3'000'000'000;   // busy, until power does
constexpr Nanoseconds kOneTiming = 5'000'000;  // one timing repeats what is shorter
constexpr Nanoseconds kHeldBack = 2'000'000;   // so that the host has issued all of a timing before it begins
constexpr int kGpuTimings = 5;
constexpr int kMostRepeats = 200;  // and the queue never full
constexpr int kTicks = 500;
constexpr std::int64_t kMostPassRows = 16'384;
constexpr std::int64_t kPassWidth = 8192;  // 256 MiB in 16 bits: beyond any cache

DataType data_type(const std::string& dtype) {
  if (dtype == "fp32") return DataType::kFp32;
  return dtype == "fp16" ? DataType::kFp16 : DataType::kBf16;
}

class GpuBuffer {
 public:
  GpuBuffer(CudaDevice& device, Bytes bytes) : device_(device), address_(device.allocate(bytes)) {
    device.zero(address_, bytes);
  }
  ~GpuBuffer() { device_.release(address_); }
  GpuBuffer(const GpuBuffer&) = delete;
  GpuBuffer& operator=(const GpuBuffer&) = delete;
  [[nodiscard]] DeviceAddress address() const { return address_; }

 private:
  CudaDevice& device_;
  DeviceAddress address_;
};

// Of an m x k and a k x n matrix: their memory, and the product.
struct GpuProduct {
  GpuProduct(CudaDevice& device, DataType type, std::int64_t m, std::int64_t n, std::int64_t k)
      : a(device, bytes_of(type) * m * k), b(device, bytes_of(type) * k * n), c(device, bytes_of(type) * m * n) {
    gemm.a = {a.address(), m, k, k, 0};
    gemm.b = {b.address(), k, n, n, 0};
    gemm.c = {c.address(), m, n, n, 0};
    gemm.type = type;
  }

  GpuBuffer a, b, c;
  Gemm gemm;
};

class GpuProbe final : public Probe {
 public:
  explicit GpuProbe(int index) : device_(load_cuda_libraries(), index, DataType::kBf16) {
    const DeviceFacts& facts = device_.facts();
    facts_.device = facts.name;
    facts_.software = "driver " + facts.driver + ", CUDA " + facts.cuda;
    facts_.memory = facts.memory;
    facts_.multiprocessors = facts.processors;
    (void)busy_for("bf16", 4096, kWarm);
  }

  [[nodiscard]] const ProbeFacts& facts() const override { return facts_; }
  [[nodiscard]] std::vector<std::string> dtypes() const override { return {"bf16", "fp32"}; }

  [[nodiscard]] ProbeSizes sizes(const std::string& dtype) const override {
    if (dtype == "fp32") return {{1024, 4096}, {1024, 4096}};
    return {{256, 1024, 4096, 16'384}, {256, 1024, 4096, 16'384}};
  }

  [[nodiscard]] std::optional<Nanoseconds> product(const std::string& dtype, std::int64_t m, std::int64_t n,
                                                   std::int64_t k) override {
    const Bytes element = bytes_of(data_type(dtype));
    if (element * (m * k + k * n + m * n) > device_.free_memory() / 2) return std::nullopt;
    const GpuProduct product(device_, data_type(dtype), m, n, k);
    return time_on_gpu([&] { device_.gemm(product.gemm); });
  }

  [[nodiscard]] std::optional<std::pair<std::int64_t, Nanoseconds>> long_product(const std::string& dtype,
                                                                                 std::int64_t size) override {
    return busy_for(dtype, size, kLong);
  }

  // x + y -> out in 16 bits: two are read and one is written.
  [[nodiscard]] double pass_bandwidth() override {
    std::int64_t pass_rows = kMostPassRows;
    const Bytes row_bytes = bytes_of(DataType::kBf16) * kPassWidth;
    while (pass_rows > 256 && 3 * pass_rows * row_bytes > device_.free_memory() / 2) pass_rows /= 2;
    const Bytes bytes = pass_rows * row_bytes;
    const GpuBuffer x(device_, bytes);
    const GpuBuffer y(device_, bytes);
    const GpuBuffer out(device_, bytes);
    DeviceAddress x_address = x.address();
    DeviceAddress none = 0;
    DeviceAddress y_address = y.address();
    DeviceAddress out_address = out.address();
    long long rows = pass_rows;
    long long width = kPassWidth;
    const std::array<void*, 6> arguments{&x_address, &none, &y_address, &out_address, &rows, &width};
    Launch launch;
    launch.kernel = "residual_add";
    launch.blocks = pass_rows;
    launch.threads = row_threads(kPassWidth, DataType::kBf16);
    launch.arguments = arguments;
    const Nanoseconds time = time_on_gpu([&] { device_.launch(launch); });
    return 3.0 * static_cast<double>(bytes) / static_cast<double>(time) * 1e9;
  }

  // Copies of memory that the driver has not pinned say nothing of the link.
  [[nodiscard]] std::optional<double> host_bandwidth() override { return std::nullopt; }

  // While the GPU is held back, the host does nothing but launch.
  [[nodiscard]] Nanoseconds launch() override {
    std::vector<Nanoseconds> times;
    for (int timing = 0; timing < kGpuTimings; ++timing) {
      device_.synchronise();
      device_.hold(10 * kHeldBack);
      const auto begin = std::chrono::steady_clock::now();
      for (int k = 0; k < kTicks; ++k) device_.tick();
      const auto spent = std::chrono::steady_clock::now() - begin;
      times.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count() / kTicks);
      device_.synchronise();
    }
    return std::max<Nanoseconds>(1, lower_median(times));
  }

  [[nodiscard]] Nanoseconds kernel_gap() override {
    std::vector<Nanoseconds> times;
    for (int timing = 0; timing < kGpuTimings; ++timing) {
      device_.hold(10 * kHeldBack);
      device_.mark(0);
      for (int k = 0; k < kTicks; ++k) device_.tick();
      device_.mark(1);
      device_.synchronise();
      times.push_back(device_.elapsed(0, 1) / kTicks);
    }
    return lower_median(times);
  }

 private:
  // The median time of one, by the GPU's events around many.
  template <typename Issue>
  Nanoseconds time_on_gpu(const Issue& issue) {
    const Nanoseconds once = std::max<Nanoseconds>(1, timed(issue, 1));
    const int repeats = static_cast<int>(std::clamp<Nanoseconds>(kOneTiming / once, 1, kMostRepeats));
    std::vector<Nanoseconds> times;
    for (int timing = 0; timing < kGpuTimings; ++timing) times.push_back(timed(issue, repeats) / repeats);
    return std::max<Nanoseconds>(1, lower_median(times));
  }

  template <typename Issue>
  Nanoseconds timed(const Issue& issue, int repeats) {
    device_.hold(kHeldBack);
    device_.mark(0);
    for (int k = 0; k < repeats; ++k) issue();
    device_.mark(1);
    device_.synchronise();
    return device_.elapsed(0, 1);
  }

  // One square product after the other for so long, of that size or the largest below that fits: its size, and the
  // mean of the second half.
  std::pair<std::int64_t, Nanoseconds> busy_for(const std::string& dtype, std::int64_t size, Nanoseconds duration) {
    const Bytes element = bytes_of(data_type(dtype));
    while (size > 256 && 3 * element * size * size > device_.free_memory() / 2) size /= 2;
    const GpuProduct product(device_, data_type(dtype), size, size, size);
    Nanoseconds before = 0;
    Nanoseconds late = 0;
    Nanoseconds count = 0;
    while (before < duration) {
      const Nanoseconds once = std::max<Nanoseconds>(1, timed([&] { device_.gemm(product.gemm); }, 20) / 20);
      before += 20 * once;
      if (before < duration / 2) continue;
      late += once;
      ++count;
    }
    return {size, late / std::max<Nanoseconds>(1, count)};
  }

  CudaDevice device_;
  ProbeFacts facts_;
};

}  // namespace

std::unique_ptr<Probe> gpu_probe(int index) { return std::make_unique<GpuProbe>(index); }

}  // namespace debubble
