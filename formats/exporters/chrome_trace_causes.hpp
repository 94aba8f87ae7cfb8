// The tracks of a Chrome trace that explain: why each device is idle, and what the step is made of.
//
//     device 1       compute         |  PP:1F0  |
//                    idle   fill     |          | transfer latency |
//     critical path         PP:0F0 | PP:0SEND_F0 | PP:1F0 | ...        from 0 to the makespan, without a hole
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/exporters/chrome_trace_stream.hpp"
#include "sim/analysis/idle_gaps.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/timeline.hpp"

namespace debubble::trace_detail {

// "transfer latency": the report's word, as text.
[[nodiscard]] std::string words_of(IdleCause cause);
// What caused most of a gap.
[[nodiscard]] IdleCause cause_of(const NanosecondsByCause& causes);

class CauseTracks {
 public:
  struct Stretch {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    Gate thing;  // kStart: a wait
  };
  // What ended a gap: a task of the step, a span, or nothing, after the device's last work.
  struct GapEnd {
    const StepSpan* step = nullptr;
    const Span* span = nullptr;
  };

  // The timeline must outlive it.
  explicit CauseTracks(const Timeline& timeline);

  [[nodiscard]] const std::vector<IdleGap>& gaps() const { return gaps_; }
  [[nodiscard]] const std::vector<Stretch>& path() const { return path_; }
  [[nodiscard]] GapEnd end_of(const IdleGap& gap) const;

  // Of the path as of a device after all others.
  void add_events(std::vector<TraceEvent>& events) const;

 private:
  void add_path();
  void add_to_path(Nanoseconds begin, Nanoseconds end, const Gate& thing);

  const Timeline& timeline_;
  std::vector<IdleGap> gaps_;
  std::vector<Stretch> path_;
  std::map<std::pair<std::int32_t, Nanoseconds>, std::int32_t> steps_;  // on a compute lane: by device and begin
};

}  // namespace debubble::trace_detail
