#include "live/mpi/mailbox.hpp"

#include <algorithm>
#include <utility>

#include "live/mpi/frame.hpp"
#include "sim/core/at.hpp"

namespace debubble::live {

template <typename Condition>
void Mailbox::wait(std::unique_lock<std::mutex>& lock, Condition condition) {
  moved_ = std::chrono::steady_clock::now();
  blocked_ = true;
  worker_wakes_.wait(lock, [&] { return stopped_ || condition(); });
  if (stopped_) throw Stalled{};
  blocked_ = false;
}

void Mailbox::wake_main() {
  main_has_work_ = true;
  main_wakes_.notify_one();
}

void Mailbox::send(std::int32_t to, Message message) {
  std::vector<std::byte> frame = to_frame(message);  // outside of the lock: it copies the payload
  std::unique_lock lock(mutex_);
  int& in_flight = in_flight_[to_index(to)];
  wait(lock, [&in_flight] { return in_flight < kOutstanding; });
  ++in_flight;
  outgoing_.push_back({to, std::move(frame)});
  wake_main();
}

Message Mailbox::receive(Message::Kind kind, const Tensor& tensor, std::int32_t from, std::int32_t iteration) {
  const Key key{kind, tensor, from, iteration};
  std::unique_lock lock(mutex_);
  status_ = {status_.position, true, kind, tensor, from};
  wait(lock, [&] { return arrived_.contains(key); });
  status_.waits = false;
  return take(key);
}

Message Mailbox::take(const Key& key) {
  order_.erase(std::find(order_.begin(), order_.end(), key));
  const auto found = arrived_.find(key);
  Message message = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) arrived_.erase(found);
  return message;
}

std::optional<Message> Mailbox::take_any() {
  const std::lock_guard lock(mutex_);
  if (stopped_) throw Stalled{};
  if (order_.empty()) return std::nullopt;
  return take(Key(order_.front()));
}

void Mailbox::begin_wait() {
  const std::lock_guard lock(mutex_);
  blocked_ = true;
  moved_ = std::chrono::steady_clock::now();
}

void Mailbox::begin_wait(Message::Kind kind, const Tensor& tensor, std::int32_t from) {
  begin_wait();
  const std::lock_guard lock(mutex_);
  status_ = {status_.position, true, kind, tensor, from};
}

void Mailbox::end_wait() {
  const std::lock_guard lock(mutex_);
  if (stopped_) throw Stalled{};
  status_.waits = false;
  blocked_ = false;
}

void Mailbox::at(std::int32_t position) {
  const std::lock_guard lock(mutex_);
  status_.position = position;
}

void Mailbox::barrier() {
  std::unique_lock lock(mutex_);
  barrier_done_ = false;
  barrier_wanted_ = true;
  wake_main();
  wait(lock, [this] { return barrier_done_; });
}

void Mailbox::work_ended() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  wake_main();
}

std::optional<Mailbox::OutgoingFrame> Mailbox::next_outgoing() {
  const std::lock_guard lock(mutex_);
  if (outgoing_.empty()) return std::nullopt;
  OutgoingFrame outgoing = std::move(outgoing_.front());
  outgoing_.pop_front();
  return outgoing;
}

void Mailbox::frame_sent(std::int32_t to) {
  const std::lock_guard lock(mutex_);
  --in_flight_[to_index(to)];
  moved_ = std::chrono::steady_clock::now();
  worker_wakes_.notify_one();
}

void Mailbox::deliver(Message message) {
  const std::lock_guard lock(mutex_);
  const Key key{message.kind, message.tensor, message.from, message.iteration};
  arrived_[key].push_back(std::move(message));
  order_.push_back(key);
  moved_ = std::chrono::steady_clock::now();
  worker_wakes_.notify_one();
}

void Mailbox::set_in_flight(std::size_t bytes) {
  constexpr int kNanosecondsPerByte = 100;
  const std::lock_guard lock(mutex_);
  carrying_ = std::chrono::nanoseconds(static_cast<std::int64_t>(bytes) * kNanosecondsPerByte);
}

bool Mailbox::barrier_wanted() {
  const std::lock_guard lock(mutex_);
  return std::exchange(barrier_wanted_, false);
}

void Mailbox::barrier_done() {
  const std::lock_guard lock(mutex_);
  barrier_done_ = true;
  worker_wakes_.notify_one();
}

void Mailbox::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  worker_wakes_.notify_one();
}

bool Mailbox::has_ended() {
  const std::lock_guard lock(mutex_);
  return ended_;
}

DeviceStatus Mailbox::status() {
  const std::lock_guard lock(mutex_);
  return status_;
}

std::optional<std::chrono::steady_clock::time_point> Mailbox::waiting_since() {
  const std::lock_guard lock(mutex_);
  if (ended_ || !blocked_) return std::nullopt;
  return moved_ + carrying_;
}

void Mailbox::wait_for_worker(std::chrono::microseconds longest) {
  std::unique_lock lock(mutex_);
  main_wakes_.wait_for(lock, longest, [this] { return main_has_work_; });
  main_has_work_ = false;
}

}  // namespace debubble::live
