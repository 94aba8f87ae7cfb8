#include "live/cpu/fabric.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble::live {

// All but `kept`, which is its thread's alone, is under the fabric's mutex.
struct Fabric::Slot {
  std::int32_t device = 0;
  std::vector<Message> inbox;
  std::vector<std::size_t> queued;  // by sender: how many of the inbox
  std::int32_t sends_to = -1;       // whose full link it waits for
  DeviceStatus status;
  std::atomic<bool> blocked = false;  // read without the mutex by a spinning wait only
  std::condition_variable wake;
  std::map<std::tuple<Message::Kind, Tensor, std::int32_t>, Message> kept;
};

class Fabric::Port final : public Transport {
 public:
  Port(Fabric& fabric, Slot& slot) : fabric_(fabric), slot_(slot) {}

  void send(std::int32_t to, Message message) override {
    Lock lock(fabric_.mutex_);
    Slot& receiver = *fabric_.slots_[to_index(to)];
    std::size_t& queued = receiver.queued[to_index(slot_.device)];
    while (queued >= fabric_.capacity_) {
      if (fabric_.absorb(slot_)) continue;
      slot_.sends_to = to;
      fabric_.block(slot_, lock);
      slot_.sends_to = -1;
    }
    if (fabric_.stopped_) throw Stalled{};
    ++queued;
    receiver.inbox.push_back(std::move(message));
    ++fabric_.steps_;
    fabric_.unblock(receiver);
  }

  Message receive(Message::Kind kind, const Tensor& tensor, std::int32_t from, std::int32_t iteration) override {
    const std::tuple key(kind, tensor, iteration);
    for (;;) {
      if (auto found = slot_.kept.extract(key)) return std::move(found.mapped());
      Lock lock(fabric_.mutex_);
      if (fabric_.absorb(slot_)) continue;
      slot_.status.waits = true;
      slot_.status.kind = kind;
      slot_.status.tensor = tensor;
      slot_.status.from = from;
      fabric_.block(slot_, lock);
      slot_.status.waits = false;
    }
  }

  void at(std::int32_t position) override {
    const Lock lock(fabric_.mutex_);
    if (fabric_.stopped_) throw Stalled{};
    slot_.status.position = position;
    ++fabric_.steps_;
  }

  [[nodiscard]] bool stopped() const override { return fabric_.stopped_.load(std::memory_order_relaxed); }

  void barrier() override {
    Lock lock(fabric_.mutex_);
    if (fabric_.stopped_) throw Stalled{};
    ++fabric_.steps_;
    const std::int64_t number = fabric_.barriers_;
    if (++fabric_.at_barrier_ == fabric_.slots_.size()) {
      fabric_.at_barrier_ = 0;
      ++fabric_.barriers_;
      for (const auto& slot : fabric_.slots_) fabric_.unblock(*slot);
      return;
    }
    while (fabric_.barriers_ == number) {
      if (!fabric_.absorb(slot_)) fabric_.block(slot_, lock);
    }
  }

 private:
  Fabric& fabric_;
  Slot& slot_;
};

namespace {

constexpr std::chrono::milliseconds kSpin{
    20};  // longer than a core is taken away for, on a machine that is not crowded

}  // namespace

Fabric::Fabric(std::int32_t devices, std::size_t capacity, bool spin) : capacity_(capacity), spin_(spin) {
  for (std::int32_t device = 0; device < devices; ++device) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->device = device;
    slots_.back()->queued.assign(static_cast<std::size_t>(devices), 0);
    ports_.push_back(std::make_unique<Port>(*this, *slots_.back()));
  }
}

Fabric::~Fabric() = default;

Transport& Fabric::transport(std::int32_t device) { return *ports_[to_index(device)]; }

void Fabric::stop() {
  const Lock lock(mutex_);
  stop_locked();
}

bool Fabric::stalled() const {
  const Lock lock(mutex_);
  return stalled_;
}

std::vector<DeviceStatus> Fabric::status() const {
  const Lock lock(mutex_);
  std::vector<DeviceStatus> all;
  for (const auto& slot : slots_) all.push_back(slot->status);
  return all;
}

// Waits until another device unblocks the slot. Once every device is blocked none can, so all of them get Stalled: this
// is an exact deadlock test, since blocked_ and the inboxes change under one mutex.
void Fabric::block(Slot& slot, Lock& lock) {
  if (stopped_) throw Stalled{};
  slot.blocked = true;
  if (++blocked_ == slots_.size()) {
    stalled_ = true;
    stop_locked();
    throw Stalled{};
  }
  if (spin_) {
    lock.unlock();
    const auto until = std::chrono::steady_clock::now() + kSpin;
    while (slot.blocked.load(std::memory_order_acquire) && std::chrono::steady_clock::now() < until) {
    }
    lock.lock();
  }
  slot.wake.wait(lock, [&] { return !slot.blocked || stopped_; });
  if (stopped_) throw Stalled{};
}

void Fabric::unblock(Slot& slot) {
  if (!slot.blocked) return;
  slot.blocked = false;
  --blocked_;
  slot.wake.notify_one();
}

void Fabric::stop_locked() {
  stopped_ = true;
  for (const auto& slot : slots_) slot->wake.notify_one();
}

// Takes in what has arrived, which makes room for those who wait to send. False when nothing had.
bool Fabric::absorb(Slot& slot) {
  if (stopped_) throw Stalled{};
  if (slot.inbox.empty()) return false;
  for (Message& message : slot.inbox) {
    const std::tuple key(message.kind, message.tensor, message.iteration);
    slot.kept.insert_or_assign(key, std::move(message));
  }
  slot.inbox.clear();
  std::fill(slot.queued.begin(), slot.queued.end(), 0);
  for (const auto& other : slots_) {
    if (other->sends_to == slot.device) unblock(*other);
  }
  return true;
}

}  // namespace debubble::live
