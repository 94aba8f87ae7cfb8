// Every idle time of every compute lane with its causes: what DeviceReport::idle_by_cause sums up, gap by gap.
//
//     device 1  |F0|F1|....gap, before B0....|B0|.gap.|F2|....
#pragma once

#include <cstdint>
#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

struct IdleGap {
  std::int32_t device = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  // The span that ended the wait, or the next one where a task of the step did; -1 after the device's last.
  std::int32_t before = -1;
  NanosecondsByCause causes{};  // they add up to end - begin
};

// By device, then in order of time; none is empty. Of a device they add up to its idle time.
[[nodiscard]] std::vector<IdleGap> idle_gaps(const Timeline& timeline);

}  // namespace debubble
