// HostRecords: training steps that a profiler of the host saw, as the stream of records that a GPU's would give.
//
//     ranges of a step (host_tree.hpp)     RangePush, RangePop                          in order of time
//     its work (host_work.hpp)             LinkRecord, LaunchRecord, KernelRecord       after them, one of each for a
//     piece a step without ranges                SwitchRecord, RangePush, RangePop, SwitchRecord
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/host/host_range.hpp"
#include "profiler/host/host_tree.hpp"
#include "profiler/records/record.hpp"
#include "sim/core/units.hpp"

namespace debubble {

class HostRecords {
 public:
  explicit HostRecords(RecordSink& sink) : sink_(sink) {}

  // All ranges of a recorded step, in any order. `slowed`: by what the hooks did besides, so it is warm-up.
  void step(std::vector<HostRange> ranges, bool slowed = false);
  // A step of which only the duration is known. `paused`: because recording was off for it, to compare with the others.
  void bare_step(std::int64_t number, Nanoseconds duration, bool paused, bool slowed = false);

 private:
  std::vector<std::uint64_t> push_all(const HostTree& tree);
  void mark_slowed(Nanoseconds begin, Nanoseconds end);

  RecordSink& sink_;
  std::uint64_t ranges_ = 0;
  std::uint32_t pieces_ = 0;
  std::uint32_t thread_ = 1;  // of the newest step
  Nanoseconds now_ = 0;       // its end
};

}  // namespace debubble
