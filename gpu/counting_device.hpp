// CountingDevice: a WorkDevice without a device. Nothing runs; allocations are counted. A model made on it tells what
// it would need, before or after a real GPU turned out too small.
#pragma once

#include <map>
#include <utility>

#include "gpu/workload/device.hpp"

namespace debubble {

class CountingDevice final : public WorkDevice {
 public:
  explicit CountingDevice(DeviceFacts facts = {}) : facts_(std::move(facts)) {}

  [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }
  [[nodiscard]] DeviceAddress allocate(Bytes bytes) override;
  void release(DeviceAddress address) override;
  void upload(DeviceAddress, const void*, Bytes) override {}
  void download(void* to, DeviceAddress from, Bytes bytes) override;  // zeros
  void zero(DeviceAddress, Bytes) override {}
  void launch(const Launch&) override {}
  void gemm(const Gemm&) override {}
  void synchronise() override {}
  void mark(int) override {}
  [[nodiscard]] Nanoseconds elapsed(int, int) override { return 0; }

  [[nodiscard]] Bytes live() const { return live_; }
  [[nodiscard]] Bytes peak() const { return peak_; }

 private:
  DeviceFacts facts_;
  std::map<DeviceAddress, Bytes> sizes_;
  DeviceAddress next_ = 256;
  Bytes live_ = 0;
  Bytes peak_ = 0;
};

}  // namespace debubble
