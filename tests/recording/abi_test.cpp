// Our own declarations against NVIDIA's headers, of the newest release and of the oldest that is promised,
// which does not know all of them (version 17).
#include <cupti.h>

#include "tests/support/test.hpp"
#if CUPTI_API_VERSION > 17
#include <nvml.h>
#endif
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "profiler/cupti/abi.hpp"
#include "profiler/cupti/calls.hpp"
#include "profiler/cupti/nvml.hpp"
#include "profiler/cupti/table.hpp"
#include "profiler/injection/nvtx_abi.hpp"

namespace debubble {
namespace {

namespace abi = cupti_abi;

#define SAME_PLACE(Ours, our_field, Theirs, their_field)                           \
  static_assert(offsetof(abi::Ours, our_field) == offsetof(Theirs, their_field) && \
                    sizeof(abi::Ours::our_field) == sizeof(Theirs::their_field),   \
                #Ours "." #our_field " is not " #Theirs "." #their_field)

#define SAME_KERNEL(Theirs)                               \
  SAME_PLACE(Kernel, start, Theirs, start);               \
  SAME_PLACE(Kernel, end, Theirs, end);                   \
  SAME_PLACE(Kernel, device, Theirs, deviceId);           \
  SAME_PLACE(Kernel, context, Theirs, contextId);         \
  SAME_PLACE(Kernel, stream, Theirs, streamId);           \
  SAME_PLACE(Kernel, correlation, Theirs, correlationId); \
  SAME_PLACE(Kernel, name, Theirs, name);                 \
  SAME_PLACE(Kernel, graph_node, Theirs, graphNodeId);    \
  static_assert(sizeof(abi::Kernel) <= sizeof(Theirs))

SAME_KERNEL(CUpti_ActivityKernel7);  // CUDA 11.6
#if CUPTI_API_VERSION > 17
SAME_KERNEL(CUpti_ActivityKernel8);
SAME_KERNEL(CUpti_ActivityKernel9);
SAME_KERNEL(CUpti_ActivityKernel10);
SAME_KERNEL(CUpti_ActivityKernel11);
SAME_KERNEL(CUpti_ActivityKernel12);
SAME_KERNEL(CUpti_ActivityKernel13);
#endif

#define SAME_COPY(Ours, Theirs)                         \
  SAME_PLACE(Ours, bytes, Theirs, bytes);               \
  SAME_PLACE(Ours, start, Theirs, start);               \
  SAME_PLACE(Ours, end, Theirs, end);                   \
  SAME_PLACE(Ours, device, Theirs, deviceId);           \
  SAME_PLACE(Ours, context, Theirs, contextId);         \
  SAME_PLACE(Ours, stream, Theirs, streamId);           \
  SAME_PLACE(Ours, correlation, Theirs, correlationId); \
  SAME_PLACE(Ours, graph_node, Theirs, graphNodeId);    \
  static_assert(sizeof(abi::Ours) <= sizeof(Theirs))

SAME_COPY(Memcpy, CUpti_ActivityMemcpy5);
SAME_PLACE(Memcpy, copy_kind, CUpti_ActivityMemcpy5, copyKind);
SAME_COPY(PeerMemcpy, CUpti_ActivityMemcpyPtoP4);
SAME_COPY(Memset, CUpti_ActivityMemset4);
#if CUPTI_API_VERSION > 17
SAME_COPY(Memcpy, CUpti_ActivityMemcpy6);
SAME_COPY(Memcpy, CUpti_ActivityMemcpy7);
SAME_PLACE(Memcpy, copy_kind, CUpti_ActivityMemcpy7, copyKind);
SAME_COPY(Memset, CUpti_ActivityMemset5);
#endif

SAME_PLACE(Api, call, CUpti_ActivityAPI, cbid);
SAME_PLACE(Api, start, CUpti_ActivityAPI, start);
SAME_PLACE(Api, end, CUpti_ActivityAPI, end);
SAME_PLACE(Api, thread, CUpti_ActivityAPI, threadId);
SAME_PLACE(Api, correlation, CUpti_ActivityAPI, correlationId);
static_assert(sizeof(abi::Api) == sizeof(CUpti_ActivityAPI));

SAME_PLACE(ExternalCorrelation, external_kind, CUpti_ActivityExternalCorrelation, externalKind);
SAME_PLACE(ExternalCorrelation, external, CUpti_ActivityExternalCorrelation, externalId);
SAME_PLACE(ExternalCorrelation, correlation, CUpti_ActivityExternalCorrelation, correlationId);
static_assert(sizeof(abi::ExternalCorrelation) == sizeof(CUpti_ActivityExternalCorrelation));

#define SAME_MEMORY(Theirs)                                   \
  SAME_PLACE(Memory, operation, Theirs, memoryOperationType); \
  SAME_PLACE(Memory, memory_kind, Theirs, memoryKind);        \
  SAME_PLACE(Memory, address, Theirs, address);               \
  SAME_PLACE(Memory, bytes, Theirs, bytes);                   \
  SAME_PLACE(Memory, time, Theirs, timestamp);                \
  SAME_PLACE(Memory, device, Theirs, deviceId);               \
  static_assert(sizeof(abi::Memory) <= sizeof(Theirs))

SAME_MEMORY(CUpti_ActivityMemory2);
SAME_MEMORY(CUpti_ActivityMemory3);
#if CUPTI_API_VERSION > 17
SAME_MEMORY(CUpti_ActivityMemory4);
#endif

#define SAME_OVERHEAD(Theirs)                                          \
  SAME_PLACE(Overhead, overhead_kind, Theirs, overheadKind);           \
  SAME_PLACE(Overhead, object_kind, Theirs, objectKind);               \
  SAME_PLACE(Overhead, object_process, Theirs, objectId.pt.processId); \
  SAME_PLACE(Overhead, object_thread, Theirs, objectId.pt.threadId);   \
  SAME_PLACE(Overhead, start, Theirs, start);                          \
  SAME_PLACE(Overhead, end, Theirs, end);                              \
  static_assert(sizeof(abi::Overhead) <= sizeof(Theirs))

SAME_OVERHEAD(CUpti_ActivityOverhead);
#if CUPTI_API_VERSION > 17
SAME_OVERHEAD(CUpti_ActivityOverhead2);
SAME_OVERHEAD(CUpti_ActivityOverhead3);
SAME_PLACE(OverheadWithData, data, CUpti_ActivityOverhead3, overheadData);
static_assert(sizeof(abi::OverheadWithData) == sizeof(CUpti_ActivityOverhead3));
#endif

#define SAME_DEVICE(Theirs)                                             \
  SAME_PLACE(Device, memory, Theirs, globalMemorySize);                 \
  SAME_PLACE(Device, processors, Theirs, numMultiprocessors);           \
  SAME_PLACE(Device, capability_major, Theirs, computeCapabilityMajor); \
  SAME_PLACE(Device, capability_minor, Theirs, computeCapabilityMinor); \
  SAME_PLACE(Device, id, Theirs, id);                                   \
  SAME_PLACE(Device, uuid, Theirs, uuid);                               \
  SAME_PLACE(Device, name, Theirs, name);                               \
  static_assert(sizeof(abi::Device) <= sizeof(Theirs))

SAME_DEVICE(CUpti_ActivityDevice3);
SAME_DEVICE(CUpti_ActivityDevice4);
#if CUPTI_API_VERSION > 17
SAME_DEVICE(CUpti_ActivityDevice5);
SAME_DEVICE(CUpti_ActivityDevice6);

// It has grown in 13.2; its first field tells the library how much there is.
static_assert(sizeof(abi::SubscriberParams) <= sizeof(CUpti_SubscriberParams));
SAME_PLACE(SubscriberParams, size, CUpti_SubscriberParams, structSize);
SAME_PLACE(SubscriberParams, name, CUpti_SubscriberParams, subscriberName);
SAME_PLACE(SubscriberParams, old_name, CUpti_SubscriberParams, oldSubscriberName);
SAME_PLACE(SubscriberParams, old_name_size, CUpti_SubscriberParams, oldSubscriberSize);
static_assert(abi::kOldNameSize >= CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
#endif

static_assert(CUPTI_API_VERSION >= abi::kOldestVersion && CUPTI_API_VERSION <= abi::kNewestHeaders);
static_assert(abi::kSuccess == CUPTI_SUCCESS && abi::kOutOfRecords == CUPTI_ERROR_MAX_LIMIT_REACHED);
static_assert(abi::kInvalidKind == CUPTI_ERROR_INVALID_KIND && abi::kUnknownError == CUPTI_ERROR_UNKNOWN);
static_assert(abi::kNotCompatible == CUPTI_ERROR_NOT_COMPATIBLE);
static_assert(abi::kNotInitialized == CUPTI_ERROR_NOT_INITIALIZED);
static_assert(abi::kOtherSubscriber == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(int{abi::kMemcpy} == CUPTI_ACTIVITY_KIND_MEMCPY && int{abi::kMemset} == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(int{abi::kDriver} == CUPTI_ACTIVITY_KIND_DRIVER && int{abi::kRuntime} == CUPTI_ACTIVITY_KIND_RUNTIME);
static_assert(int{abi::kDevice} == CUPTI_ACTIVITY_KIND_DEVICE);
static_assert(int{abi::kConcurrentKernel} == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(int{abi::kOverhead} == CUPTI_ACTIVITY_KIND_OVERHEAD);
static_assert(int{abi::kPeerMemcpy} == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(int{abi::kExternalCorrelation} == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
static_assert(int{abi::kMemory2} == CUPTI_ACTIVITY_KIND_MEMORY2);
static_assert(abi::kExternalKindCustom2 == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2);
static_assert(abi::kAttributeZeroedBuffers == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
static_assert(abi::kThreadIdSystem == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
static_assert(abi::kFlushForced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
static_assert(abi::kAllocation == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
static_assert(abi::kRelease == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
static_assert(abi::kMemoryDevice == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
static_assert(abi::kMemoryManaged == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
static_assert(abi::kOverheadCompiler == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER);
static_assert(abi::kOverheadBufferFlush == CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
static_assert(abi::kOverheadInstrumentation == CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION);
static_assert(abi::kOverheadResource == CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE);
#if CUPTI_API_VERSION > 17
static_assert(abi::kOverheadModuleLoading == CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING);
static_assert(abi::kOverheadLazyLoading == CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING);
static_assert(abi::kOverheadCommandBufferFull == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
static_assert(abi::kOverheadBufferRequest == CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST);
#endif
static_assert(abi::kObjectThread == CUPTI_ACTIVITY_OBJECT_THREAD);

// Prototypes: enums travel as the integers we declare, handles as pointers.
template <class Ours, class Theirs>
struct Compatible : std::false_type {};
template <class A, class B>
constexpr bool kAlike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class OurResult, class... Ours, class TheirResult, class... Theirs>
struct Compatible<OurResult (*)(Ours...), TheirResult(Theirs...)> {
  static constexpr bool check() {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs)) {
      return false;
    } else {
      return sizeof(OurResult) == sizeof(TheirResult) && (kAlike<Ours, Theirs> && ... && true);
    }
  }
};
#define SAME_CALL(field, function) static_assert(Compatible<decltype(CuptiTable::field), decltype(function)>::check())

SAME_CALL(get_version, cuptiGetVersion);
SAME_CALL(get_result_string, cuptiGetResultString);
SAME_CALL(get_timestamp, cuptiGetTimestamp);
SAME_CALL(subscribe, cuptiSubscribe);
SAME_CALL(unsubscribe, cuptiUnsubscribe);
SAME_CALL(set_thread_id_type, cuptiSetThreadIdType);
SAME_CALL(set_attribute, cuptiActivitySetAttribute);
SAME_CALL(register_callbacks, cuptiActivityRegisterCallbacks);
SAME_CALL(enable, cuptiActivityEnable);
SAME_CALL(enable_and_dump, cuptiActivityEnableAndDump);
SAME_CALL(disable, cuptiActivityDisable);
SAME_CALL(next_record, cuptiActivityGetNextRecord);
SAME_CALL(dropped_records, cuptiActivityGetNumDroppedRecords);
SAME_CALL(flush_all, cuptiActivityFlushAll);
SAME_CALL(push_external, cuptiActivityPushExternalCorrelationId);
SAME_CALL(pop_external, cuptiActivityPopExternalCorrelationId);
#if CUPTI_API_VERSION > 17
SAME_CALL(subscribe_v2, cuptiSubscribe_v2);
SAME_CALL(enable_runtime_api, cuptiActivityEnableRuntimeApi);
SAME_CALL(enable_driver_api, cuptiActivityEnableDriverApi);

// NVML.
static_assert(Compatible<decltype(ClockSampler::Functions::init), decltype(nvmlInit_v2)>::check());
static_assert(Compatible<decltype(ClockSampler::Functions::by_uuid), decltype(nvmlDeviceGetHandleByUUID)>::check());
static_assert(Compatible<decltype(ClockSampler::Functions::clock), decltype(nvmlDeviceGetClockInfo)>::check());
static_assert(Compatible<decltype(ClockSampler::Functions::driver), decltype(nvmlSystemGetDriverVersion)>::check());
static_assert(
    Compatible<decltype(ClockSampler::Functions::reasons), decltype(nvmlDeviceGetCurrentClocksEventReasons)>::check());
static_assert(ClockSampler::kClockSm == NVML_CLOCK_SM);
#endif

// NVTX.
#define SAME_NVTX(our_field, their_field) \
  static_assert(offsetof(nvtx_abi::EventAttributes, our_field) == offsetof(nvtxEventAttributes_t, their_field))
SAME_NVTX(version, version);
SAME_NVTX(size, size);
SAME_NVTX(message_type, messageType);
SAME_NVTX(message, message);
static_assert(sizeof(nvtx_abi::EventAttributes) == sizeof(nvtxEventAttributes_t));
static_assert(nvtx_abi::kMessageAscii == NVTX_MESSAGE_TYPE_ASCII);
static_assert(nvtx_abi::kMessageRegistered == NVTX_MESSAGE_TYPE_REGISTERED);
static_assert(nvtx_abi::kCallbacksTable == NVTX_ETID_CALLBACKS);
static_assert(nvtx_abi::kModuleCore == NVTX_CB_MODULE_CORE && nvtx_abi::kModuleCore2 == NVTX_CB_MODULE_CORE2);
static_assert(sizeof(nvtx_abi::Callbacks) == sizeof(NvtxExportTableCallbacks));
static_assert(offsetof(nvtx_abi::Callbacks, module_functions) ==
              offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
static_assert(unsigned{nvtx_abi::kMarkA} == NVTX_CBID_CORE_MarkA);
static_assert(unsigned{nvtx_abi::kRangeStartEx} == NVTX_CBID_CORE_RangeStartEx);
static_assert(unsigned{nvtx_abi::kRangeStartA} == NVTX_CBID_CORE_RangeStartA);
static_assert(unsigned{nvtx_abi::kRangeStartW} == NVTX_CBID_CORE_RangeStartW);
static_assert(unsigned{nvtx_abi::kRangeEnd} == NVTX_CBID_CORE_RangeEnd);
static_assert(unsigned{nvtx_abi::kRangePushEx} == NVTX_CBID_CORE_RangePushEx);
static_assert(unsigned{nvtx_abi::kRangePushA} == NVTX_CBID_CORE_RangePushA);
static_assert(unsigned{nvtx_abi::kRangePushW} == NVTX_CBID_CORE_RangePushW);
static_assert(unsigned{nvtx_abi::kRangePop} == NVTX_CBID_CORE_RangePop);
static_assert(unsigned{nvtx_abi::kDomainRangeStartEx} == NVTX_CBID_CORE2_DomainRangeStartEx);
static_assert(unsigned{nvtx_abi::kDomainRangeEnd} == NVTX_CBID_CORE2_DomainRangeEnd);
static_assert(unsigned{nvtx_abi::kDomainRangePushEx} == NVTX_CBID_CORE2_DomainRangePushEx);
static_assert(unsigned{nvtx_abi::kDomainRangePop} == NVTX_CBID_CORE2_DomainRangePop);
static_assert(unsigned{nvtx_abi::kDomainRegisterStringA} == NVTX_CBID_CORE2_DomainRegisterStringA);
static_assert(unsigned{nvtx_abi::kDomainRegisterStringW} == NVTX_CBID_CORE2_DomainRegisterStringW);
static_assert(unsigned{nvtx_abi::kDomainCreateA} == NVTX_CBID_CORE2_DomainCreateA);
static_assert(unsigned{nvtx_abi::kDomainCreateW} == NVTX_CBID_CORE2_DomainCreateW);
static_assert(unsigned{nvtx_abi::kDomainDestroy} == NVTX_CBID_CORE2_DomainDestroy);

bool listed(const auto& list, int call) {
  return std::binary_search(list.begin(), list.end(), static_cast<std::uint32_t>(call));
}

TEST_CASE("the calls that launch work have the numbers of the toolkit's headers") {
  CHECK(std::is_sorted(abi::kRuntimeLaunches.begin(), abi::kRuntimeLaunches.end()));
  CHECK(std::is_sorted(abi::kDriverLaunches.begin(), abi::kDriverLaunches.end()));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyPeerAsync_v4000));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async));
}

#if CUPTI_API_VERSION > 17
TEST_CASE("later calls are listed: what <<<>>> becomes since CUDA 13, copies in batches and with attributes") {
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyBatchAsync_v13000));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyWithAttributesAsync_v13020));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyWithAttributesAsync_ptsz_v13020));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DWithAttributesAsync_v13020));
  CHECK(listed(abi::kRuntimeLaunches, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DWithAttributesAsync_ptsz_v13020));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync_ptsz));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DWithAttributesAsync));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DWithAttributesAsync_ptsz));
}
#endif

TEST_CASE("synchronous copies and sets of the driver are listed, per-thread-stream forms included") {
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeer));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeer_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2_ptds));
  CHECK(listed(abi::kDriverLaunches, CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2_ptds));
}

}  // namespace
}  // namespace debubble
