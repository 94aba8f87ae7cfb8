// Lowering where transfers hold compute lanes: blocking and coupled p2p. Transfers become nodes of their own.
//
// Phases: lower with overlapped transfers first, and throw that program away. What it proves is kept: the schedule is
// complete, and free of deadlock on its own, so nothing here looks for a missing or repeated op again. Then emit cells
// and transfers in an order in which both lanes of a transfer have run everything before it. Blocking always finds one:
// a transfer is placed right after its maker, and waits for nothing. Coupled may not, for an exchange waits for its
// other end; that cycle is the only new deadlock.
#include "sim/engine/held_lowering.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/rows/exchange_slots.hpp"

namespace debubble {

namespace {

// Blocking: sweep over the devices; each runs its next cell when everything it needs has been placed, and places the
// transfers of its outputs in its own lane and in the receiver's at once (PyTorch's lowering places receives so).
class BlockingLowering : HeldLowering {
 public:
  BlockingLowering(const Schedule& schedule, Lowering::Scan scan) : HeldLowering(schedule, P2p::kBlocking, scan) {}

  // One cell per device and sweep, as PyTorch's _add_send_recv does: the order of transfers on a lane is part of the
  // result, so a device that could run on must not. Only devices that may be ready are looked at: after a cell of its
  // own in the next sweep, after the transfer that it waits for in this one where its turn is still to come.
  Program run() {
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) next_.push_back(device);
    while (!next_.empty()) {
      sweep_ = Sweep(std::greater<>(), std::exchange(next_, {}));
      while (!sweep_.empty()) {
        const std::size_t device = sweep_.top();
        sweep_.pop();
        if (at_end(device) || !is_ready(device, carrier_)) continue;
        const Stretch cell = next_cell(device);
        emit_cell(device);
        next_.push_back(device);
        for (const Tensor& tensor : remote_outputs(device, cell)) {
          emit_transfer(tensor);
          wake(tensor, device);
        }
      }
    }
    return finished();
  }

 private:
  using Sweep = std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>>;

  void wake(const Tensor& tensor, std::size_t maker) {
    const auto user = static_cast<std::size_t>(lowering_.user(tensor));
    if (waits_for_[user] != lowering_.number(tensor)) return;
    waits_for_[user] = kNoTensor;
    if (user > maker) {
      sweep_.push(user);
    } else {
      next_.push_back(user);
    }
  }

  Sweep sweep_;                    // devices whose turn is still to come
  std::vector<std::size_t> next_;  // of the next sweep
};

// Coupled: between two slots of a device all sends of the first and all receives of the second are one exchange. A
// transfer can be placed once both its ends are posted; a slot once its whole exchange is placed.
class CoupledLowering : HeldLowering {
 public:
  CoupledLowering(const Schedule& schedule, Lowering::Scan scan)
      : HeldLowering(schedule, P2p::kCoupled, scan),
        slots_(schedule),
        ends_posted_(lowering_.tensors(), 0),
        pending_(schedule.rows.size(), 0),
        sends_(schedule.rows.size()) {}

  // Invariant: every device has posted exactly one exchange, the one before its next slot; pending_ counts the
  // transfers of it whose other end is not posted. At 0 the device runs that slot and posts the next exchange, so each
  // transfer is posted once by its sender and once by its receiver.
  std::variant<Program, Deadlock> run() {
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) post(device, {});
    while (!ready_.empty()) {
      const std::size_t device = ready_.front();
      ready_.pop_front();
      if (at_end(device)) continue;
      const Stretch slot = next_slot(device);
      while (cursor_[device] < slot.end) emit_cell(device);
      post(device, remote_outputs(device, slot));
    }
    // At the end of its row a device may still wait for a receiver that never posts.
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) {
      if (!at_end(device) || pending_[device] > 0) return find_cycle(device);
    }
    return std::move(program_);
  }

 private:
  [[nodiscard]] Stretch next_slot(std::size_t device) const {
    return {cursor_[device], at_end(device) ? cursor_[device] : slots_.end(device, cursor_[device])};
  }

  // Posts the exchange before the device's next slot.
  void post(std::size_t device, const Tensors& sends) {
    const Tensors receives = remote_inputs(device, next_slot(device));
    // Before any end is posted: where the other end was there first, posting this one counts it down.
    pending_[device] = static_cast<int>(sends.count + receives.count);
    sends_[device] = sends;
    if (pending_[device] == 0) ready_.push_back(device);
    for (const Tensor& tensor : sends) post_end(tensor);
    for (const Tensor& tensor : receives) post_end(tensor);
  }

  void post_end(const Tensor& tensor) {
    if (++ends_posted_[lowering_.number(tensor)] < 2) return;
    emit_transfer(tensor);
    for (const std::int32_t end : {lowering_.maker(tensor), lowering_.user(tensor)}) {
      const auto device = static_cast<std::size_t>(end);
      if (--pending_[device] == 0) ready_.push_back(device);
    }
  }

  // Follows, from a stuck device, one unmatched transfer after another to the device at its other end. That one is
  // stuck, too, or it would have posted; so the path must come back to a device on it, and what precedes that is no
  // part of the cycle.
  [[nodiscard]] Deadlock find_cycle(std::size_t device) const {
    std::vector<Deadlock::Wait> path;
    std::vector<std::size_t> seen;
    while (std::find(seen.begin(), seen.end(), device) == seen.end()) {
      seen.push_back(device);
      const auto [tensor, sends] = unmatched(device);
      const auto other = static_cast<std::size_t>(sends ? lowering_.user(tensor) : lowering_.maker(tensor));
      path.push_back({static_cast<std::int32_t>(device), static_cast<std::int32_t>(cursor_[device]), op_at(device),
                      end_op(tensor, !sends)});
      device = other;
    }
    const auto start = std::find(seen.begin(), seen.end(), device) - seen.begin();
    return {{path.begin() + start, path.end()}};
  }

  [[nodiscard]] std::pair<Tensor, bool> unmatched(std::size_t device) const {
    for (const Tensor& tensor : sends_[device]) {
      if (ends_posted_[lowering_.number(tensor)] < 2) return {tensor, true};
    }
    for (const Tensor& tensor : remote_inputs(device, next_slot(device))) {
      if (ends_posted_[lowering_.number(tensor)] < 2) return {tensor, false};
    }
    throw std::logic_error("coupled lowering: a device waits for nothing");
  }

  // The op the device has reached: the next one, or its last when only sends are left.
  [[nodiscard]] Op op_at(std::size_t device) const {
    const auto& row = schedule_.rows[device];
    return at_end(device) ? row.back() : row[cursor_[device]];
  }

  // The op that makes the tensor, or the one that uses it.
  [[nodiscard]] Op end_op(const Tensor& tensor, bool makers_end) const {
    const auto device = static_cast<std::size_t>(makers_end ? lowering_.maker(tensor) : lowering_.user(tensor));
    for (const Op& op : schedule_.rows[device]) {
      Tensor t;
      const bool matches = makers_end ? lowering_.output_of(op, t) : lowering_.input_of(op, t);
      if (matches && lowering_.number(t) == lowering_.number(tensor)) return op;
    }
    throw std::logic_error("coupled lowering: a tensor without its op");
  }

  ExchangeSlots slots_;
  std::vector<unsigned char> ends_posted_;  // by tensor
  std::vector<int> pending_;                // by device: transfers of the posted exchange that are not placed yet
  std::vector<Tensors> sends_;              // by device: of the posted exchange
  std::deque<std::size_t> ready_;           // devices whose exchange is placed
};

}  // namespace

std::variant<Lowering::Scan, Deadlock> check_overlapped(const Schedule& schedule) {
  auto overlapped = lower(schedule, P2p::kOverlapped);
  if (auto* deadlock = std::get_if<Deadlock>(&overlapped)) return std::move(*deadlock);
  const Program& program = std::get<Program>(overlapped);
  if (!program.copies.empty() || schedule.vocabulary_barriers != 0) {
    const std::string what = program.copies.empty() ? "the exchanges of a split output layer" : "copies";
    throw InputError(Diagnostic{"X012", schedule.name, what + " overlap with compute, as transfers of this kind do not",
                                "simulate this schedule with --p2p overlapped"});
  }
  return program.has_features ? Lowering::Scan::kFeatures : Lowering::Scan::kPlain;
}

std::variant<Program, Deadlock> lower_blocking(const Schedule& schedule) {
  auto checked = check_overlapped(schedule);
  if (auto* deadlock = std::get_if<Deadlock>(&checked)) return std::move(*deadlock);
  return BlockingLowering(schedule, std::get<Lowering::Scan>(checked)).run();
}

std::variant<Program, Deadlock> lower_coupled(const Schedule& schedule) {
  auto checked = check_overlapped(schedule);
  if (auto* deadlock = std::get_if<Deadlock>(&checked)) return std::move(*deadlock);
  return CoupledLowering(schedule, std::get<Lowering::Scan>(checked)).run();
}

}  // namespace debubble
