// Kineto's traces: a Timeline as torch.profiler would have recorded it, one file per rank, for tools that read those.
//
//     host      ProfilerStep#0   PP:0F0 cudaLaunchKernel ...      one thread; launches take no time and come early
//     device 3  stream 7         forward of stage 3               kernels, within gpu_user_annotation "PP:3F0"
//               stream 20, ...   ncclDevKernel_SendRecv ...       one stream for each lane of a Chrome trace
//
// What is taken from where: names, categories, arguments and their spelling from recordings of torch.profiler; that a
// rank is found by `"rank": 3`, a blank between, that GPU rows are those with a stream above 0, communication what is
// called nccl..., and steps ProfilerStep#N, from Holistic Trace Analysis. The model knows no host: an op is launched
// when the one before it on its device begins, so nothing ever waits for a launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/exporters/chrome_trace.hpp"
#include "formats/exporters/chrome_trace_lanes.hpp"
#include "formats/files/text_sink.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

class RankTraces {
 public:
  // All of them must outlive it.
  RankTraces(const Timeline& timeline, const Schedule& schedule, const TraceInfo& info);

  [[nodiscard]] std::int32_t ranks() const { return timeline_.devices; }
  // The file of one rank. Throws what `sink` throws.
  void write(std::int32_t rank, const TextSink& sink) const;

  // Something that a stream of a device does.
  struct Work {
    enum class Kind : std::uint8_t { kCompute, kSend, kReceive, kCopy, kStep };
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::int64_t stream = 0;
    Kind kind = Kind::kCompute;
    std::int32_t index = 0;  // into spans, transfers, copies or steps
  };

 private:
  void add(std::int32_t device, Nanoseconds begin, Nanoseconds end, std::int64_t thread, Work::Kind kind,
           std::size_t index);

  const Timeline& timeline_;
  const Schedule& schedule_;
  const TraceInfo& info_;
  TraceLanes lanes_;
  std::vector<std::vector<Work>> works_;  // by device, in order of begin
};

}  // namespace debubble
