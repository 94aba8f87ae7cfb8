// What application threads and CUPTI hand to the writer thread, in one order.
//
// A range's push is queued before CUPTI learns its number, so it is in front of every buffer that could name it. Adding
// takes one short lock and never waits for the writer: when it falls far behind, ranges and facts are refused and
// counted.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/records/record.hpp"

namespace debubble {

struct FullBuffer {
  std::uint8_t* data = nullptr;
  std::size_t valid = 0;
};

// Events of one swap of the queue, oldest first; buffers come after them.
struct EventBatch {
  enum class Kind : std::uint8_t { kPush, kPop, kSwitch, kFact, kLoss, kClock };
  struct Event {
    Kind kind = Kind::kPush;
    std::uint32_t thread = 0;  // of a clock: the device
    Nanoseconds time = 0;
    std::uint64_t number = 0;  // range, recording, count, reasons
    std::int32_t mhz = 0;
    std::size_t text = 0;  // where its text begins in `texts`
    std::size_t text_size = 0;
    std::size_t value_size = 0;  // of a fact: the value comes after the key
  };
  std::vector<Event> events;
  std::string texts;
  std::vector<FullBuffer> buffers;

  void replay(RecordSink& sink) const;  // the events, not the buffers
  void clear();
};

class RecordQueue {
 public:
  static constexpr std::size_t kMostEvents = std::size_t{1} << 20U;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20U;  // of texts

  explicit RecordQueue(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // Both happen now; over all threads their times never fall. push: the number of the new range, counting from 1 in the
  // order of the queue; 0: refused.
  std::uint64_t push(std::uint32_t thread, std::string_view text);
  void pop(std::uint32_t thread);
  void add(const SwitchRecord& record);
  void add(const FactRecord& record);
  void add(const LossRecord& record);
  void add(const ClockRecord& record);
  void add(FullBuffer buffer);

  // Waits for something to do, at most `longest`; swaps what is there into `batch`, which must be empty. Returns the
  // number of flushes asked for until now; close() counts as one.
  std::uint64_t take(EventBatch& batch, std::chrono::milliseconds longest);
  // Asks for everything queued until now to be written, and waits for done(), or end().
  void flush();
  void done(std::uint64_t flushes);
  void end();  // nobody will take any more
  void close();
  [[nodiscard]] bool closed();
  [[nodiscard]] std::int64_t take_refused_facts();  // since the last call

 private:
  EventBatch::Event& append(EventBatch::Kind kind, Nanoseconds time, std::string_view text = {},
                            std::string_view value = {});
  [[nodiscard]] bool has_room_for(std::size_t bytes) const;
  Nanoseconds next_time();

  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable written_;
  EventBatch waiting_;
  Nanoseconds last_time_ = 0;
  std::uint64_t ranges_ = 0;
  std::uint64_t flushes_asked_ = 0;
  std::uint64_t flushes_done_ = 0;
  std::int64_t refused_facts_ = 0;
  bool closed_ = false;
  bool ended_ = false;
};

}  // namespace debubble
