#include "profiler/cupti/activity_decoder.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "profiler/cupti/calls.hpp"
#include "profiler/cupti/release.hpp"
#include "profiler/records/copy_names.hpp"

namespace debubble {

namespace {

std::string_view activity_name(const cupti_abi::Kernel& kernel) {
  return kernel.name == nullptr ? std::string_view("unnamed kernel") : std::string_view(kernel.name);
}
std::string_view activity_name(const cupti_abi::Memcpy& copy) { return copy_name(copy.copy_kind); }
std::string_view activity_name(const cupti_abi::PeerMemcpy&) { return copy_name(kPeerCopyKind); }
std::string_view activity_name(const cupti_abi::Memset&) { return "set"; }

Bytes activity_bytes(const cupti_abi::Kernel&) { return 0; }
template <class Work>
Bytes activity_bytes(const Work& work) {
  return static_cast<Bytes>(std::min(work.bytes, static_cast<std::uint64_t>(kLargestSize)));
}

OverheadKind overhead_kind(std::uint32_t kind) {
  switch (kind) {
    case cupti_abi::kOverheadCompiler:
      return OverheadKind::kCompiler;
    case cupti_abi::kOverheadModuleLoading:
      return OverheadKind::kModuleLoading;
    case cupti_abi::kOverheadLazyLoading:
      return OverheadKind::kLazyLoading;
    case cupti_abi::kOverheadBufferFlush:
      return OverheadKind::kBufferFlush;
    case cupti_abi::kOverheadInstrumentation:
    case cupti_abi::kOverheadResource:
    case cupti_abi::kOverheadBufferRequest:
      return OverheadKind::kProfiler;
    default:
      return OverheadKind::kOther;
  }
}

std::string uuid_text(const std::uint8_t* uuid) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid[i] >> 4U];
    text += kDigits[uuid[i] & 15U];
  }
  return text;
}

}  // namespace

ActivityDecoder::ActivityDecoder(NextRecord next, std::uint32_t version, FoundDevice found_device,
                                 RecordJudge::Clock clock)
    : next_(next == nullptr ? walk_cuda_13_0 : next), version_(version), found_device_(std::move(found_device)) {
  if (!is_tested(version)) judge_.emplace(next_, clock);
}

bool ActivityDecoder::believes(std::uint8_t* buffer, std::size_t valid, RecordSink& sink) {
  if (disbelief_.empty() && judge_.has_value() && !judge_->convinced()) {
    disbelief_ = judge_->judge(buffer, valid);
    if (!disbelief_.empty()) sink.on(FactRecord{.key = "cupti.disbelief", .value = disbelief_});
  }
  if (disbelief_.empty()) return true;
  sink.on(LossRecord{.what = "disbelieved_buffers", .count = 1});
  return false;
}

void ActivityDecoder::decode(std::uint8_t* buffer, std::size_t valid, RecordSink& sink) {
  if (!believes(buffer, valid, sink)) return;
  unknown_ = impossible_ = 0;
  cupti_abi::Activity* activity = nullptr;
  const cupti_abi::Activity* before = nullptr;
  cupti_abi::Result result = cupti_abi::kSuccess;
  while (valid > 0 && (result = next_(buffer, valid, &activity)) == cupti_abi::kSuccess) {
    if (!is_inside(activity, before, buffer, valid)) {
      result = cupti_abi::kInvalidKind;
      break;
    }
    record(activity, sink);
    before = activity;
  }
  if (unknown_ > 0) sink.on(LossRecord{.what = "unknown_records", .count = unknown_});
  if (impossible_ > 0) sink.on(LossRecord{.what = "impossible_times", .count = impossible_});
  if (valid > 0 && result != cupti_abi::kOutOfRecords) sink.on(LossRecord{.what = "unreadable_buffers", .count = 1});
}

void ActivityDecoder::record(const cupti_abi::Activity* activity, RecordSink& sink) {
  switch (activity->kind) {
    case cupti_abi::kConcurrentKernel:
      return work<cupti_abi::Kernel>(activity, GpuWork::kKernel, sink);
    case cupti_abi::kMemcpy:
      return work<cupti_abi::Memcpy>(activity, GpuWork::kCopy, sink);
    case cupti_abi::kPeerMemcpy:
      return work<cupti_abi::PeerMemcpy>(activity, GpuWork::kPeerCopy, sink);
    case cupti_abi::kMemset:
      return work<cupti_abi::Memset>(activity, GpuWork::kSet, sink);
    case cupti_abi::kDriver:
    case cupti_abi::kRuntime:
      return api(activity, sink);
    case cupti_abi::kExternalCorrelation:
      return link(activity, sink);
    case cupti_abi::kMemory2:
      return memory(activity, sink);
    case cupti_abi::kOverhead:
      return overhead(activity, sink);
    case cupti_abi::kDevice:
      return device(activity, sink);
    default:
      ++unknown_;
  }
}

// A record file holds times up to 2^62 ns; anything beyond is no time.
bool ActivityDecoder::possible(std::uint64_t begin, std::uint64_t end) {
  if (((begin | end) >> 62U) == 0) return true;
  ++impossible_;
  return false;
}

template <class Work>
void ActivityDecoder::work(const cupti_abi::Activity* activity, GpuWork kind, RecordSink& sink) {
  const Work& seen = *reinterpret_cast<const Work*>(activity);
  if (!possible(seen.start, seen.end)) return;
  KernelRecord record;
  record.work = kind;
  record.correlation = seen.correlation;
  record.device = seen.device;
  record.context = seen.context;
  record.stream = seen.stream;
  record.graph_node = seen.graph_node;
  record.begin = static_cast<Nanoseconds>(seen.start);
  record.end = static_cast<Nanoseconds>(seen.end);
  record.bytes = activity_bytes(seen);
  record.name = activity_name(seen);
  (kind == GpuWork::kKernel ? counts_.kernels : counts_.copies).fetch_add(1, std::memory_order_relaxed);
  if (seen.start == 0 && seen.end == 0) counts_.timeless.fetch_add(1, std::memory_order_relaxed);
  sink.on(record);
}

void ActivityDecoder::api(const cupti_abi::Activity* activity, RecordSink& sink) {
  const auto& call = *reinterpret_cast<const cupti_abi::Api*>(activity);
  // Where calls cannot be chosen one by one, all of them arrive.
  const auto listed = [&](const auto& list) { return std::binary_search(list.begin(), list.end(), call.call); };
  const bool driver = call.kind == cupti_abi::kDriver;
  if (driver ? !listed(cupti_abi::kDriverLaunches) : !listed(cupti_abi::kRuntimeLaunches)) return;
  if (!possible(call.start, call.end)) return;
  counts_.launches.fetch_add(1, std::memory_order_relaxed);
  sink.on(LaunchRecord{.correlation = call.correlation,
                       .thread = call.thread,
                       .begin = static_cast<Nanoseconds>(call.start),
                       .end = static_cast<Nanoseconds>(call.end)});
}

void ActivityDecoder::link(const cupti_abi::Activity* activity, RecordSink& sink) {
  const auto& external = *reinterpret_cast<const cupti_abi::ExternalCorrelation*>(activity);
  if (external.external_kind != cupti_abi::kExternalKindCustom2) return;  // of another client of CUPTI
  sink.on(LinkRecord{.correlation = external.correlation, .range = external.external});
}

void ActivityDecoder::memory(const cupti_abi::Activity* activity, RecordSink& sink) {
  const auto& memory = *reinterpret_cast<const cupti_abi::Memory*>(activity);
  if (memory.memory_kind != cupti_abi::kMemoryDevice && memory.memory_kind != cupti_abi::kMemoryManaged) return;
  if (memory.operation != cupti_abi::kAllocation && memory.operation != cupti_abi::kRelease) return;
  if (!possible(memory.time, 0)) return;
  const Bytes bytes = activity_bytes(memory);
  sink.on(MemoryRecord{.thread = 0,
                       .device = memory.device,
                       .time = static_cast<Nanoseconds>(memory.time),
                       .address = memory.address,
                       .bytes = memory.operation == cupti_abi::kAllocation ? bytes : -bytes});
}

void ActivityDecoder::overhead(const cupti_abi::Activity* activity, RecordSink& sink) {
  // The record may own a piece of memory with details. Where a newer one keeps its pointer is not known.
  if (version_ >= cupti_abi::kOverheadHasData && version_ <= cupti_abi::kNewestHeaders) {
    std::free(reinterpret_cast<const cupti_abi::OverheadWithData*>(activity)->data);  // NOLINT: CUPTI says so
  }
  const auto& overhead = *reinterpret_cast<const cupti_abi::Overhead*>(activity);
  if (!possible(overhead.start, overhead.end)) return;
  sink.on(OverheadRecord{.kind = overhead_kind(overhead.overhead_kind),
                         .thread = overhead.object_kind == cupti_abi::kObjectThread ? overhead.object_thread : 0,
                         .begin = static_cast<Nanoseconds>(overhead.start),
                         .end = static_cast<Nanoseconds>(overhead.end)});
}

void ActivityDecoder::device(const cupti_abi::Activity* activity, RecordSink& sink) {
  const auto& device = *reinterpret_cast<const cupti_abi::Device*>(activity);
  const std::string key = "device." + std::to_string(device.id) + ".";
  const auto fact = [&](const char* what, std::string_view value) {
    sink.on(FactRecord{.key = key + what, .value = value});
  };
  const std::string uuid = uuid_text(device.uuid);
  counts_.devices.fetch_add(1, std::memory_order_relaxed);
  fact("name", device.name == nullptr ? std::string_view() : std::string_view(device.name));
  fact("uuid", uuid);
  fact("memory", std::to_string(device.memory));
  fact("processors", std::to_string(device.processors));
  fact("capability", std::to_string(device.capability_major) + "." + std::to_string(device.capability_minor));
  if (found_device_) found_device_(device.id, uuid);
}

}  // namespace debubble
