#include "profiler/cupti/range_recorder.hpp"

#include <algorithm>

namespace debubble {

namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> numbers = 0;
  return ++numbers;
}

int depth_of(const RangeStack& stack, const void* domain) {
  return static_cast<int>(std::count_if(stack.open.begin(), stack.open.end(), [&](const OpenRange& range) {
    return range.domain == domain && !range.closed;
  }));
}

}  // namespace

RangeRecorder::RangeRecorder(RecordQueue& queue) : queue_(queue), number_(next_number()) {}

int RangeRecorder::push(std::string_view text, const void* domain) {
  RangeStack* const open = stack();
  if (open == nullptr) return -1;
  end_lingering(*open, domain);
  const int depth = depth_of(*open, domain);
  if (open->open.size() >= kDeepest) {
    ++open->too_deep;
    ++refused_;
    return depth;
  }
  OpenRange range{.domain = domain};
  if (text.data() != nullptr) {
    range.range = queue_.push(this_thread(), text);
    if (range.range == 0) ++refused_;
  }
  open->open.push_back(range);
  push_innermost_id(*open);
  return depth;
}

int RangeRecorder::pop(const void* domain) {
  RangeStack* const open = stack();
  if (open == nullptr) return -1;
  if (open->too_deep > 0) {
    --open->too_deep;
    return depth_of(*open, domain);
  }
  const auto found = std::find_if(open->open.rbegin(), open->open.rend(),
                                  [&](const OpenRange& range) { return range.domain == domain && !range.closed; });
  if (found == open->open.rend()) {
    ++unmatched_;
    return -1;
  }
  found->closed = true;
  if (found != open->open.rbegin()) ++crossed_;
  while (!open->open.empty() && open->open.back().closed) remove_top(*open);
  push_innermost_id(*open);
  return depth_of(*open, domain);
}

// A range of this domain ended long ago, but one above it was never popped: now that the domain goes on, both are over.
void RangeRecorder::end_lingering(RangeStack& stack, const void* domain) {
  const auto lingering = std::find_if(stack.open.begin(), stack.open.end(),
                                      [&](const OpenRange& range) { return range.closed && range.domain == domain; });
  const auto keep = static_cast<std::size_t>(lingering - stack.open.begin());
  while (stack.open.size() > keep) remove_top(stack);
}

void RangeRecorder::remove_top(RangeStack& stack) {
  const OpenRange range = stack.open.back();
  stack.open.pop_back();
  if (range.pushed) {
    if (ExternalIds* const ids = ids_.load(std::memory_order_acquire); ids != nullptr) ids->pop_external_id();
  }
  if (range.range != 0) queue_.pop(this_thread());
}

// CUPTI links to the top of its stack; that must be the innermost recorded range.
void RangeRecorder::push_innermost_id(RangeStack& stack) {
  ExternalIds* const ids = ids_.load(std::memory_order_acquire);
  if (ids == nullptr || !pushing_ids_.load(std::memory_order_relaxed)) return;
  const auto innermost =
      std::find_if(stack.open.rbegin(), stack.open.rend(), [](const OpenRange& range) { return range.range != 0; });
  if (innermost != stack.open.rend() && !innermost->pushed) innermost->pushed = ids->push_external_id(innermost->range);
}

void RangeRecorder::attach(ExternalIds* ids) {
  ids_.store(ids, std::memory_order_release);
  set_pushing_ids(ids != nullptr);
}

void RangeRecorder::set_pushing_ids(bool on) {
  pushing_ids_ = on;
  if (RangeStack* const open = stack(); open != nullptr) push_innermost_id(*open);
}

void RangeRecorder::report(RecordSink& sink) {
  const auto give = [&](const char* what, std::atomic<std::int64_t>& count) {
    if (const std::int64_t losses = count.exchange(0); losses > 0) sink.on(LossRecord{what, losses});
  };
  give("unmatched_pops", unmatched_);
  give("crossed_ranges", crossed_);
  give("refused_ranges", refused_);
}

}  // namespace debubble
