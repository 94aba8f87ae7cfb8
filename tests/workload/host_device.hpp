// HostDevice: a WorkDevice on the CPU. Kernels are the workload's own text, run block by block; products are plain
// loops that add up in fp32. New memory holds no numbers (NaN), so what is read before it is written shows.
#pragma once

#include <map>
#include <set>
#include <string>

#include "gpu/workload/device.hpp"
#include "tests/workload/block_runner.hpp"
#include "tests/workload/host_kernels.hpp"

namespace debubble::test {

class HostDevice final : public WorkDevice {
 public:
  explicit HostDevice(DataType type);
  ~HostDevice() override;
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;

  [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }
  [[nodiscard]] DeviceAddress allocate(Bytes bytes) override;
  void release(DeviceAddress address) override;
  void upload(DeviceAddress to, const void* from, Bytes bytes) override;
  void download(void* to, DeviceAddress from, Bytes bytes) override;
  void zero(DeviceAddress address, Bytes bytes) override;
  void launch(const Launch& launch) override;
  void gemm(const Gemm& gemm) override;
  void synchronise() override {}
  void mark(int /*number*/) override {}
  [[nodiscard]] Nanoseconds elapsed(int /*from*/, int /*to*/) override { return 0; }

  // What a test may look at, or break.
  std::string left_out;               // this kernel does nothing
  bool no_products = false;           // gemm does nothing
  std::set<std::string> launched;     // names of all kernels so far
  Bytes allocated = 0;                // now
  std::map<std::string, int> counts;  // "gemm", and kernels by name, since a test last cleared it

 private:
  DeviceFacts facts_;
  const HostKernels& kernels_;
  BlockRunner runner_;
  std::map<DeviceAddress, Bytes> memory_;
};

}  // namespace debubble::test
