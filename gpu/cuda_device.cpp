#include "gpu/cuda_device.hpp"

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "gpu/cuda_check_kernels.hpp"
#include "gpu/workload/kernels.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr Bytes kTickBytes = 256;
constexpr int kOldestCapability = 80;  // bf16 arithmetic

std::string file_text(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

unsigned grid_size(std::int64_t blocks) {
  constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;  // of a grid's first dimension
  if (blocks < 1 || blocks > kMostBlocks) throw std::logic_error("a launch of " + std::to_string(blocks) + " blocks");
  return static_cast<unsigned>(blocks);
}

KernelImages compile_kernels(const Nvrtc& nvrtc, DataType type, int capability) {
  return {compile_for(nvrtc, kernel_source(type), "debubble_kernels.cu", capability),
          compile_for(nvrtc, kCheckKernels, "debubble_checks.cu", capability)};
}

std::shared_ptr<const CudaLibraries> load_cuda_libraries() {
  const auto libraries = std::make_shared<CudaLibraries>();
  libraries->driver = load_cuda_driver();
  libraries->cublaslt = load_cublaslt(libraries->driver.version);
  libraries->nvrtc = load_nvrtc(libraries->driver.version);
  return libraries;
}

DeviceFacts read_device_facts(const CudaLibraries& libraries, cuda::Device device) {
  const CudaDriver& driver = libraries.driver;
  const auto attribute = [&driver, device](int which) {
    int value = 0;
    check_cuda(driver, driver.call.device_attribute(&value, which, device), "asking what the GPU can do");
    return value;
  };
  std::array<char, 256> name{};
  std::size_t memory = 0;
  check_cuda(driver, driver.call.device_name(name.data(), static_cast<int>(name.size()), device),
             "asking the GPU's name");
  check_cuda(driver, driver.call.device_memory(&memory, device), "asking the GPU's memory");
  DeviceFacts facts;
  facts.name = name.data();
  facts.driver = kernel_driver_version(file_text("/proc/driver/nvidia/version"));
  if (facts.driver.empty()) facts.driver = "for CUDA " + cuda_version_text(libraries.driver.version);
  facts.cuda = cuda_version_text(libraries.nvrtc.version);
  facts.processors = attribute(cuda::kProcessorCount);
  facts.memory = static_cast<Bytes>(memory);
  facts.capability = attribute(cuda::kCapabilityMajor) * 10 + attribute(cuda::kCapabilityMinor);
  if (facts.capability < kOldestCapability) {
    throw UnavailableError({"U021", facts.name,
                            "this GPU is of compute capability " + std::to_string(facts.capability / 10) + "." +
                                std::to_string(facts.capability % 10) + "; the workload's kernels need 8.0",
                            "use a GPU of the Ampere generation (A100, RTX 30) or newer"});
  }
  return facts;
}

int visible_gpus(const CudaDriver& driver) {
  initialise(driver);
  int count = 0;
  check_cuda(driver, driver.call.device_count(&count), "counting GPUs");
  return count;
}

CudaContext::CudaContext(const CudaDriver& driver, int ordinal) : driver_(driver) {
  const int count = visible_gpus(driver);
  if (ordinal < 0 || ordinal >= count) {
    throw UnavailableError({"U021", "--device " + std::to_string(ordinal),
                            "there is no GPU " + std::to_string(ordinal) + "; CUDA sees " + std::to_string(count),
                            "numbers start at 0 and count what CUDA_VISIBLE_DEVICES leaves visible"});
  }
  check_cuda(driver, driver.call.device_get(&device_, ordinal), "opening the GPU");
  const cuda::Result retained = driver.call.context_retain(&context_, device_);
  if (retained != cuda::kSuccess) {
    throw UnavailableError({"U021", "", "no work can be started on the GPU: " + cuda_error(driver, retained),
                            "is it full or reserved (nvidia-smi: memory in use, compute mode)?"});
  }
  const cuda::Result entered = driver.call.context_set(context_);
  if (entered != cuda::kSuccess) driver.call.context_release(device_);
  check_cuda(driver, entered, "entering the GPU's context");
}

CudaContext::~CudaContext() {
  driver_.call.context_set(nullptr);
  driver_.call.context_release(device_);
}

CudaDevice::CudaDevice(std::shared_ptr<const CudaLibraries> libraries, int ordinal, DataType type)
    : libraries_(std::move(libraries)),
      context_(libraries_->driver, ordinal),
      facts_(read_device_facts(*libraries_, context_.device())),
      events_(kMarks) {
  const CudaDriver& driver = libraries_->driver;
  for (OwnedHandle<cuda::Stream>& owned : streams_) {
    cuda::Stream made = nullptr;
    check(driver.call.stream_create(&made, cuda::kStreamNonBlocking), "making a stream");
    owned = {made, driver.call.stream_destroy};
  }
  const KernelImages images = compile_kernels(libraries_->nvrtc, type, facts_.capability);
  kernels_ = load(images.workload);
  check_kernels_ = load(images.checks);
  scratch_ = allocate(kGemmWorkspace + kTickBytes);  // NOLINT: needs the facts and the context
  try {
    zero(scratch_, kGemmWorkspace + kTickBytes);
    gemm_ = std::make_unique<CublasLtGemm>(libraries_->cublaslt, scratch_);
    synchronise();
  } catch (...) {
    release(scratch_);
    throw;
  }
}

CudaDevice::~CudaDevice() {
  for (const OwnedHandle<cuda::Stream>& owned : streams_) libraries_->driver.call.stream_synchronise(owned.get());
  gemm_.reset();
  release(scratch_);
}

void CudaDevice::check(cuda::Result result, const std::string& what) const {
  check_cuda(libraries_->driver, result, what);
}

OwnedHandle<cuda::Module> CudaDevice::load(const std::string& image) const {
  cuda::Module made = nullptr;
  check(libraries_->driver.call.module_load(&made, image.c_str()), "loading the kernels");
  return {made, libraries_->driver.call.module_unload};
}

DeviceAddress CudaDevice::allocate(Bytes bytes) {
  if (bytes <= 0) return 0;
  cuda::Address address = 0;
  const cuda::Result result = libraries_->driver.call.allocate(&address, static_cast<std::size_t>(bytes));
  if (result == cuda::kOutOfMemory) {
    throw UnavailableError({"U026", facts_.name,
                            "out of device memory: " + mebibytes(bytes) + " asked for, " + mebibytes(free_memory()) +
                                " of " + mebibytes(facts_.memory) + " free",
                            "a smaller --microbatch-size or --sequence, or a larger --tp, needs less"});
  }
  check(result, "allocating " + mebibytes(bytes));
  return address;
}

void CudaDevice::release(DeviceAddress address) {
  if (address != 0) libraries_->driver.call.release(address);  // a failure here was reported by an earlier call
}

Bytes CudaDevice::free_memory() const {
  std::size_t free = 0;
  std::size_t total = 0;
  check(libraries_->driver.call.memory_info(&free, &total), "asking for the free memory");
  return static_cast<Bytes>(free);
}

void CudaDevice::upload(DeviceAddress to, const void* from, Bytes bytes) {
  if (bytes <= 0) return;
  check(libraries_->driver.call.upload(to, from, static_cast<std::size_t>(bytes), stream()), "a copy to the GPU");
  synchronise();
}

void CudaDevice::download(void* to, DeviceAddress from, Bytes bytes) {
  if (bytes <= 0) return;
  check(libraries_->driver.call.download(to, from, static_cast<std::size_t>(bytes), stream()), "a copy from the GPU");
  synchronise();
}

void CudaDevice::zero(DeviceAddress address, Bytes bytes) {
  if (bytes <= 0) return;
  check(libraries_->driver.call.set_bytes(address, 0, static_cast<std::size_t>(bytes), stream()), "a memset");
}

cuda::Function CudaDevice::function(std::string_view name, Bytes shared_memory) {
  const cuda::Functions& call = libraries_->driver.call;
  auto known = functions_.find(name);
  if (known == functions_.end()) {
    const std::string text(name);
    KnownFunction found;
    cuda::Result result = call.module_function(&found.function, kernels_.get(), text.c_str());
    if (result == cuda::kNotFound) result = call.module_function(&found.function, check_kernels_.get(), text.c_str());
    check(result, "finding the kernel " + text);
    known = functions_.emplace(text, found).first;
  }
  if (shared_memory > known->second.shared_memory) {
    check(call.function_set(known->second.function, cuda::kFunctionSharedMemory, static_cast<int>(shared_memory)),
          "giving " + mebibytes(shared_memory) + " of shared memory to the kernel " + known->first);
    known->second.shared_memory = shared_memory;
  }
  return known->second.function;
}

void CudaDevice::issue(cuda::Function function, std::string_view name, unsigned blocks, unsigned threads,
                       unsigned shared_bytes, void* const* arguments) {
  last_issued_ = name;
  auto* const values = const_cast<void**>(arguments);  // NOLINT: the driver only reads, whatever its prototype says
  const cuda::Result result =
      libraries_->driver.call.launch(function, blocks, 1, 1, threads, 1, 1, shared_bytes, stream(), values, nullptr);
  if (result != cuda::kSuccess) check(result, "the kernel " + last_issued_);
}

void CudaDevice::launch(const Launch& launch) {
  issue(function(launch.kernel, launch.shared_memory), launch.kernel, grid_size(launch.blocks),
        static_cast<unsigned>(launch.threads), static_cast<unsigned>(launch.shared_memory), launch.arguments.data());
}

void CudaDevice::gemm(const Gemm& gemm) {
  last_issued_ = "a matmul";
  gemm_->run(gemm, stream());
}

void CudaDevice::synchronise() {
  for (const OwnedHandle<cuda::Stream>& owned : streams_) {
    const cuda::Result result = libraries_->driver.call.stream_synchronise(owned.get());
    if (result == cuda::kSuccess) continue;
    check(result, last_issued_.empty() ? "waiting for the GPU"
                                       : "the kernel " + last_issued_ + ", or one issued shortly before it,");
  }
}

cuda::Event CudaDevice::event(int number) {
  if (number < 0 || number >= kMarks) throw std::logic_error("there is no mark " + std::to_string(number));
  OwnedHandle<cuda::Event>& owned = at(events_, number);
  if (owned.get() == nullptr) {
    cuda::Event made = nullptr;
    check(libraries_->driver.call.event_create(&made, cuda::kEventDefault), "making an event");
    owned = {made, libraries_->driver.call.event_destroy};
  }
  return owned.get();
}

void CudaDevice::mark(int number) {
  check(libraries_->driver.call.event_record(event(number), stream()), "recording an event");
}

Nanoseconds CudaDevice::elapsed(int from, int to) {
  const cuda::Functions& call = libraries_->driver.call;
  check(call.event_synchronise(event(from)), "waiting for an event");
  check(call.event_synchronise(event(to)), "waiting for an event");
  float milliseconds = 0.0F;
  check(call.event_elapsed(&milliseconds, event(from), event(to)), "reading events");
  return std::llround(static_cast<double>(milliseconds) * static_cast<double>(kNanosecondsPerMillisecond));
}

void CudaDevice::hold(Nanoseconds duration) {
  long long nanoseconds = duration;
  std::array<void*, 1> arguments{&nanoseconds};
  issue(function(kHoldKernel, 0), kHoldKernel, 1, 1, 0, arguments.data());
}

void CudaDevice::tick() {
  DeviceAddress count = scratch_ + static_cast<DeviceAddress>(kGemmWorkspace);
  std::array<void*, 1> arguments{&count};
  issue(function(kTickKernel, 0), kTickKernel, 1, 1, 0, arguments.data());
}

void CudaDevice::use_stream(int number) {
  if (number != 0 && number != 1) throw std::logic_error("there is no stream " + std::to_string(number));
  stream_in_use_ = number;
}

void CudaDevice::wait_for_mark(int number) {
  check(libraries_->driver.call.stream_wait(stream(), event(number), 0), "waiting for the other stream");
}

}  // namespace debubble
