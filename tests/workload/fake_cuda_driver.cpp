// The fake libcuda.so.1. See fake_cuda.hpp.
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/cuda_abi.hpp"
#include "tests/workload/fake_cuda_gpu.hpp"
#include "tests/workload/fake_cuda_kernels.hpp"

using debubble::Nanoseconds;
using namespace debubble::testing;  // NOLINT(google-build-using-namespace): this file is only exported C functions
namespace cuda = debubble::cuda;

namespace {

constexpr int kInvalidValue = 1;
constexpr int kInvalidContext = 201;
constexpr int kInvalidHandle = 400;
constexpr int kLaunchOutOfResources = 701;
constexpr int kCaptureUnsupported = 900;
constexpr std::size_t kSmall = 65'536;  // a memset of so little is done on an idle GPU too

FakeStream& stream_of(cuda::Stream stream) {
  return stream == nullptr ? FakeGpu::one().default_stream() : *reinterpret_cast<FakeStream*>(stream);
}

FakeEvent& event_of(cuda::Event event) { return *reinterpret_cast<FakeEvent*>(event); }

// Work goes to a stream of the context that is current; whoever mixes them up is told.
bool is_current(cuda::Stream stream) {
  return stream == nullptr || stream_of(stream).context == FakeGpu::one().current;
}

void* memory(cuda::Address address) { return reinterpret_cast<void*>(address); }  // NOLINT(*-int-to-ptr)

Nanoseconds duration_of(const std::string& name, unsigned blocks, unsigned threads, void** arguments) {
  if (name == "debubble_tick") return kFakeTickKernel;
  if (is_live_kernel(name)) return kFakeStamp;
  if (name != "debubble_hold") return fake_kernel_time(blocks, threads);
  long long asked = 0;
  std::memcpy(&asked, arguments[0], sizeof asked);
  return fake_ticks(asked, kFakeTick);
}

struct ErrorName {
  int error;
  const char* name;
  const char* text;
};
constexpr std::array<ErrorName, 20> kErrors{
    {{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
     {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
     {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
     {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "devices are busy or unavailable"},
     {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
     {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
     {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
     {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
     {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
     {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
     {711, "CUDA_ERROR_TOO_MANY_PEERS", "peer mapping resources exhausted"},
     {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
     {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
     {914, "CUDA_ERROR_INVALID_RESOURCE_TYPE", "invalid resource type"},
     {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
     {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
     {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
     {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "a forked stream was not joined"},
     {915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "invalid resource configuration"},
     {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"}}};

const ErrorName* error_called(int error) {
  for (const ErrorName& known : kErrors) {
    if (known.error == error) return &known;
  }
  return nullptr;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) {
  if (const int refused = FakeGpu::refusal("cuInit"); refused != 0) return refused;
  if (FakeGpu::has("stub")) return cuda::kStubLibrary;
  return static_cast<int>(FakeGpu::number("error", 0));
}

int cuDriverGetVersion(int* version) {
  if (FakeGpu::has("stub")) return cuda::kStubLibrary;
  *version = static_cast<int>(FakeGpu::number("driver", 13000));
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = FakeGpu::visible_gpus();
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU");
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  const auto capability = static_cast<int>(FakeGpu::number("capability", 90));
  switch (attribute) {
    case cuda::kProcessorCount:
      *value = static_cast<int>(FakeGpu::number("processors", 4));
      return 0;
    case cuda::kCapabilityMajor:
      *value = capability / 10;
      return 0;
    case cuda::kCapabilityMinor:
      *value = capability % 10;
      return 0;
    default:
      return kInvalidValue;
  }
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = static_cast<std::size_t>(FakeGpu::number("memory", std::int64_t{8} << 30));
  return 0;
}

int cuDevicePrimaryCtxRetain(cuda::Context* context, int device) {
  if (const int refused = FakeGpu::refusal("cuDevicePrimaryCtxRetain"); refused != 0) return refused;
  FakeGpu& gpu = FakeGpu::one();
  ++gpu.live_objects;
  FakeContext& primary = gpu.primary(device);
  primary.gpu = device;
  primary.processors = static_cast<unsigned>(FakeGpu::number("processors", 4));
  *context = reinterpret_cast<cuda::Context>(&primary);
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int) {
  --FakeGpu::one().live_objects;
  FakeGpu::one().broken = 0;  // a broken context is gone with its last user
  return 0;
}

int cuCtxSetCurrent(cuda::Context context) {
  FakeGpu::one().current = reinterpret_cast<FakeContext*>(context);
  return 0;
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *free = FakeGpu::one().free_memory();
  return cuDeviceTotalMem_v2(total, 0);
}

int cuMemAlloc_v2(cuda::Address* address, std::size_t bytes) {
  if (bytes == 0) return kInvalidValue;
  if (FakeGpu::one().is_capturing()) return kCaptureUnsupported;
  void* const found = FakeGpu::one().allocate(bytes);
  *address = reinterpret_cast<cuda::Address>(found);
  return found == nullptr ? cuda::kOutOfMemory : 0;
}

int cuMemFree_v2(cuda::Address address) { return FakeGpu::one().release(memory(address)) ? 0 : kInvalidValue; }

int cuMemcpyHtoDAsync_v2(cuda::Address to, const void* from, std::size_t bytes, cuda::Stream stream) {
  if (!is_current(stream)) return kInvalidContext;
  const auto* const first = static_cast<const std::byte*>(from);
  FakeGpu::one().copy(stream_of(stream), 1, bytes, [to, staged = std::vector<std::byte>(first, first + bytes)] {
    std::memcpy(memory(to), staged.data(), staged.size());
  });
  return 0;
}

int cuMemcpyDtoHAsync_v2(void* to, cuda::Address from, std::size_t bytes, cuda::Stream stream) {
  if (!is_current(stream)) return kInvalidContext;
  FakeGpu::one().copy(stream_of(stream), 2, bytes, [=] { std::memcpy(to, memory(from), bytes); });
  return 0;
}

int cuMemsetD8Async(cuda::Address to, unsigned char value, std::size_t bytes, cuda::Stream stream) {
  if (!is_current(stream)) return kInvalidContext;
  const bool does = !FakeGpu::has("idle") || bytes <= kSmall;
  FakeGpu::one().set(stream_of(stream), bytes, [=] {
    if (does) std::memset(memory(to), value, bytes);
  });
  return 0;
}

int cuModuleLoadData(cuda::Module* module, const void* image) {
  ++FakeGpu::one().live_objects;
  *module = reinterpret_cast<cuda::Module>(new FakeModule{static_cast<const char*>(image)});
  return 0;
}

int cuModuleUnload(cuda::Module module) {
  const auto* const unloaded = reinterpret_cast<FakeModule*>(module);
  --FakeGpu::one().live_objects;
  fake_kernels().erase(unloaded);
  delete unloaded;
  return 0;
}

int cuModuleGetFunction(cuda::Function* function, cuda::Module module, const char* name) {
  const auto* const loaded = reinterpret_cast<FakeModule*>(module);
  Kernel* const kernel = find_kernel(loaded, name);
  if (kernel == nullptr) return cuda::kNotFound;
  *function = reinterpret_cast<cuda::Function>(kernel);
  return 0;
}

int cuFuncSetAttribute(cuda::Function function, int attribute, int value) {
  if (attribute != cuda::kFunctionSharedMemory) return kInvalidValue;
  reinterpret_cast<Kernel*>(function)->shared_memory = value;
  return 0;
}

int cuLaunchKernel(cuda::Function function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned shared_bytes, cuda::Stream stream, void** arguments, void**) {
  Kernel& kernel = *reinterpret_cast<Kernel*>(function);
  FakeGpu& gpu = FakeGpu::one();
  if (gpu.broken != 0) return gpu.broken;
  if (!is_current(stream)) return kInvalidContext;
  if (blocks == 0 || threads == 0 || threads > 1024) return kInvalidValue;
  if (shared_bytes > static_cast<unsigned>(kernel.shared_memory)) return kInvalidValue;
  if (FakeGpu::value("fail_launch") == kernel.name) return kLaunchOutOfResources;
  if (FakeGpu::has("lazy") && !kernel.loaded) {
    if (stream_of(stream).capture != nullptr) return kCaptureUnsupported;
    gpu.wait_until_idle();
    kernel.loaded = true;
  }
  const KernelArguments values(kernel, arguments);
  const Nanoseconds duration = duration_of(kernel.name, blocks, threads, arguments);
  std::function<bool()> ready;
  if (FakeGpu::value("hang") == kernel.name) ready = [] { return false; };
  if (kernel.name == kWaitKernel) {
    ready = [word = values.read<const volatile std::uint32_t*>(0), least = values.read<std::uint32_t>(1)] {
      return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= least;
    };
  }
  const bool does = !FakeGpu::has("idle") || is_live_kernel(kernel.name);
  gpu.kernel(
      stream_of(stream), kernel.name, duration,
      [does, values, &kernel, blocks, threads](Nanoseconds begin) {
        if (does) run_kernel(kernel, blocks, threads, values, begin);
      },
      ready);
  return 0;
}

int cuStreamCreate(cuda::Stream* stream, unsigned) {
  ++FakeGpu::one().live_objects;
  *stream = reinterpret_cast<cuda::Stream>(FakeGpu::one().make_stream(FakeGpu::one().current));
  return 0;
}

int cuStreamDestroy_v2(cuda::Stream stream) {
  --FakeGpu::one().live_objects;
  FakeGpu::one().destroy(reinterpret_cast<FakeStream*>(stream));
  return 0;
}

int cuStreamSynchronize(cuda::Stream stream) {
  if (stream_of(stream).capture != nullptr) return kCaptureUnsupported;
  if (FakeGpu::one().broken == 0) FakeGpu::one().drain(stream_of(stream));
  return FakeGpu::one().broken;
}

int cuStreamWaitEvent(cuda::Stream stream, cuda::Event event, unsigned) {
  FakeGpu::one().wait(stream_of(stream), event_of(event));
  return 0;
}

int cuEventCreate(cuda::Event* event, unsigned) {
  ++FakeGpu::one().live_objects;
  *event = reinterpret_cast<cuda::Event>(new FakeEvent{FakeGpu::one().current, nullptr, nullptr, {}});
  return 0;
}

int cuEventDestroy_v2(cuda::Event event) {
  --FakeGpu::one().live_objects;
  delete &event_of(event);
  return 0;
}

int cuEventRecord(cuda::Event event, cuda::Stream stream) {
  if (event_of(event).context != stream_of(stream).context) return kInvalidHandle;
  FakeGpu::one().record(event_of(event), stream_of(stream));
  return 0;
}

int cuEventSynchronize(cuda::Event event) {
  FakeGpu& gpu = FakeGpu::one();
  if (gpu.broken != 0 || event_of(event).mark == nullptr) return gpu.broken;
  for (gpu.pump(); !event_of(event).mark->reached;) gpu.pump();
  return gpu.broken;
}

int cuEventElapsedTime(float* milliseconds, cuda::Event from, cuda::Event to) {
  const auto& [first, second] = std::pair(event_of(from).mark, event_of(to).mark);
  if (first == nullptr || second == nullptr) return kInvalidHandle;  // never recorded
  *milliseconds = static_cast<float>(static_cast<double>(second->time - first->time) / 1e6);
  return 0;
}

int cuGetErrorName(int error, const char** name) {
  const ErrorName* const known = error_called(error);
  *name = known == nullptr ? nullptr : known->name;
  return known == nullptr ? kInvalidValue : 0;
}

int cuGetErrorString(int error, const char** text) {
  const ErrorName* const known = error_called(error);
  *text = known == nullptr ? nullptr : known->text;
  return known == nullptr ? kInvalidValue : 0;
}

}  // extern "C"
#pragma GCC visibility pop
