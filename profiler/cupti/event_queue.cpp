#include "profiler/cupti/event_queue.hpp"

#include <algorithm>
#include <utility>

#include "profiler/cupti/range_stack.hpp"

namespace debubble {

void EventBatch::replay(RecordSink& sink) const {
  for (const Event& event : events) {
    const std::string_view text = std::string_view(texts).substr(event.text, event.text_size);
    const std::string_view value = std::string_view(texts).substr(event.text + event.text_size, event.value_size);
    switch (event.kind) {
      case Kind::kPush:
        sink.on(RangePush{event.number, event.thread, event.time, text, -1, 0, {}});
        break;
      case Kind::kPop:
        sink.on(RangePop{event.thread, event.time});
        break;
      case Kind::kSwitch:
        sink.on(SwitchRecord{event.time, event.number != 0});
        break;
      case Kind::kFact:
        sink.on(FactRecord{text, value});
        break;
      case Kind::kLoss:
        sink.on(LossRecord{text, static_cast<std::int64_t>(event.number)});
        break;
      case Kind::kClock:
        sink.on(ClockRecord{event.thread, event.time, event.mhz, event.number});
        break;
    }
  }
}

void EventBatch::clear() {
  events.clear();
  texts.clear();
  buffers.clear();
}

// The texts first: without memory there must be no event whose text is missing.
EventBatch::Event& RecordQueue::append(EventBatch::Kind kind, Nanoseconds time, std::string_view text,
                                       std::string_view value) {
  const std::size_t begin = waiting_.texts.size();
  waiting_.texts.append(text).append(value);
  EventBatch::Event& event = waiting_.events.emplace_back();
  event.kind = kind;
  event.time = time;
  event.text = begin;
  event.text_size = text.size();
  event.value_size = value.size();
  return event;
}

bool RecordQueue::has_room_for(std::size_t bytes) const {
  return waiting_.events.size() < kMostEvents && bytes <= most_bytes_ && waiting_.texts.size() <= most_bytes_ - bytes;
}

// Under the lock, or two threads could queue in another order than their times; and the clock may be set back.
Nanoseconds RecordQueue::next_time() { return last_time_ = std::max(last_time_, now()); }

std::uint64_t RecordQueue::push(std::uint32_t thread, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !has_room_for(text.size())) return 0;
  EventBatch::Event& event = append(EventBatch::Kind::kPush, next_time(), text);
  event.thread = thread;
  event.number = ++ranges_;
  return event.number;
}

// Never refused: its push was taken.
void RecordQueue::pop(std::uint32_t thread) {
  const std::lock_guard lock(mutex_);
  append(EventBatch::Kind::kPop, next_time()).thread = thread;
}

void RecordQueue::add(const SwitchRecord& record) {
  const std::lock_guard lock(mutex_);
  append(EventBatch::Kind::kSwitch, record.time).number = record.recording ? 1 : 0;
}

void RecordQueue::add(const FactRecord& record) {
  const std::lock_guard lock(mutex_);
  if (has_room_for(record.key.size() + record.value.size())) {
    append(EventBatch::Kind::kFact, 0, record.key, record.value);
  } else {
    ++refused_facts_;
  }
}

void RecordQueue::add(const LossRecord& record) {
  const std::lock_guard lock(mutex_);
  append(EventBatch::Kind::kLoss, 0, record.what).number = static_cast<std::uint64_t>(record.count);
}

void RecordQueue::add(const ClockRecord& record) {
  const std::lock_guard lock(mutex_);
  EventBatch::Event& event = append(EventBatch::Kind::kClock, record.time);
  event.thread = record.device;
  event.mhz = record.sm_mhz;
  event.number = record.slowed_by;
}

void RecordQueue::add(FullBuffer buffer) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.buffers.push_back(buffer);
  }
  work_.notify_one();
}

std::uint64_t RecordQueue::take(EventBatch& batch, std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  // Events alone do not wake the writer: waking costs the application thread more than adding.
  work_.wait_for(lock, longest, [&] { return closed_ || flushes_asked_ > flushes_done_ || !waiting_.buffers.empty(); });
  std::swap(batch, waiting_);
  return flushes_asked_;
}

void RecordQueue::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = ++flushes_asked_;
  work_.notify_one();
  written_.wait(lock, [&] { return ended_ || flushes_done_ >= mine; });
}

void RecordQueue::done(std::uint64_t flushes) {
  {
    const std::lock_guard lock(mutex_);
    flushes_done_ = flushes;
  }
  written_.notify_all();
}

void RecordQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    ++flushes_asked_;
  }
  work_.notify_one();
}

void RecordQueue::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  written_.notify_all();
}

std::int64_t RecordQueue::take_refused_facts() {
  const std::lock_guard lock(mutex_);
  return std::exchange(refused_facts_, 0);
}

bool RecordQueue::closed() {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace debubble
