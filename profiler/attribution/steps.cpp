#include "profiler/attribution/steps.hpp"

#include <algorithm>
#include <limits>

namespace debubble::attribution {

std::int32_t Steps::begin(Nanoseconds time) {
  if (steps_.size() < kMostSteps) steps_.push_back({time, std::nullopt});
  current_ = static_cast<std::int32_t>(steps_.size()) - 1;
  return current_;
}

void Steps::end(std::int32_t step, Nanoseconds time) {
  steps_[static_cast<std::size_t>(step)].end = time;
  if (current_ == step) current_ = -1;
}

void Steps::on(const SwitchRecord& record) {
  if (switches_.size() < kMostMarks) switches_.push_back(record);
}

void Steps::on(const OverheadRecord& record) {
  const bool loads = record.kind == OverheadKind::kCompiler || record.kind == OverheadKind::kModuleLoading ||
                     record.kind == OverheadKind::kLazyLoading;
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
}

bool Steps::recorded(Nanoseconds begin, Nanoseconds end) const {
  return std::none_of(pauses_.begin(), pauses_.end(),
                      [&](const Span& pause) { return pause.begin < end && begin < pause.end; });
}

bool Steps::unrecorded(Nanoseconds begin, Nanoseconds end) const {
  return std::any_of(pauses_.begin(), pauses_.end(),
                     [&](const Span& pause) { return pause.begin <= begin && end <= pause.end; });
}

bool Steps::loading(Nanoseconds begin, Nanoseconds end) const {
  return std::any_of(loads_.begin(), loads_.end(),
                     [&](const Span& load) { return load.begin < end && begin <= load.end; });
}

}  // namespace debubble::attribution
