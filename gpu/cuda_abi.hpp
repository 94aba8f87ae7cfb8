// The part of the CUDA driver's binary interface that we use, in our own words: nothing of NVIDIA's is included, so
// the project builds without a toolkit. tests/workload/cuda_abi_test.cpp holds it to the real headers.
//
// Functions are declared as X(our name, exported name, result, parameters); the exported name carries the version.
#pragma once

#include <cstddef>
#include <cstdint>

namespace debubble::cuda {

using Result = int;  // CUresult
using Device = int;
using Address = unsigned long long;  // CUdeviceptr
using Context = struct ContextTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;  // or a kernel of a library, which cuLaunchKernel takes as well
using Library = struct LibraryTag*;
using GreenContext = struct GreenContextTag*;
using ResourceDescription = struct ResourceDescriptionTag*;  // CUdevResourceDesc
using Graph = struct GraphTag*;
using GraphNode = struct GraphNodeTag*;
using GraphExec = struct GraphExecTag*;

inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kStubLibrary = 34;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kInvalidDevice = 101;
inline constexpr Result kNotFound = 500;
inline constexpr Result kNotReady = 600;
inline constexpr Result kIllegalAddress = 700;
inline constexpr Result kPeerAccessAlreadyEnabled = 704;
inline constexpr Result kTooManyPeers = 711;
inline constexpr Result kLaunchFailed = 719;
inline constexpr Result kNotSupported = 801;
inline constexpr Result kCaptureUnjoined = 904;
inline constexpr Result kInvalidResourceConfiguration = 915;

inline constexpr int kProcessorCount = 16;  // CUdevice_attribute
inline constexpr int kCapabilityMajor = 75;
inline constexpr int kCapabilityMinor = 76;
inline constexpr int kMostSharedMemory = 97;  // per block, after asking for it

inline constexpr int kFunctionSharedMemory = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kEventWithoutTime = 2;    // CU_EVENT_DISABLE_TIMING
inline constexpr unsigned kGreenDefaultStream = 1;  // CU_GREEN_CTX_DEFAULT_STREAM, required
inline constexpr unsigned kHostMemoryPortable = 1;  // CU_MEMHOSTALLOC_...
inline constexpr unsigned kHostMemoryMapped = 2;
inline constexpr unsigned kWaitUntilAtLeast = 0;  // CU_STREAM_WAIT_VALUE_GEQ
inline constexpr int kCaptureThreadLocal = 1;     // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
inline constexpr int kProcessorResource = 1;      // CU_DEV_RESOURCE_TYPE_SM

// A kernel may take this much without asking.
inline constexpr std::int64_t kFreeSharedMemory = std::int64_t{48} * 1024;

struct Uuid {  // CUuuid
  unsigned char bytes[16] = {};
};

// CUdevResource: a share of a GPU's processors, as the driver wrote it; passed around, never made.
struct ProcessorResource {
  int type = 0;
  unsigned char padding[92] = {};
  unsigned processors = 0;
  unsigned least_part = 0;  // fewest that a part may have; 0: the driver does not tell
  unsigned aligned_to = 0;  // the number is a multiple of it; 0: the driver does not tell
  unsigned char rest[36] = {};
};

// clang-format off
#define DEBUBBLE_CUDA_FUNCTIONS(X)                                                                                  \
  X(init, cuInit, (unsigned flags))                                                                                  \
  X(driver_version, cuDriverGetVersion, (int* version))                                                              \
  X(device_count, cuDeviceGetCount, (int* count))                                                                    \
  X(device_get, cuDeviceGet, (Device* device, int ordinal))                                                          \
  X(device_name, cuDeviceGetName, (char* name, int length, Device device))                                           \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, Device device))                              \
  X(device_memory, cuDeviceTotalMem_v2, (std::size_t* bytes, Device device))                                         \
  X(context_retain, cuDevicePrimaryCtxRetain, (Context* context, Device device))                                     \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (Device device))                                                  \
  X(context_set, cuCtxSetCurrent, (Context context))                                                                 \
  X(memory_info, cuMemGetInfo_v2, (std::size_t* free, std::size_t* total))                                           \
  X(allocate, cuMemAlloc_v2, (Address* address, std::size_t bytes))                                                  \
  X(release, cuMemFree_v2, (Address address))                                                                        \
  X(upload, cuMemcpyHtoDAsync_v2, (Address to, const void* from, std::size_t bytes, Stream stream))                  \
  X(download, cuMemcpyDtoHAsync_v2, (void* to, Address from, std::size_t bytes, Stream stream))                      \
  X(set_bytes, cuMemsetD8Async, (Address to, unsigned char value, std::size_t bytes, Stream stream))                 \
  X(module_load, cuModuleLoadData, (Module* module, const void* image))                                              \
  X(module_unload, cuModuleUnload, (Module module))                                                                  \
  X(module_function, cuModuleGetFunction, (Function* function, Module module, const char* name))                     \
  X(function_set, cuFuncSetAttribute, (Function function, int attribute, int value))                                 \
  X(launch, cuLaunchKernel, (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream,               \
                             void** arguments, void** extra))                                                        \
  X(stream_create, cuStreamCreate, (Stream* stream, unsigned flags))                                                 \
  X(stream_destroy, cuStreamDestroy_v2, (Stream stream))                                                             \
  X(stream_synchronise, cuStreamSynchronize, (Stream stream))                                                        \
  X(stream_wait, cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                                    \
  X(event_create, cuEventCreate, (Event* event, unsigned flags))                                                     \
  X(event_destroy, cuEventDestroy_v2, (Event event))                                                                 \
  X(event_record, cuEventRecord, (Event event, Stream stream))                                                       \
  X(event_synchronise, cuEventSynchronize, (Event event))                                                            \
  X(event_elapsed, cuEventElapsedTime, (float* milliseconds, Event from, Event to))                                  \
  X(error_name, cuGetErrorName, (Result error, const char** name))                                                   \
  X(error_text, cuGetErrorString, (Result error, const char** text))

// What only live execution needs; an older driver may lack them, and the profiler works all the same.
#define DEBUBBLE_CUDA_LIVE_FUNCTIONS(X)                                                                              \
  X(device_uuid, cuDeviceGetUuid_v2, (Uuid* uuid, Device device))                                                    \
  X(library_load, cuLibraryLoadData,                                                                                 \
    (Library* library, const void* code, int* options, void** values, unsigned count, int* library_options,          \
     void** library_values, unsigned library_count))                                                                 \
  X(library_unload, cuLibraryUnload, (Library library))                                                              \
  X(library_kernel, cuLibraryGetKernel, (Function* kernel, Library library, const char* name))                       \
  X(resource_of_device, cuDeviceGetDevResource, (Device device, ProcessorResource* resource, int type))              \
  X(resource_split, cuDevSmResourceSplitByCount,                                                                     \
    (ProcessorResource* parts, unsigned* count, const ProcessorResource* whole, ProcessorResource* rest,             \
     unsigned flags, unsigned least))                                                                                \
  X(resource_describe, cuDevResourceGenerateDesc,                                                                    \
    (ResourceDescription* description, ProcessorResource* resources, unsigned count))                                \
  X(green_create, cuGreenCtxCreate,                                                                                  \
    (GreenContext* green, ResourceDescription description, Device device, unsigned flags))                           \
  X(green_destroy, cuGreenCtxDestroy, (GreenContext green))                                                          \
  X(green_context, cuCtxFromGreenCtx, (Context* context, GreenContext green))                                        \
  X(green_resource, cuGreenCtxGetDevResource, (GreenContext green, ProcessorResource* resource, int type))           \
  X(green_stream, cuGreenCtxStreamCreate, (Stream* stream, GreenContext green, unsigned flags, int priority))        \
  X(priority_range, cuCtxGetStreamPriorityRange, (int* least, int* greatest))                                        \
  X(stream_create_urgent, cuStreamCreateWithPriority, (Stream* stream, unsigned flags, int priority))                \
  X(stream_wait_value, cuStreamWaitValue32_v2, (Stream stream, Address address, unsigned value, unsigned flags))     \
  X(event_query, cuEventQuery, (Event event))                                                                        \
  X(host_allocate, cuMemHostAlloc, (void** memory, std::size_t bytes, unsigned flags))                               \
  X(host_release, cuMemFreeHost, (void* memory))                                                                     \
  X(host_address, cuMemHostGetDevicePointer_v2, (Address* address, void* memory, unsigned flags))                    \
  X(copy, cuMemcpyDtoDAsync_v2, (Address to, Address from, std::size_t bytes, Stream stream))                        \
  X(copy_peer, cuMemcpyPeerAsync,                                                                                    \
    (Address to, Context to_context, Address from, Context from_context, std::size_t bytes, Stream stream))          \
  X(peer_possible, cuDeviceCanAccessPeer, (int* possible, Device device, Device peer))                               \
  X(peer_enable, cuCtxEnablePeerAccess, (Context peer, unsigned flags))                                              \
  X(capture_begin, cuStreamBeginCapture_v2, (Stream stream, int mode))                                               \
  X(capture_end, cuStreamEndCapture, (Stream stream, Graph* graph))                                                  \
  X(graph_nodes, cuGraphGetNodes, (Graph graph, GraphNode* nodes, std::size_t* count))                               \
  X(graph_instantiate, cuGraphInstantiateWithFlags, (GraphExec* made, Graph graph, unsigned long long flags))        \
  X(graph_upload, cuGraphUpload, (GraphExec graph, Stream stream))                                                   \
  X(graph_launch, cuGraphLaunch, (GraphExec graph, Stream stream))                                                   \
  X(graph_destroy, cuGraphDestroy, (Graph graph))                                                                    \
  X(graph_exec_destroy, cuGraphExecDestroy, (GraphExec graph))
// clang-format on

// One pointer per function; filled by load_cuda_driver.
struct Functions {
#define DEBUBBLE_DECLARE(name, symbol, parameters) \
  Result(*name) parameters = nullptr;  // NOLINT(bugprone-macro-parentheses)
  DEBUBBLE_CUDA_FUNCTIONS(DEBUBBLE_DECLARE)
#undef DEBUBBLE_DECLARE
};

struct LiveFunctions {
#define DEBUBBLE_DECLARE(name, symbol, parameters) \
  Result(*name) parameters = nullptr;  // NOLINT(bugprone-macro-parentheses)
  DEBUBBLE_CUDA_LIVE_FUNCTIONS(DEBUBBLE_DECLARE)
#undef DEBUBBLE_DECLARE
};

}  // namespace debubble::cuda
