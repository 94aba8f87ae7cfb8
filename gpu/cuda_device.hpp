// CudaDevice: a GPU for the built-in workload, through the driver, cuBLASLt and NVRTC, all loaded at run time.
//
// Used from the thread that made it. Every resource (context, module, streams, events, workspace) is given back in the
// destructor, so that one size after another can be measured in one process; buffers are their owners'.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu/cublaslt_gemm.hpp"
#include "gpu/driver_api.hpp"
#include "gpu/nvrtc_api.hpp"
#include "sim/core/at.hpp"

namespace debubble {

struct CudaLibraries {
  CudaDriver driver;
  CublasLt cublaslt;
  Nvrtc nvrtc;
};

// Opens all three; touches no GPU, so that CUPTI can be started after it and before the first CUDA call. Throws
// UnavailableError U020 no driver or a stub, U023 no cuBLASLt or no NVRTC, U025 driver older than the libraries.
[[nodiscard]] std::shared_ptr<const CudaLibraries> load_cuda_libraries();

// The kernels' machine code for one kind of GPU, ready for the driver.
struct KernelImages {
  std::string workload;  // see gpu/workload/kernels.hpp
  std::string checks;    // see cuda_check_kernels.hpp
};
[[nodiscard]] KernelImages compile_kernels(const Nvrtc& nvrtc, DataType type, int capability);

// What the driver knows of a GPU. Throws UnavailableError U021 for one that is too old for the kernels.
[[nodiscard]] DeviceFacts read_device_facts(const CudaLibraries& libraries, cuda::Device device);

// GPUs that CUDA sees, after CUDA_VISIBLE_DEVICES. Throws UnavailableError U021 where none can be used.
[[nodiscard]] int visible_gpus(const CudaDriver& driver);

// A grid's size; std::logic_error beyond what a grid may have.
[[nodiscard]] unsigned grid_size(std::int64_t blocks);

// Gives a primary context back.
class CudaContext {
 public:
  // Throws UnavailableError U021 where no GPU can be used, or none has this number.
  CudaContext(const CudaDriver& driver, int ordinal);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  [[nodiscard]] cuda::Device device() const { return device_; }
  [[nodiscard]] cuda::Context handle() const { return context_; }

 private:
  const CudaDriver& driver_;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
};

class CudaDevice final : public WorkDevice {
 public:
  // Kernels are compiled for `type`; matmuls may have any. Throws UnavailableError U021, U023, U026, U027.
  CudaDevice(std::shared_ptr<const CudaLibraries> libraries, int ordinal, DataType type);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }
  [[nodiscard]] DeviceAddress allocate(Bytes bytes) override;
  void release(DeviceAddress address) override;
  void upload(DeviceAddress to, const void* from, Bytes bytes) override;
  void download(void* to, DeviceAddress from, Bytes bytes) override;
  void zero(DeviceAddress address, Bytes bytes) override;
  // Throws UnavailableError U027 with the kernel's name and CUDA's error where the GPU refuses.
  void launch(const Launch& launch) override;
  void gemm(const Gemm& gemm) override;
  // Throws UnavailableError U027 with the last kernel issued where one of them failed.
  void synchronise() override;
  void mark(int number) override;
  [[nodiscard]] Nanoseconds elapsed(int from, int to) override;

  [[nodiscard]] Bytes free_memory() const;

  // The rest is for measuring the profiler itself.
  //
  // Keeps the stream busy, so that the host gets ahead with what follows.
  void hold(Nanoseconds duration);
  // The smallest kernel there is: one thread adds one to a number.
  void tick();
  // A second stream: what follows is issued there. 0 or 1.
  void use_stream(int number);
  // What follows on the stream in use waits for a mark of the other.
  void wait_for_mark(int number);

 private:
  static constexpr int kMarks = 1024;

  void check(cuda::Result result, const std::string& what) const;
  void issue(cuda::Function function, std::string_view name, unsigned blocks, unsigned threads, unsigned shared_bytes,
             void* const* arguments);
  cuda::Function function(std::string_view name, Bytes shared_memory);
  OwnedHandle<cuda::Module> load(const std::string& image) const;
  [[nodiscard]] cuda::Stream stream() const { return at(streams_, stream_in_use_).get(); }
  [[nodiscard]] cuda::Event event(int number);

  struct KnownFunction {
    cuda::Function function = nullptr;
    Bytes shared_memory = cuda::kFreeSharedMemory;  // allowed so far
  };

  // In the order of making; destroyed backwards.
  std::shared_ptr<const CudaLibraries> libraries_;
  CudaContext context_;
  DeviceFacts facts_;
  std::array<OwnedHandle<cuda::Stream>, 2> streams_;
  std::vector<OwnedHandle<cuda::Event>> events_;
  OwnedHandle<cuda::Module> kernels_;
  OwnedHandle<cuda::Module> check_kernels_;
  std::map<std::string, KnownFunction, std::less<>> functions_;
  DeviceAddress scratch_ = 0;  // cuBLASLt's workspace, then the number that tick() counts in
  std::unique_ptr<CublasLtGemm> gemm_;
  int stream_in_use_ = 0;
  std::string last_issued_;
};

}  // namespace debubble
