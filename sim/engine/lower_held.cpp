// Lowering where transfers hold compute lanes, one by one: blocking p2p. Transfers become nodes of their own.
//
// Phases: lower with overlapped transfers first, and throw that program away. What it proves is kept: the schedule is
// complete, and free of deadlock on its own, so nothing here looks for a missing or repeated op again. Then emit cells
// and transfers in an order in which both lanes of a transfer have run everything before it. There always is one: a
// transfer is placed right after its maker, and waits for nothing.
#include "sim/engine/held_lowering.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/core/error.hpp"

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

}  // namespace debubble
