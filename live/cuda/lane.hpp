// LaneDevice: one virtual device for the built-in workload: its compute stream, its own cuBLASLt handle and workspace,
// its kernels. Everything is issued in order on that stream, or captured where the stream is being captured.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "gpu/cublaslt_gemm.hpp"
#include "gpu/workload/device.hpp"
#include "live/cuda/gpu_parts.hpp"

namespace debubble::live {

// Machine code of the workload's kernels and of the executor's own.
struct LiveImages {
  KernelImages base;
  std::string live;  // see live_kernels.hpp
};
[[nodiscard]] LiveImages compile_live_kernels(const CudaLibraries& libraries, DataType type, int capability);

class LaneDevice final : public WorkDevice {
 public:
  // `parts` must outlive it. Throws UnavailableError U026, U027.
  LaneDevice(const GpuParts& parts, const GpuPart& part, const LiveImages& images);
  ~LaneDevice() override;
  LaneDevice(const LaneDevice&) = delete;
  LaneDevice& operator=(const LaneDevice&) = delete;

  [[nodiscard]] const DeviceFacts& facts() const override { return parts_.facts(part_); }
  [[nodiscard]] DeviceAddress allocate(Bytes bytes) override;
  void release(DeviceAddress address) override;
  void upload(DeviceAddress to, const void* from, Bytes bytes) override;
  void download(void* to, DeviceAddress from, Bytes bytes) override;
  void zero(DeviceAddress address, Bytes bytes) override;
  void launch(const Launch& launch) override;
  void gemm(const Gemm& gemm) override;
  void synchronise() override;
  void mark(int number) override;
  [[nodiscard]] Nanoseconds elapsed(int from, int to) override;

  [[nodiscard]] const CudaDriver& driver() const { return parts_.libraries().driver; }
  // Before this lane issues, where another did before.
  void enter() const { parts_.enter(part_); }
  [[nodiscard]] cuda::Stream stream() const { return stream_.get(); }
  [[nodiscard]] const GpuPart& part() const { return part_; }
  // A kernel of this lane's on any stream of its part, or of the transfer part.
  void launch_on(cuda::Stream stream, const Launch& launch);
  // Called before each thing that goes to a stream; empty: nobody wants to know.
  void set_issue_callback(std::function<void(cuda::Stream)> on_issue) { on_issue_ = std::move(on_issue); }
  [[nodiscard]] Bytes allocated() const { return allocated_; }  // by `allocate`, and not released
  [[nodiscard]] std::int64_t launches() const { return launches_; }

 private:
  void check(cuda::Result result, const std::string& what) const;
  [[nodiscard]] OwnedHandle<cuda::Library> load(const std::string& image) const;
  [[nodiscard]] cuda::Function kernel(std::string_view name);

  const GpuParts& parts_;
  GpuPart part_;
  OwnedHandle<cuda::Stream> stream_;
  std::vector<OwnedHandle<cuda::Library>> libraries_;
  std::map<std::string, cuda::Function, std::less<>> kernels_;
  std::map<DeviceAddress, Bytes> sizes_;
  Bytes allocated_ = 0;
  std::int64_t launches_ = 0;
  DeviceAddress workspace_ = 0;
  std::unique_ptr<CublasLtGemm> products_;
  std::map<int, OwnedHandle<cuda::Event>> marks_;
  std::string last_issued_;
  std::function<void(cuda::Stream)> on_issue_;
};

}  // namespace debubble::live
