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

void CauseTracks::write_gap(TraceNames& text, std::int32_t index, std::int64_t thread) const {
  const IdleGap& gap = at(gaps_, index);
  text.next_line();
  text.out << "{\"name\":\"" << words_of(cause_of(gap.causes)) << "\",\"cat\":\"idle";
  text.open_event("X", gap.device, thread, gap.begin);
  text.write_time("dur", gap.end - gap.begin);
  text.out << ",\"args\":{\"before\":\"";
  const GapEnd end = end_of(gap);
  if (end.step != nullptr) {
    text.write_step_name(*end.step);
  } else if (end.span != nullptr) {
    text.write_cell(*end.span);
  } else {
    text.out << "the end of the step";
  }
  if (end.step != nullptr || end.span != nullptr) {
    text.out << "\",\"waited_for\":\"";
    text.write_gate(end.step != nullptr ? end.step->gate : end.span->gate);
  }
  text.out << "\",\"idle_ns\":" << gap.end - gap.begin;
  for (int i = 0; i < kIdleCauses; ++i) {
    if (at(gap.causes, i) == 0) continue;
    text.out << ",\"" << to_string(static_cast<IdleCause>(i)) << "_ns\":" << at(gap.causes, i);
  }
  text.write_source();
  text.close_event();
}

void CauseTracks::write_path_args(TraceNames& text, const Gate& thing) const {
  switch (thing.kind) {
    case Gate::Kind::kStart:
      text.out << "\"kind\":\"wait\"";
      break;
    case Gate::Kind::kSpan:
      text.out << "\"kind\":\"compute\",\"device\":" << at(timeline_.spans, thing.index).device;
      break;
    case Gate::Kind::kTransfer: {
      const Transfer& transfer = at(timeline_.transfers, thing.index);
      text.out << "\"kind\":\"transfer\",\"from_device\":" << transfer.from_device
               << ",\"to_device\":" << transfer.to_device << ",\"latency_ns\":" << transfer.latency;
      break;
    }
    case Gate::Kind::kCopy:
      text.out << "\"kind\":\"transfer\",\"device\":" << at(timeline_.copies, thing.index).device;
      break;
    case Gate::Kind::kCollective:
      text.out << "\"kind\":\"collective\"";
      break;
    case Gate::Kind::kStep: {
      const StepSpan& step = at(timeline_.steps, thing.index);
      const bool computes = step.lane == StepTask::Lane::kCompute;
      text.out << "\"kind\":\"" << (computes ? "compute" : "collective") << "\",\"device\":" << step.device;
      break;
    }
  }
  text.write_source();
}

void CauseTracks::write_stretch(TraceNames& text, std::int32_t index, std::int64_t thread) const {
  const Stretch& stretch = at(path_, index);
  const Gate& thing = stretch.thing;
  text.next_line();
  text.out << "{\"name\":\"";
  text.write_thing(thing, "wait");
  text.out << "\",\"cat\":\"critical path";
  text.open_event("X", timeline_.devices, thread, stretch.begin);
  text.write_time("dur", stretch.end - stretch.begin);
  text.out << ",\"args\":{";
  write_path_args(text, thing);
  text.close_event();
}

}  // namespace debubble::trace_detail
