// Which lane (thread) of a Chrome trace every slice is on.
//
// Thread ids are unique over all devices and never 0, which Perfetto would take for something else: 100 d + 1 is the
// compute lane of device d, then come that of its idle times where it is wanted, its send lanes, its receive lanes, its
// copy lane and that of the training step's collectives; with more than 99 lanes on a device, 1000 takes the place of
// 100, and so on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/timeline.hpp"

#include "sim/core/at.hpp"

namespace debubble {

// What a trace has its transfers in the order of; the later parts are for those that begin and end together.
inline auto transfer_key(const Transfer& t) {
  return std::tuple(t.begin, t.end, static_cast<int>(t.op.kind), t.op.stage, t.op.microbatch, t.from_device,
                    t.to_device);
}

// First fit: a transfer takes the lowest lane that is free when it begins. Transfers come in order of their begin.
class FirstFit {
 public:
  std::int32_t place(const Transfer& transfer) {
    while (!busy_.empty() && busy_.top().first <= transfer.begin) {
      free_.push(busy_.top().second);
      busy_.pop();
    }
    if (free_.empty()) free_.push(lanes_++);
    const std::int32_t lane = free_.top();
    free_.pop();
    busy_.emplace(transfer.end, lane);
    return lane;
  }
  [[nodiscard]] std::int32_t lanes() const { return lanes_; }

 private:
  template <typename T>
  using LowestFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

  LowestFirst<std::pair<Nanoseconds, std::int32_t>> busy_;  // until when, which lane
  LowestFirst<std::int32_t> free_;
  std::int32_t lanes_ = 0;
};

// By device: its copy lane's name, empty where it has none; whether it has a lane of the step's collectives.
[[nodiscard]] std::vector<std::string> copy_lanes(const Timeline& timeline);
[[nodiscard]] std::vector<bool> collective_lanes(const Timeline& timeline);

class TraceLanes {
 public:
  struct Lane {
    std::int64_t thread = 0;
    std::string name;  // "compute", "idle", "send", "send 2", ..., "recv", ..., "copy to host", "collective"
  };

  TraceLanes(const Timeline& timeline, bool with_idle);

  // Threads of device d lie between d * stride and (d + 1) * stride, after `first` is added to all.
  [[nodiscard]] std::int64_t stride() const { return stride_; }
  void set_first(std::int64_t first) { first_ = first; }

  [[nodiscard]] std::int64_t compute(std::int32_t device) const { return thread(device, 0); }
  [[nodiscard]] std::int64_t idle(std::int32_t device) const { return thread(device, 1); }
  // Whether a transfer gets slices: one that takes time, and where transfers hold lanes also one that takes none, for
  // nothing else shows when that was.
  [[nodiscard]] static bool shows(const Timeline& timeline, const Transfer& transfer) {
    return transfer.end > transfer.begin || timeline.transfers_hold_lanes;
  }
  // The lanes of a transfer; only for one that is shown.
  [[nodiscard]] std::int64_t send(const Transfer& transfer, std::size_t index) const {
    return thread(transfer.from_device, before_sends_ + send_[index]);
  }
  [[nodiscard]] std::int64_t receive(const Transfer& transfer, std::size_t index) const {
    return thread(transfer.to_device, before_sends_ + at(sends_, transfer.to_device) + receive_[index]);
  }
  [[nodiscard]] std::int64_t copy(std::int32_t device) const {
    const auto d = static_cast<std::size_t>(device);
    return thread(device, before_sends_ + sends_[d] + receives_[d]);
  }
  // A task of the training step: next to compute, or on its lane.
  [[nodiscard]] std::int64_t step(const StepSpan& step) const {
    if (step.lane == StepTask::Lane::kCompute) return compute(step.device);
    const auto d = static_cast<std::size_t>(step.device);
    return thread(step.device, before_sends_ + 1 + sends_[d] + receives_[d]);
  }
  // All lanes of a device, in the order in which to show them.
  [[nodiscard]] std::vector<Lane> lanes(std::int32_t device) const;

 private:
  [[nodiscard]] std::int64_t thread(std::int32_t device, std::int32_t lane) const {
    return first_ + device * stride_ + 1 + lane;
  }

  std::int32_t before_sends_ = 1;  // how many lanes
  std::int64_t stride_ = 100;
  std::int64_t first_ = 0;
  std::vector<std::int32_t> send_;      // by transfer: its lane among the sender's send lanes
  std::vector<std::int32_t> receive_;   // by transfer: its lane among the receiver's receive lanes
  std::vector<std::int32_t> sends_;     // by device: how many send lanes
  std::vector<std::int32_t> receives_;  // by device: how many receive lanes
  std::vector<std::string> copies_;     // by device: the name of its copy lane; empty: it copies nothing
  std::vector<bool> collectives_;       // by device: whether it has that lane
};

}  // namespace debubble
