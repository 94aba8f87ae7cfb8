// What live execution asks of the driver, by the fake one: libraries, green contexts, host memory, peers, graphs.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "gpu/cuda_abi.hpp"
#include "tests/workload/fake_cuda_gpu.hpp"
#include "tests/workload/fake_cuda_kernels.hpp"
#include "tests/workload/fake_drivers.hpp"

using namespace debubble::testing;  // NOLINT(google-build-using-namespace): this file is only exported C functions
namespace cuda = debubble::cuda;

namespace {

constexpr int kInvalidValue = 1;
constexpr int kInvalidContext = 201;
constexpr int kPeerNotEnabled = 705;

FakeStream& stream_of(cuda::Stream stream) { return *reinterpret_cast<FakeStream*>(stream); }
FakeContext* context_of(cuda::Context context) { return reinterpret_cast<FakeContext*>(context); }
void* memory(cuda::Address address) { return reinterpret_cast<void*>(address); }  // NOLINT(*-int-to-ptr)

unsigned processors() { return static_cast<unsigned>(FakeGpu::number("processors", 4)); }

FakeGranularity granularity() {
  if (FakeGpu::has("least_part")) {
    const auto least = static_cast<unsigned>(FakeGpu::number("least_part", 1));
    return {least, least};
  }
  if (processors() < 16) return {1, 1};
  return fake_granularity(static_cast<int>(FakeGpu::number("capability", 90)));
}

bool driver_tells_granularity() {
  const std::int64_t version = FakeGpu::number("driver", 13000);
  const auto* const newer = std::find_if(kFakeDrivers.begin(), kFakeDrivers.end(),
                                         [version](const FakeDriver& driver) { return driver.version > version; });
  return newer != kFakeDrivers.begin() && (newer - 1)->tells_granularity;
}

cuda::ProcessorResource resource_of(unsigned count) {
  cuda::ProcessorResource resource;
  resource.type = cuda::kProcessorResource;
  resource.processors = count;
  if (!driver_tells_granularity()) return resource;
  resource.least_part = granularity().least;
  resource.aligned_to = granularity().step;
  return resource;
}

template <typename Handle>
int hand_out(Handle* handle, void* object) {
  ++FakeGpu::one().live_objects;
  *handle = reinterpret_cast<Handle>(object);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuDeviceGetUuid_v2(cuda::Uuid* uuid, int device) {
  *uuid = {};
  uuid->bytes[0] = 0xfa;
  uuid->bytes[15] = static_cast<unsigned char>(FakeGpu::visible_gpu(device));
  return 0;
}

int cuLibraryLoadData(cuda::Library* library, const void* image, int*, void**, unsigned, int*, void**, unsigned) {
  return hand_out(library, new FakeModule{static_cast<const char*>(image)});
}

int cuLibraryUnload(cuda::Library library) {
  const auto* const unloaded = reinterpret_cast<FakeModule*>(library);
  --FakeGpu::one().live_objects;
  fake_kernels().erase(unloaded);
  delete unloaded;
  return 0;
}

int cuLibraryGetKernel(cuda::Function* kernel, cuda::Library library, const char* name) {
  const auto* const loaded = reinterpret_cast<FakeModule*>(library);
  Kernel* const found = find_kernel(loaded, name);
  if (found == nullptr) return cuda::kNotFound;
  *kernel = reinterpret_cast<cuda::Function>(found);
  return 0;
}

int cuDeviceGetDevResource(int, cuda::ProcessorResource* resource, int type) {
  if (const int refused = FakeGpu::refusal("cuDeviceGetDevResource"); refused != 0) return refused;
  if (FakeGpu::has("no_green")) return cuda::kNotSupported;
  if (type != cuda::kProcessorResource) return kInvalidValue;
  *resource = resource_of(processors());
  return 0;
}

// Equal groups, as many as were asked for or as there are; the rest is what is left over. The fields of a resource are
// the driver's: "output parameter only, do not write to this field" (cuda.h, CUdevSmResource).
int cuDevSmResourceSplitByCount(cuda::ProcessorResource* parts, unsigned* count, const cuda::ProcessorResource* whole,
                                cuda::ProcessorResource* rest, unsigned, unsigned least) {
  if (const int refused = FakeGpu::refusal("cuDevSmResourceSplitByCount"); refused != 0) return refused;
  const cuda::ProcessorResource written = resource_of(whole->processors);
  if (std::memcmp(&written, whole, sizeof written) != 0) return kInvalidValue;
  const auto [smallest, step] = granularity();
  const unsigned size = std::max(smallest, (least + step - 1) / step * step);
  if (size > whole->processors) return cuda::kInvalidResourceConfiguration;
  const auto most = static_cast<unsigned>(FakeGpu::number("most_parts", *count));
  const auto unusable = static_cast<unsigned>(FakeGpu::number("unusable", 0));
  *count = std::min({*count, (whole->processors - unusable) / size, most});
  for (unsigned k = 0; k < *count; ++k) parts[k] = resource_of(size);
  *rest = resource_of(whole->processors - *count * size);
  return 0;
}

int cuDevResourceGenerateDesc(cuda::ResourceDescription* description, cuda::ProcessorResource* resources,
                              unsigned count) {
  if (const int refused = FakeGpu::refusal("cuDevResourceGenerateDesc"); refused != 0) return refused;
  static std::map<unsigned, FakeContext> descriptions;  // a description is not destroyed in CUDA either
  if (count != 1 || resources->processors == 0) return kInvalidValue;
  FakeContext& made = descriptions[resources->processors];
  made.processors = resources->processors;
  *description = reinterpret_cast<cuda::ResourceDescription>(&made);
  return 0;
}

int cuGreenCtxCreate(cuda::GreenContext* green, cuda::ResourceDescription description, int device, unsigned flags) {
  if (const int refused = FakeGpu::refusal("cuGreenCtxCreate"); refused != 0) return refused;
  if (flags != cuda::kGreenDefaultStream) return kInvalidValue;
  const auto& described = *reinterpret_cast<FakeContext*>(description);
  return hand_out(green, new FakeContext{device, described.processors, true});
}

int cuGreenCtxDestroy(cuda::GreenContext green) {
  --FakeGpu::one().live_objects;
  delete reinterpret_cast<FakeContext*>(green);
  return 0;
}

int cuCtxFromGreenCtx(cuda::Context* context, cuda::GreenContext green) {
  *context = reinterpret_cast<cuda::Context>(green);
  return 0;
}

int cuGreenCtxGetDevResource(cuda::GreenContext green, cuda::ProcessorResource* resource, int) {
  *resource = resource_of(reinterpret_cast<FakeContext*>(green)->processors);
  return 0;
}

int cuGreenCtxStreamCreate(cuda::Stream* stream, cuda::GreenContext green, unsigned flags, int) {
  if (const int refused = FakeGpu::refusal("cuGreenCtxStreamCreate"); refused != 0) return refused;
  if (flags != cuda::kStreamNonBlocking) return kInvalidValue;
  return hand_out(stream, FakeGpu::one().make_stream(reinterpret_cast<FakeContext*>(green)));
}

int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return 0;
}

int cuStreamCreateWithPriority(cuda::Stream* stream, unsigned, int) {
  return hand_out(stream, FakeGpu::one().make_stream(FakeGpu::one().current));
}

int cuStreamWaitValue32_v2(cuda::Stream stream, cuda::Address address, unsigned value, unsigned flags) {
  if (const int refused = FakeGpu::refusal("cuStreamWaitValue32_v2"); refused != 0) return refused;
  if (FakeGpu::has("no_wait_value")) return cuda::kNotSupported;
  if (FakeGpu::has("fail_wait") || flags != cuda::kWaitUntilAtLeast) return kInvalidValue;
  FakeGpu::one().wait_for_value(stream_of(stream), static_cast<const volatile std::uint32_t*>(memory(address)), value);
  return 0;
}

int cuEventQuery(cuda::Event event) {
  FakeGpu::one().pump();
  if (FakeGpu::one().broken != 0) return FakeGpu::one().broken;
  const auto& mark = reinterpret_cast<FakeEvent*>(event)->mark;
  return mark == nullptr || mark->reached ? 0 : cuda::kNotReady;
}

int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  ++FakeGpu::one().live_objects;
  return 0;
}

int cuMemFreeHost(void* memory) {
  --FakeGpu::one().live_objects;
  std::free(memory);  // NOLINT(*-no-malloc)
  return 0;
}

int cuMemHostGetDevicePointer_v2(cuda::Address* address, void* memory, unsigned) {
  *address = reinterpret_cast<cuda::Address>(memory);
  return 0;
}

int cuMemcpyDtoDAsync_v2(cuda::Address to, cuda::Address from, std::size_t bytes, cuda::Stream stream) {
  if (stream_of(stream).context != FakeGpu::one().current) return kInvalidContext;
  FakeGpu::one().copy(stream_of(stream), 8, bytes, [=] { std::memcpy(memory(to), memory(from), bytes); });
  return 0;
}

int cuMemcpyPeerAsync(cuda::Address to, cuda::Context to_context, cuda::Address from, cuda::Context from_context,
                      std::size_t bytes, cuda::Stream stream) {
  FakeGpu& gpu = FakeGpu::one();
  if (!gpu.peers.contains({context_of(from_context)->gpu, context_of(to_context)->gpu})) return kPeerNotEnabled;
  gpu.copy(stream_of(stream), 10, bytes, [=] { std::memcpy(memory(to), memory(from), bytes); });
  return 0;
}

int cuDeviceCanAccessPeer(int* possible, int, int) {
  *possible = FakeGpu::has("no_peers") ? 0 : 1;
  return 0;
}

int cuCtxEnablePeerAccess(cuda::Context peer, unsigned) {
  if (const int refused = FakeGpu::refusal("cuCtxEnablePeerAccess"); refused != 0) return refused;
  FakeGpu& gpu = FakeGpu::one();
  return gpu.peers.insert({gpu.current->gpu, context_of(peer)->gpu}).second ? 0 : cuda::kPeerAccessAlreadyEnabled;
}

int cuStreamBeginCapture_v2(cuda::Stream stream, int mode) {
  if (mode != cuda::kCaptureThreadLocal) return kInvalidValue;
  stream_of(stream).capture = std::make_shared<FakeGraph>();
  stream_of(stream).last_captured.clear();
  return 0;
}

int cuStreamEndCapture(cuda::Stream stream, cuda::Graph* graph) {
  *graph = nullptr;
  const std::shared_ptr<FakeGraph> captured = FakeGpu::one().end_capture(stream_of(stream));
  return captured == nullptr ? cuda::kCaptureUnjoined : hand_out(graph, new std::shared_ptr<FakeGraph>(captured));
}

int cuGraphGetNodes(cuda::Graph graph, cuda::GraphNode*, std::size_t* count) {
  *count = (*reinterpret_cast<std::shared_ptr<FakeGraph>*>(graph))->nodes.size();
  return 0;
}

int cuGraphInstantiateWithFlags(cuda::GraphExec* made, cuda::Graph graph, unsigned long long) {
  return hand_out(made, new std::shared_ptr<FakeGraph>(*reinterpret_cast<std::shared_ptr<FakeGraph>*>(graph)));
}

int cuGraphUpload(cuda::GraphExec, cuda::Stream) { return 0; }

int cuGraphLaunch(cuda::GraphExec graph, cuda::Stream stream) {
  FakeGpu::one().launch_graph(stream_of(stream), *reinterpret_cast<std::shared_ptr<FakeGraph>*>(graph));
  return 0;
}

int cuGraphDestroy(cuda::Graph graph) {
  --FakeGpu::one().live_objects;
  delete reinterpret_cast<std::shared_ptr<FakeGraph>*>(graph);
  return 0;
}

int cuGraphExecDestroy(cuda::GraphExec graph) {
  --FakeGpu::one().live_objects;
  delete reinterpret_cast<std::shared_ptr<FakeGraph>*>(graph);
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
