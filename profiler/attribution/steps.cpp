#include "profiler/attribution/steps.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble::attribution {

std::int32_t Steps::begin(Nanoseconds time) {
  if (current_ != kNoStep) return kNoStep;
  if (steps_.size() < kMostSteps) steps_.push_back({time, std::nullopt});
  current_ = static_cast<std::int32_t>(steps_.size()) - 1;
  return current_;
}

void Steps::end(std::int32_t step, Nanoseconds time) {
  at(steps_, step).end = time;
  if (current_ == step) current_ = kNoStep;
}

void Steps::on(const SwitchRecord& record) {
  if (switches_.size() < kMostMarks) switches_.push_back(record);
}

void Steps::on(const OverheadRecord& record) {
  const bool loads = record.kind == OverheadKind::kCompiler || record.kind == OverheadKind::kModuleLoading ||
                     record.kind == OverheadKind::kLazyLoading || record.kind == OverheadKind::kCounting;
  if (loads && loads_.size() < kMostMarks) loads_.push_back({record.begin, std::max(record.begin, record.end)});
}

void Steps::settle() {
  std::stable_sort(switches_.begin(), switches_.end(),
                   [](const SwitchRecord& left, const SwitchRecord& right) { return left.time < right.time; });
  pauses_.clear();
  bool recording = true;
  for (const SwitchRecord& change : switches_) {
    if (recording && !change.recording) pauses_.push_back({change.time, std::numeric_limits<Nanoseconds>::max()});
    if (!recording && change.recording) pauses_.back().end = change.time;
    recording = change.recording;
  }
  std::sort(loads_.begin(), loads_.end(), [](const Span& left, const Span& right) { return left.begin < right.begin; });
  std::vector<Span> merged;
  for (const Span& load : loads_) {
    if (merged.empty() || load.begin > merged.back().end) merged.push_back(load);
    merged.back().end = std::max(merged.back().end, load.end);
  }
  loads_ = std::move(merged);
}

// The first of the sorted, disjoint spans that ends at `time` or later.
std::vector<Steps::Span>::const_iterator Steps::first_ending(const std::vector<Span>& spans, Nanoseconds time) {
  return std::partition_point(spans.begin(), spans.end(), [&](const Span& span) { return span.end < time; });
}

bool Steps::recorded(Nanoseconds begin, Nanoseconds end) const {
  const auto pause = first_ending(pauses_, begin + 1);
  return pause == pauses_.end() || pause->begin >= end;
}

bool Steps::unrecorded(Nanoseconds begin, Nanoseconds end) const {
  const auto pause = first_ending(pauses_, end);
  return pause != pauses_.end() && pause->begin <= begin;
}

bool Steps::loading(Nanoseconds begin, Nanoseconds end) const {
  const auto load = first_ending(loads_, begin);
  return load != loads_.end() && load->begin < end;
}

}  // namespace debubble::attribution
