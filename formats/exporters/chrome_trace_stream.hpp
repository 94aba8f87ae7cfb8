// What a Chrome trace is made of: events to come in their order, the document around them, and the parts of a trace of
// two runs. Used by chrome_trace.cpp only.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "formats/files/text_sink.hpp"
#include "formats/json/json_text.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/op.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/units.hpp"

namespace debubble::trace_detail {

// One event to come. In the file events are in order of (begin, longest first, kind): a slice comes before those
// within it, and both come before an arrow that ends on them at that time.
struct TraceEvent {
  enum class Kind : std::int32_t {
    kCompute,
    kSend,
    kReceive,
    kCopy,
    kStep,
    kExtraWork,
    kIdle,
    kCriticalPath,
    kMemory,
    kArrowBegin,
    kArrowEnd
  };

  Nanoseconds begin = 0;
  Nanoseconds duration = 0;
  Kind kind = Kind::kCompute;
  std::int32_t device = 0;
  std::int32_t index = 0;  // into spans, transfers, copies, steps, extra work, gaps, path, or the device's memory curve

  friend bool operator<(const TraceEvent& a, const TraceEvent& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.duration != b.duration) return a.duration > b.duration;
    if (a.kind != b.kind) return a.kind < b.kind;
    return a.device != b.device ? a.device < b.device : a.index < b.index;
  }
};

// "device 3 (stages 3, 11)"
inline std::string process_name(const Placement& placement, std::int32_t device) {
  std::set<int> stages;
  for (int replica = 0; replica < placement.replicas(); ++replica) {
    for (int stage = 0; stage < placement.stages(); ++stage) {
      if (placement.device_of(replica, stage) == device) stages.insert(stage);
    }
  }
  std::string list;
  for (const int stage : stages) list += (list.empty() ? "" : ", ") + std::to_string(stage);
  const std::string name = "device " + std::to_string(device);
  return stages.empty() ? name : name + (stages.size() == 1 ? " (stage " : " (stages ") + list + ")";
}

// Where the processes of a second run begin: 1000, or the next power of ten that leaves room for the first run's
// devices and its critical path.
inline std::int32_t first_measured_process(std::int32_t devices) {
  std::int32_t first = 1000;
  while (first <= devices) first *= 10;
  return first;
}

// The document around the events.
struct TraceStream {
  explicit TraceStream(const TextSink& sink) : out(sink) {}

  void begin(const std::string& facts) {
    out << "{\"metadata\":" << facts << ",\n\"otherData\":" << facts << ",\n\"traceEvents\":[";
  }
  void end() {
    out << "\n]}\n";
    out.flush();
  }

  TextBuffer out;
  bool first = true;
};

// What tells the runs of one trace apart.
struct TracePart {
  std::int32_t first_process = 0;
  std::int64_t first_arrow = 1;
  std::string label;  // before "device 3"
  int parts = 1;      // runs in the trace, and
  int part = 0;       // which one this is: devices of the same number are grouped
  const FilledBubbles* extra_work = nullptr;
  bool causes = true;  // with the tracks of idle times and of the critical path
};

}  // namespace debubble::trace_detail
