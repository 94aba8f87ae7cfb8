// LedgerDevice: adds up what every kernel and product would take on the fake GPU, by the formulas of fake_cuda.hpp.
// It shares no code with the way through CUDA, CUPTI, the record file and attribution: what comes out of that must
// equal its sums.
#pragma once

#include <cstdint>
#include <utility>

#include "gpu/counting_device.hpp"
#include "tests/workload/fake_cuda.hpp"

namespace debubble::testing {

class LedgerDevice final : public WorkDevice {
 public:
  [[nodiscard]] const DeviceFacts& facts() const override { return memory_.facts(); }
  [[nodiscard]] DeviceAddress allocate(Bytes bytes) override { return memory_.allocate(bytes); }
  void release(DeviceAddress address) override { memory_.release(address); }
  void upload(DeviceAddress, const void*, Bytes bytes) override { add(fake_transfer_time(bytes)); }
  void download(void* to, DeviceAddress from, Bytes bytes) override {
    memory_.download(to, from, bytes);
    add(fake_transfer_time(bytes));
  }
  void zero(DeviceAddress, Bytes bytes) override {
    if (bytes > 0) add(fake_transfer_time(bytes));
  }
  void launch(const Launch& launch) override { add(fake_kernel_time(launch.blocks, launch.threads)); }
  void gemm(const Gemm& gemm) override {
    const std::int64_t inner = gemm.transpose_a ? gemm.a.rows : gemm.a.columns;
    add(fake_gemm_time(gemm.c.rows, gemm.c.columns, inner, gemm.batch));
  }
  void synchronise() override {}
  void mark(int) override {}
  [[nodiscard]] Nanoseconds elapsed(int, int) override { return 0; }

  // Since the last call.
  struct Sum {
    Nanoseconds time = 0;
    std::int64_t count = 0;
  };
  Sum take() { return std::exchange(sum_, {}); }

 private:
  void add(Nanoseconds time) {
    sum_.time += time;
    sum_.count += 1;
  }

  CountingDevice memory_;
  Sum sum_;
};

}  // namespace debubble::testing
