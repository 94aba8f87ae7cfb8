// The critical path: from what ends last, a span or a task of the step, back along the gates to time 0.
#include "sim/analysis/critical_path.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/analysis/analyse.hpp"

namespace debubble {

namespace {

Gate cause_of(Gate::Kind kind, std::size_t index, const Timeline& timeline) {
  switch (kind) {
    case Gate::Kind::kStart:
      break;
    case Gate::Kind::kSpan:
      return timeline.spans[index].gate;
    case Gate::Kind::kTransfer:
      return timeline.transfers[index].gate;
    case Gate::Kind::kCopy:
      return timeline.copies[index].gate;
    case Gate::Kind::kCollective:
      return timeline.collectives[index].gate;
    case Gate::Kind::kStep:
      return timeline.steps[index].gate;
  }
  return {};
}

// Adds the length of one thing on the path to what it counts as.
template <typename Thing>
void add_stretch(const Thing& thing, Nanoseconds& sum, Nanoseconds& wait, Nanoseconds& at) {
  wait += thing.begin - at;
  sum += thing.end - thing.begin;
  at = thing.end;
}

}  // namespace

Gate last_event(const Timeline& timeline) {
  const auto ends_first = [](const auto& a, const auto& b) { return a.end < b.end; };
  Gate last;
  Nanoseconds end = 0;
  if (!timeline.spans.empty()) {
    const auto span = std::max_element(timeline.spans.begin(), timeline.spans.end(), ends_first);
    last = {Gate::Kind::kSpan, static_cast<std::int32_t>(span - timeline.spans.begin())};
    end = span->end;
  }
  if (!timeline.steps.empty()) {
    const auto step = std::max_element(timeline.steps.begin(), timeline.steps.end(), ends_first);
    if (step->end >= end) last = {Gate::Kind::kStep, static_cast<std::int32_t>(step - timeline.steps.begin())};
  }
  return last;
}

std::vector<Gate> critical_path(const Timeline& timeline) {
  std::vector<Gate> path;
  Gate gate = last_event(timeline);
  while (gate.kind != Gate::Kind::kStart) {
    path.push_back(gate);
    const auto index = static_cast<std::size_t>(gate.index);
    gate = cause_of(gate.kind, index, timeline);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

CriticalPath sum_critical_path(const Timeline& timeline) {
  CriticalPath sums;
  Nanoseconds at = 0;
  for (const Gate& gate : critical_path(timeline)) {
    const auto index = static_cast<std::size_t>(gate.index);
    switch (gate.kind) {
      case Gate::Kind::kStart:
        break;
      case Gate::Kind::kSpan:
        add_stretch(timeline.spans[index], sums.compute, sums.wait, at);
        break;
      case Gate::Kind::kTransfer:
        add_stretch(timeline.transfers[index], sums.transfer, sums.wait, at);
        ++sums.hops;
        break;
      case Gate::Kind::kCopy:
        add_stretch(timeline.copies[index], sums.transfer, sums.wait, at);
        break;
      case Gate::Kind::kCollective:
        add_stretch(timeline.collectives[index], sums.collective, sums.wait, at);
        break;
      case Gate::Kind::kStep: {
        const StepSpan& step = timeline.steps[index];
        add_stretch(step, step.lane == StepTask::Lane::kCompute ? sums.compute : sums.collective, sums.wait, at);
        break;
      }
    }
  }
  sums.wait += timeline.makespan - at;
  return sums;
}

}  // namespace debubble
