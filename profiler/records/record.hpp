// Records: what was seen while a program ran on a GPU, whoever saw it.
//
// One stream of records feeds attribution, wherever it comes from: CUPTI through our recorder, a Kineto trace, an
// Nsight Systems export. Times are nanoseconds on one clock per stream; only differences matter.
//
//     host thread 7    RangePush "layer block.3"        RangePush "aten::mm"   LaunchRecord c=41   RangePop  RangePop
//                      range 100                        range 101                  |
//                                                       LinkRecord c=41 -> range 101
//     GPU stream 13                                                                +--> KernelRecord c=41
//
// Order promised to a sink: ranges are pushed and popped in order of time, over all threads, and a range is pushed
// before a LinkRecord names it; nothing else. The GPU works later than the host, and buffers of different threads
// arrive in any order, so links, launches and kernels of one correlation come in any order and any distance from each
// other.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/core/units.hpp"

namespace debubble {

// A range opens on a host thread. `range` is unique in the stream and grows. Views are valid during the call only.
struct RangePush {
  std::uint64_t range = 0;
  std::uint32_t thread = 0;
  Nanoseconds time = 0;
  std::string_view name;             // without PyTorch's ", seq = 7, sizes = [...]" suffix
  std::int64_t sequence = -1;        // autograd sequence number; -1: none
  std::uint32_t forward_thread = 0;  // thread of the forward op of that number, where it is known; 0: not known
  std::string_view sizes;            // dimensions of the inputs, "[[8, 512], [512, 512], []]"; empty: not recorded
};

// The innermost open range of the thread ends.
struct RangePop {
  std::uint32_t thread = 0;
  Nanoseconds time = 0;
};

// The API call with this correlation was made inside this range.
struct LinkRecord {
  std::uint32_t correlation = 0;
  std::uint64_t range = 0;
};

// A host call that launches work.
struct LaunchRecord {
  std::uint32_t correlation = 0;
  std::uint32_t thread = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

enum class GpuWork : std::uint8_t { kKernel, kCopy, kPeerCopy, kSet };

// Work on a GPU: a kernel, a copy or a memset. begin == end == 0: the profiler lost its times. Of a CPU that is
// measured in a GPU's place: a piece of an operator's own time (profiler/host/host_work.hpp).
struct KernelRecord {
  GpuWork work = GpuWork::kKernel;
  std::uint32_t correlation = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint64_t graph_node = 0;  // 0: not launched by a CUDA graph
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Bytes bytes = 0;        // of a copy or set
  std::string_view name;  // demangled or mangled, as recorded; a copy's is "copy device to device", ...
};

// An allocation (bytes > 0) or release (bytes < 0) of device memory.
struct MemoryRecord {
  std::uint32_t thread = 0;  // 0: not known
  std::uint32_t device = 0;
  Nanoseconds time = 0;
  std::uint64_t address = 0;
  Bytes bytes = 0;
};

// Time the profiler itself or the driver took on the host. kCounting: sizes were counted, which slows a CPU's layers.
enum class OverheadKind : std::uint8_t {
  kCompiler,
  kModuleLoading,
  kLazyLoading,
  kBufferFlush,
  kProfiler,
  kOther,
  kCounting,
};
struct OverheadRecord {
  OverheadKind kind = OverheadKind::kOther;
  std::uint32_t thread = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// State of a GPU's clock, sampled by the recorder.
struct ClockRecord {
  std::uint32_t device = 0;
  Nanoseconds time = 0;
  std::int32_t sm_mhz = 0;
  std::uint64_t slowed_by = 0;  // NVML's clocks-event reasons; 0: none
};

// From `time` on, the recorder takes GPU records (recording) or does not: unrecorded steps tell its least overhead.
struct SwitchRecord {
  Nanoseconds time = 0;
  bool recording = true;
};

// Facts of the process and the machine: {"device.0.name", "NVIDIA H200"}, {"cupti", "130001"}, {"rank", "3"}, ...
struct FactRecord {
  std::string_view key;
  std::string_view value;
};

// Of a stream whose work is that of a CPU.
inline constexpr std::string_view kProcessorFact = "processor";
inline constexpr std::string_view kCpuProcessor = "cpu";

// Losses, each counted where it was noticed: "dropped_records", "unknown_records", "unmatched_pops", ... Adds up.
struct LossRecord {
  std::string_view what;
  std::int64_t count = 0;
};

// Takes a stream of records. Every function has an empty body: a sink overrides what it wants.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void on(const RangePush&) {}
  virtual void on(const RangePop&) {}
  virtual void on(const LinkRecord&) {}
  virtual void on(const LaunchRecord&) {}
  virtual void on(const KernelRecord&) {}
  virtual void on(const MemoryRecord&) {}
  virtual void on(const OverheadRecord&) {}
  virtual void on(const ClockRecord&) {}
  virtual void on(const SwitchRecord&) {}
  virtual void on(const FactRecord&) {}
  virtual void on(const LossRecord&) {}
};

}  // namespace debubble
