// Chrome trace: a Timeline as trace events, for Perfetto (ui.perfetto.dev) and chrome://tracing.
//
//     device 0 (stage 0)    memory total MiB   __/~~\__          one process per device
//                           compute            PP:0F0 | PP:0F1 |          | PP:0B0 |
//                           idle               fill     |dependency|   why the compute lane waits
//                           send                       0SEND_F0 ...    an arrow runs from each producer
//     device 1 (stage 1)    compute                   | PP:1F0 | PP:1B0 |   to its consumer
//                           recv                       1RECV_F0
//
// Every slice is on the lane of one exclusive resource; transfers that overlap in time get further lanes ("send
// 2"), so slices always nest. Names are those of PyTorch's pipeline runtime, so viewers colour measured and modelled
// runs alike. The critical path is a process of its own, with the categories "idle" and "critical path" for whoever
// reads the ops only. Facts about the run are in `metadata` (which Perfetto can query) and, the same, in `otherData`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/files/text_sink.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

struct TraceInfo {
  std::string tool;     // "debubble"
  std::string version;  // "0.1.0"
  std::string command_line;
  // What the run was simulated with, or is to be compared with: written to the facts, so that the trace can be read
  // back as a run. Null: the trace is for viewing only.
  const StageCosts* costs = nullptr;
  P2p p2p = P2p::kOverlapped;
  Nanoseconds hop_latency = 0;
  std::int64_t hop_bandwidth = 0;
  std::int64_t samples_per_microbatch = 0;
  std::int64_t tokens_per_sample = 0;
  // As in RunOrigin and RunIteration: who ran it, by whose clock, and what memory was counted (empty: nobody counted).
  std::string backend = "simulator";
  std::string clock = "simulated";
  std::vector<Bytes> peak_activation = {};
  std::vector<Bytes> peak_memory = {};
  bool causes = true;              // with the tracks of idle times and of the critical path
  std::string not_read_back = {};  // why no run can be put together from the trace again; empty: one can
};

// Writes the trace as one JSON object, one event per line, in order of time. `memory` holds the curves of
// `memory_curves`, by device; it may be empty. Times are microseconds with three decimals, sizes MiB.
// Throws what `sink` throws.
void write_chrome_trace(const Timeline& timeline, const Schedule& schedule, const Report& report,
                        const std::vector<std::vector<MemoryPoint>>& memory, const TraceInfo& info,
                        const TextSink& sink);

// One of two runs in a trace; all must outlive the call.
struct TracedRun {
  const Timeline* timeline = nullptr;
  const Schedule* schedule = nullptr;
  const std::vector<std::vector<MemoryPoint>>* memory = nullptr;
};

// Both runs of a comparison on one timeline, for viewers that open one file: processes 0 ... p-1 "predicted device d",
// 1000 ... "measured device d" (10000 with more than 1000 devices), shown side by side. `facts` is a JSON object.
void write_merged_trace(const TracedRun& predicted, const TracedRun& measured, const std::string& facts,
                        const TextSink& sink);

}  // namespace debubble
