#include "live/cuda/lane.hpp"

#include <cmath>
#include <utility>

#include "live/cuda/live_kernels.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble::live {

LiveImages compile_live_kernels(const CudaLibraries& libraries, DataType type, int capability) {
  return {compile_kernels(libraries.nvrtc, type, capability),
          compile_for(libraries.nvrtc, live_kernel_source(), "debubble_live.cu", capability)};
}

LaneDevice::LaneDevice(const GpuParts& parts, const GpuPart& part, const LiveImages& images)
    : parts_(parts), part_(part), stream_(parts.make_stream(part, false)) {
  enter();
  for (const std::string* image : {&images.base.workload, &images.base.checks, &images.live}) {
    libraries_.push_back(load(*image));
  }
  workspace_ = allocate(kGemmWorkspace);  // NOLINT: needs the stream and nothing that a subclass could change
  try {
    products_ = std::make_unique<CublasLtGemm>(parts_.libraries().cublaslt, workspace_, part_.processors);
  } catch (...) {
    release(workspace_);
    throw;
  }
}

LaneDevice::~LaneDevice() {
  const CudaDriver& driver = parts_.libraries().driver;
  driver.call.context_set(part_.context);
  driver.call.stream_synchronise(stream_.get());
  products_.reset();
  release(workspace_);
}

void LaneDevice::check(cuda::Result result, const std::string& what) const {
  check_cuda(parts_.libraries().driver, result, what);
}

OwnedHandle<cuda::Library> LaneDevice::load(const std::string& image) const {
  const cuda::LiveFunctions& live = parts_.libraries().driver.live;
  cuda::Library made = nullptr;
  check(live.library_load(&made, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), "loading the kernels");
  return {made, live.library_unload};
}

cuda::Function LaneDevice::kernel(std::string_view name) {
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second;
  const std::string text(name);
  cuda::Function found = nullptr;
  cuda::Result result = cuda::kNotFound;
  for (const OwnedHandle<cuda::Library>& library : libraries_) {
    result = parts_.libraries().driver.live.library_kernel(&found, library.get(), text.c_str());
    if (result != cuda::kNotFound) break;
  }
  check(result, "finding the kernel " + text);
  kernels_.emplace(text, found);
  return found;
}

DeviceAddress LaneDevice::allocate(Bytes bytes) {
  if (bytes <= 0) return 0;
  enter();
  cuda::Address address = 0;
  const CudaDriver& driver = parts_.libraries().driver;
  const cuda::Result result = driver.call.allocate(&address, static_cast<std::size_t>(bytes));
  if (result == cuda::kOutOfMemory) {
    std::size_t free = 0;
    std::size_t total = 0;
    check(driver.call.memory_info(&free, &total), "asking for the free memory");
    throw UnavailableError({"U026", facts().name,
                            "out of device memory: " + debubble::mebibytes(bytes) + " requested in addition to " +
                                debubble::mebibytes(allocated_) + " of this device, " +
                                debubble::mebibytes(static_cast<Bytes>(free)) + " of " +
                                debubble::mebibytes(static_cast<Bytes>(total)) + " free",
                            "fewer microbatches, a smaller --microbatch-size or --sequence, or a schedule that holds "
                            "fewer activations needs less"});
  }
  check(result, "allocating " + std::to_string(bytes) + " bytes");
  sizes_[address] = bytes;
  allocated_ += bytes;
  return address;
}

void LaneDevice::release(DeviceAddress address) {
  const auto known = sizes_.find(address);
  if (known == sizes_.end()) return;
  allocated_ -= known->second;
  sizes_.erase(known);
  const CudaDriver& driver = parts_.libraries().driver;
  driver.call.context_set(part_.context);
  driver.call.release(address);  // a failure here was reported by an earlier call
}

void LaneDevice::upload(DeviceAddress to, const void* from, Bytes bytes) {
  if (bytes <= 0) return;
  enter();
  check(parts_.libraries().driver.call.upload(to, from, static_cast<std::size_t>(bytes), stream()),
        "a copy to the GPU");
  synchronise();
}

void LaneDevice::download(void* to, DeviceAddress from, Bytes bytes) {
  if (bytes <= 0) return;
  enter();
  check(parts_.libraries().driver.call.download(to, from, static_cast<std::size_t>(bytes), stream()),
        "a copy from the GPU");
  synchronise();
}

void LaneDevice::zero(DeviceAddress address, Bytes bytes) {
  if (bytes <= 0) return;
  if (on_issue_) on_issue_(stream());
  check(parts_.libraries().driver.call.set_bytes(address, 0, static_cast<std::size_t>(bytes), stream()), "a memset");
}

void LaneDevice::launch(const Launch& launch) { launch_on(stream(), launch); }

void LaneDevice::launch_on(cuda::Stream stream, const Launch& launch) {
  const cuda::Function function = kernel(launch.kernel);
  last_issued_ = launch.kernel;
  if (on_issue_) on_issue_(stream);
  ++launches_;
  auto* const values = const_cast<void**>(launch.arguments.data());  // NOLINT: only read, whatever the prototype says
  check(parts_.libraries().driver.call.launch(function, grid_size(launch.blocks), 1, 1,
                                              static_cast<unsigned>(launch.threads), 1, 1,
                                              static_cast<unsigned>(launch.shared_memory), stream, values, nullptr),
        "the kernel " + last_issued_);
}

void LaneDevice::gemm(const Gemm& gemm) {
  last_issued_ = "a matmul";
  if (on_issue_) on_issue_(stream());
  ++launches_;
  products_->run(gemm, stream());
}

void LaneDevice::synchronise() {
  const cuda::Result result = parts_.libraries().driver.call.stream_synchronise(stream());
  if (result != cuda::kSuccess) {
    check(result, last_issued_.empty() ? "waiting for the GPU"
                                       : "the kernel " + last_issued_ + ", or one issued shortly before it,");
  }
}

void LaneDevice::mark(int number) {
  const CudaDriver& driver = parts_.libraries().driver;
  OwnedHandle<cuda::Event>& owned = marks_[number];
  if (owned.get() == nullptr) {
    enter();
    cuda::Event made = nullptr;
    check(driver.call.event_create(&made, cuda::kEventDefault), "making an event");
    owned = {made, driver.call.event_destroy};
  }
  check(driver.call.event_record(owned.get(), stream()), "recording an event");
}

Nanoseconds LaneDevice::elapsed(int from, int to) {
  const CudaDriver& driver = parts_.libraries().driver;
  check(driver.call.event_synchronise(marks_[from].get()), "waiting for an event");
  check(driver.call.event_synchronise(marks_[to].get()), "waiting for an event");
  float milliseconds = 0.0F;
  check(driver.call.event_elapsed(&milliseconds, marks_[from].get(), marks_[to].get()), "reading events");
  return std::llround(static_cast<double>(milliseconds) * static_cast<double>(kNanosecondsPerMillisecond));
}

}  // namespace debubble::live
