#include "tests/recording/nvidia_records.hpp"

#include <cupti.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

namespace debubble::testing {

namespace {

// The first releases whose records are these structs: see fake_cupti_versions.cpp.
constexpr std::uint32_t kCuda118 = 18;
constexpr std::uint32_t kCuda120 = 19;
constexpr std::uint32_t kCuda126 = 24;
constexpr std::uint32_t kCuda128 = 26;
constexpr std::uint32_t kCuda130 = 130000;
constexpr std::uint32_t kCuda131 = 130100;
constexpr std::uint32_t kCuda133 = 130300;
constexpr std::uint32_t kCuda134 = 130400;

// NVIDIA packs its structs: fields are set in place, then copied out whole.
template <class Record, class Fill>
RecordBytes bytes_of(const Fill& fill) {
  Record record{};
  std::memset(static_cast<void*>(&record), 0x5a, sizeof record);
  fill(record);
  RecordBytes bytes(sizeof record);
  std::memcpy(bytes.data(), &record, sizeof record);
  return bytes;
}

template <class Record>
void place(Record& record, const NsysWork& work) {
  record.start = work.begin;
  record.end = work.end;
  record.deviceId = work.device;
  record.contextId = work.context;
  record.streamId = work.stream;
  record.correlationId = work.correlation;
  record.graphNodeId = work.graph_node;
}

template <class Record>
RecordBytes kernel(const NsysWork& work) {
  return bytes_of<Record>([&](Record& record) {
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    place(record, work);
    record.name = work.name.c_str();
    // The reduced exports have no grids. No kernel is without one, and records of new releases are refused for it.
    record.gridX = record.gridY = record.gridZ = 1;
    record.blockX = record.blockY = record.blockZ = 1;
  });
}

template <class Record>
RecordBytes copy(const NsysWork& work, CUpti_ActivityKind kind) {
  return bytes_of<Record>([&](Record& record) {
    record.kind = kind;
    place(record, work);
    record.copyKind = work.copy_kind;
    record.bytes = work.bytes;
  });
}

template <class Record>
RecordBytes set(const NsysWork& work) {
  return bytes_of<Record>([&](Record& record) {
    record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    place(record, work);
    record.bytes = work.bytes;
  });
}

template <class Record>
RecordBytes memory(const NsysMemory& row) {
  // The export counts both enumerations from the one before CUPTI's.
  const bool device = row.kind + 1 == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  const bool allocation = row.operation + 1 == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  if (!device) throw std::runtime_error("a kind of memory that no test has");
  return bytes_of<Record>([&](Record& record) {
    record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.memoryOperationType =
        allocation ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    record.address = row.address;
    record.bytes = row.bytes;
    record.timestamp = static_cast<std::uint64_t>(row.time);
    record.deviceId = row.device;
  });
}

using CallNumber = std::pair<CUpti_ActivityKind, CUpti_CallbackId>;

// With and without the version at the end of the name: exports have both.
const std::map<std::string, CallNumber>& calls_by_name() {
  static const std::map<std::string, CallNumber> calls = {
      {"cudaLaunchKernel", {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000}},
      {"cudaLaunchKernel_v7000", {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000}},
      {"cudaMemcpyAsync", {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020}},
      {"cudaMemcpyAsync_v3020", {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020}},
      {"cudaMemsetAsync_v3020", {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020}},
      {"cuLaunchKernelEx", {CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx}},
  };
  return calls;
}

}  // namespace

RecordBytes nvidia_work(const NsysWork& work, std::uint32_t version) {
  if (work.table == NsysWork::Table::kMemset) {
    return version < kCuda134 ? set<CUpti_ActivityMemset4>(work) : set<CUpti_ActivityMemset5>(work);
  }
  if (work.table == NsysWork::Table::kMemcpy) {
    if (work.copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP) {
      return copy<CUpti_ActivityMemcpyPtoP4>(work, CUPTI_ACTIVITY_KIND_MEMCPY2);
    }
    if (version < kCuda128) return copy<CUpti_ActivityMemcpy5>(work, CUPTI_ACTIVITY_KIND_MEMCPY);
    if (version < kCuda134) return copy<CUpti_ActivityMemcpy6>(work, CUPTI_ACTIVITY_KIND_MEMCPY);
    return copy<CUpti_ActivityMemcpy7>(work, CUPTI_ACTIVITY_KIND_MEMCPY);
  }
  if (version < kCuda118) return kernel<CUpti_ActivityKernel7>(work);
  if (version < kCuda120) return kernel<CUpti_ActivityKernel8>(work);
  if (version < kCuda130) return kernel<CUpti_ActivityKernel9>(work);
  if (version < kCuda131) return kernel<CUpti_ActivityKernel10>(work);
  if (version < kCuda133) return kernel<CUpti_ActivityKernel11>(work);
  if (version < kCuda134) return kernel<CUpti_ActivityKernel12>(work);
  return kernel<CUpti_ActivityKernel13>(work);
}

RecordBytes nvidia_memory(const NsysMemory& row, std::uint32_t version) {
  return version < kCuda126 ? memory<CUpti_ActivityMemory3>(row) : memory<CUpti_ActivityMemory4>(row);
}

RecordBytes nvidia_call(const NsysCall& call) {
  const auto found = calls_by_name().find(call.name);
  if (found == calls_by_name().end()) throw std::runtime_error("no number is known of the call " + call.name);
  return bytes_of<CUpti_ActivityAPI>([&](CUpti_ActivityAPI& record) {
    record.kind = found->second.first;
    record.cbid = found->second.second;
    record.start = static_cast<std::uint64_t>(call.begin);
    record.end = static_cast<std::uint64_t>(call.end);
    record.processId = static_cast<std::uint32_t>(getpid());
    record.threadId = static_cast<std::uint32_t>(syscall(SYS_gettid));
    record.correlationId = call.correlation;
    record.returnValue = 0;
  });
}

}  // namespace debubble::testing
