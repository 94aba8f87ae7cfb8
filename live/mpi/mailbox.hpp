// Mailbox: connects the worker thread and the thread that calls MPI, the main one. MPI is called from one
// thread only, and messages move while the worker computes.
//
//     worker  ── send ──►  outgoing  ── next_outgoing ──►  main thread ──► MPI
//             ◄─ receive ──  arrived   ◄─── deliver ─────              ◄──
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "live/stall.hpp"
#include "live/transport.hpp"

namespace debubble::live {

class Mailbox final : public Transport {
 public:
  // At most this many messages to one device are in flight; a further send waits.
  static constexpr int kOutstanding = 4;

  explicit Mailbox(int devices) : in_flight_(static_cast<std::size_t>(devices)) {}

  // The worker's side. Blocking calls throw Stalled after `stop`.
  void send(std::int32_t to, Message message) override;
  [[nodiscard]] Message receive(Message::Kind kind, const Tensor& tensor, std::int32_t from,
                                std::int32_t iteration) override;
  void at(std::int32_t position) override;
  void barrier() override;
  [[nodiscard]] bool stopped() const override { return stopped_.load(std::memory_order_relaxed); }
  void work_ended();  // the last call of the worker
  // For a worker that also polls other queues: the next message in the order of arrival; and what it waits for,
  // between begin_wait and end_wait. All throw Stalled after `stop`.
  [[nodiscard]] std::optional<Message> take_any();
  void begin_wait(Message::Kind kind, const Tensor& tensor, std::int32_t from);
  void begin_wait();  // for something other than a message
  void end_wait();

  // The main thread's side.
  struct OutgoingFrame {
    std::int32_t to = 0;
    std::vector<std::byte> frame;
  };
  [[nodiscard]] std::optional<OutgoingFrame> next_outgoing();
  void frame_sent(std::int32_t to);
  void deliver(Message message);
  // Bytes of payloads and frames that MPI is transferring from or to this rank now.
  void set_in_flight(std::size_t bytes);
  [[nodiscard]] bool barrier_wanted();  // true once per barrier
  void barrier_done();
  void stop();
  [[nodiscard]] bool has_ended();
  [[nodiscard]] DeviceStatus status();
  // Since when the worker has been waiting without any progress; nothing while it works. Bytes in flight count as
  // progress for as long as a slow link (10 MB/s) takes for them, so the answer may lie in the future.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> waiting_since();
  // Sleeps until the worker has a request, at most this long.
  void wait_for_worker(std::chrono::microseconds longest);

 private:
  using Key = std::tuple<Message::Kind, Tensor, std::int32_t, std::int32_t>;
  template <typename Condition>
  void wait(std::unique_lock<std::mutex>& lock, Condition condition);
  void wake_main();
  [[nodiscard]] Message take(const Key& key);

  std::mutex mutex_;
  std::condition_variable worker_wakes_;
  std::condition_variable main_wakes_;
  std::deque<OutgoingFrame> outgoing_;
  std::vector<int> in_flight_;  // by device
  std::map<Key, std::deque<Message>> arrived_;
  std::deque<Key> order_;  // of arrival
  DeviceStatus status_;
  bool blocked_ = false;
  std::chrono::steady_clock::time_point moved_ = std::chrono::steady_clock::now();
  std::chrono::nanoseconds carrying_{0};
  bool barrier_wanted_ = false;
  bool barrier_done_ = false;
  std::atomic<bool> stopped_ = false;  // written under the mutex; read without it by a wait for time
  bool ended_ = false;
  bool main_has_work_ = false;  // for the main thread
};

}  // namespace debubble::live
