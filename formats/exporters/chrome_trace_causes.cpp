#include "formats/exporters/chrome_trace_causes.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "sim/analysis/analyse.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/at.hpp"
#include "sim/core/with_thing.hpp"
#include "sim/core/words.hpp"

namespace debubble::trace_detail {

std::string words_of(IdleCause cause) { return with_blanks(to_string(cause)); }

IdleCause cause_of(const NanosecondsByCause& causes) {
  return static_cast<IdleCause>(std::max_element(causes.begin(), causes.end()) - causes.begin());
}

CauseTracks::CauseTracks(const Timeline& timeline) : timeline_(timeline), gaps_(idle_gaps(timeline)) {
  for (std::size_t i = 0; i < timeline.steps.size(); ++i) {
    const StepSpan& step = timeline.steps[i];
    if (step.lane == StepTask::Lane::kCompute) steps_.try_emplace({step.device, step.begin}, static_cast<int>(i));
  }
  add_path();
}

// In a measured run a thing may have begun before what it waited for had ended; it is shown from that end on, for
// slices of a track must not overlap.
void CauseTracks::add_path() {
  Nanoseconds now = 0;
  for (const Gate& thing : critical_path(timeline_)) {
    const auto [begin, end] =
        with_thing(thing, timeline_, [](const auto& one) { return std::pair(one.begin, one.end); });
    add_to_path(now, begin, {});
    add_to_path(std::max(now, begin), end, thing);
    now = std::max(now, end);
  }
  add_to_path(now, timeline_.makespan, {});
}

void CauseTracks::add_to_path(Nanoseconds begin, Nanoseconds end, const Gate& thing) {
  if (begin < end) path_.push_back({begin, end, thing});
}

void CauseTracks::add_events(std::vector<TraceEvent>& events) const {
  for (std::size_t i = 0; i < gaps_.size(); ++i) {
    const IdleGap& gap = gaps_[i];
    events.push_back(
        {gap.begin, gap.end - gap.begin, TraceEvent::Kind::kIdle, gap.device, static_cast<std::int32_t>(i)});
  }
  for (std::size_t i = 0; i < path_.size(); ++i) {
    const Stretch& stretch = path_[i];
    events.push_back({stretch.begin, stretch.end - stretch.begin, TraceEvent::Kind::kCriticalPath, timeline_.devices,
                      static_cast<std::int32_t>(i)});
  }
}

CauseTracks::GapEnd CauseTracks::end_of(const IdleGap& gap) const {
  const Span* span = gap.before < 0 ? nullptr : &at(timeline_.spans, gap.before);
  if (span != nullptr && span->begin == gap.end) return {nullptr, span};
  const auto step = steps_.find({gap.device, gap.end});
  return {step == steps_.end() ? nullptr : &at(timeline_.steps, step->second), span};
}

}  // namespace debubble::trace_detail
