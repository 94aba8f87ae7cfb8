// Lowering where transfers hold compute lanes: blocking, coupled and late p2p. Transfers become nodes of their own.
//
// Phases: lower with overlapped transfers first, and throw that program away. What it proves is kept: the schedule is
// complete, and free of deadlock on its own, so nothing here looks for a missing or repeated op again. Then emit cells
// and transfers in an order in which both lanes of a transfer have run everything before it. Blocking always finds one:
// a transfer is placed right after its maker, and waits for nothing; late does, for it is placed right before its user
// and waits for cells before that one only.
// Coupled may not, for an exchange waits for its other end; that cycle is the only new deadlock.
#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/lowering.hpp"
#include "sim/rows/exchange_slots.hpp"
#include "sim/rows/posted_receives.hpp"

namespace debubble {

namespace {

constexpr std::int32_t kNotYet = -1;

// What both modes keep: rows with cursors, and the node that makes or carries each tensor.
class HeldLowering {
 public:
  HeldLowering(const Schedule& schedule, P2p p2p, Lowering::Scan scan)
      : schedule_(schedule),
        lowering_(schedule, scan),
        program_(lowering_.start(p2p)),
        maker_(lowering_.tensors(), kNotYet),
        carrier_(lowering_.tensors(), kNotYet),
        cursor_(schedule.rows.size(), 0),
        waits_for_(schedule.rows.size(), kNoTensor) {}

 protected:
  static constexpr std::size_t kNoTensor = static_cast<std::size_t>(-1);

  struct Tensors {  // of one cell or slot: at most one per member that sends or receives
    std::array<Tensor, 2> items;
    std::size_t count = 0;

    void add(const Tensor& tensor) { items[count++] = tensor; }
    [[nodiscard]] const Tensor* begin() const { return items.data(); }
    [[nodiscard]] const Tensor* end() const { return items.data() + count; }
  };

  [[nodiscard]] bool at_end(std::size_t device) const { return cursor_[device] >= schedule_.rows[device].size(); }
  [[nodiscard]] std::size_t cell_size(std::size_t device, std::size_t position) const {
    return schedule_.rows[device][position].paired_with_next ? 2 : 1;
  }

  // Positions in a device's row, of one cell or of one slot.
  struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  [[nodiscard]] Stretch next_cell(std::size_t device) const {
    return {cursor_[device], cursor_[device] + cell_size(device, cursor_[device])};
  }

  // Tensors that it takes from other devices.
  [[nodiscard]] Tensors remote_inputs(std::size_t device, const Stretch& of) const {
    Tensors found;
    Tensor tensor;
    for (std::size_t k = of.begin; k < of.end; ++k) {
      if (!lowering_.input_of(schedule_.rows[device][k], tensor)) continue;
      if (lowering_.maker(tensor) != static_cast<std::int32_t>(device)) found.add(tensor);
    }
    return found;
  }

  // Tensors that it makes for other devices.
  [[nodiscard]] Tensors remote_outputs(std::size_t device, const Stretch& of) const {
    Tensors found;
    Tensor tensor;
    for (std::size_t k = of.begin; k < of.end; ++k) {
      if (!lowering_.output_of(schedule_.rows[device][k], tensor)) continue;
      if (lowering_.user(tensor) != static_cast<std::int32_t>(device)) found.add(tensor);
    }
    return found;
  }

  // Whether all that the device's next cell takes has a node among `nodes` (by tensor); where not, the device waits for
  // the first one that is missing.
  bool is_ready(std::size_t device, const std::vector<std::int32_t>& nodes) {
    for (const Tensor& tensor : remote_inputs(device, next_cell(device))) {
      waits_for_[device] = lowering_.number(tensor);
      if (nodes[waits_for_[device]] == kNotYet) return false;
    }
    waits_for_[device] = kNoTensor;
    return true;
  }

  // Appends the cell at the device's cursor and moves the cursor on.
  void emit_cell(std::size_t device) {
    const std::size_t position = cursor_[device];
    const Op& op = schedule_.rows[device][position];
    const Op* partner = op.paired_with_next ? &schedule_.rows[device][position + 1] : nullptr;
    const auto node = static_cast<std::int32_t>(program_.nodes.size());
    program_.nodes.push_back(
        {-1, partner == nullptr ? lowering_.cell(op) : lowering_.pair_cell(program_, op, *partner)});
    for (const Tensor& tensor : remote_inputs(device, next_cell(device))) {
      // Never kNotYet: blocking asks is_ready first, coupled emits a slot only after its whole exchange.
      const std::int32_t carrier = carrier_[lowering_.number(tensor)];
      program_.reach = std::max(program_.reach, node - carrier);
      auto& target = program_.nodes.back();
      if (target.input < 0) {
        target.input = carrier;
      } else {
        program_.extra_inputs.push_back({node, carrier, -1});
      }
    }
    Tensor made;
    for (std::size_t k = 0; k < cell_size(device, position); ++k) {
      if (lowering_.output_of(schedule_.rows[device][position + k], made)) maker_[lowering_.number(made)] = node;
    }
    cursor_[device] += cell_size(device, position);
  }

  void emit_transfer(const Tensor& tensor) {
    const std::int32_t maker = maker_[lowering_.number(tensor)];
    carrier_[lowering_.number(tensor)] = static_cast<std::int32_t>(program_.nodes.size());
    program_.nodes.push_back({maker, Program::kTransfer + static_cast<std::uint32_t>(lowering_.channel(tensor))});
  }

  // The program of a mode that adds no deadlock.
  Program finished() {
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) {
      if (!at_end(device)) throw std::logic_error("lowering stopped on a schedule free of deadlock");
    }
    return std::move(program_);
  }

  const Schedule& schedule_;
  Lowering lowering_;
  Program program_;
  std::vector<std::int32_t> maker_;     // by tensor: the node that made it
  std::vector<std::int32_t> carrier_;   // by tensor: the transfer node that brought it
  std::vector<std::size_t> cursor_;     // by device
  std::vector<std::size_t> waits_for_;  // by device: tensor; kNoTensor: for none
};

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

// Late: each device runs its row as far as what it takes has been made. The transfers of a cell's inputs come directly
// before it; each waits for its maker and for the cell in front of its receive.
class LateLowering : HeldLowering {
 public:
  LateLowering(const Schedule& schedule, Lowering::Scan scan)
      : HeldLowering(schedule, P2p::kLate, scan),
        ops_(schedule),
        posted_(posted_receives(ops_)),
        node_of_(to_index(ops_.size()), kNotYet) {}

  Program run() {
    std::deque<std::size_t> runnable;
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) runnable.push_back(device);
    for (; !runnable.empty(); runnable.pop_front()) {
      const std::size_t device = runnable.front();
      while (!at_end(device) && is_ready(device, maker_)) {
        const Stretch cell = next_cell(device);
        for (std::size_t k = cell.begin; k < cell.end; ++k) receive(id_of(device, k));
        for (std::size_t k = cell.begin; k < cell.end; ++k) {
          at(node_of_, id_of(device, k)) = static_cast<std::int32_t>(program_.nodes.size());
        }
        emit_cell(device);
        for (const Tensor& tensor : remote_outputs(device, cell)) {
          const auto user = static_cast<std::size_t>(lowering_.user(tensor));
          if (waits_for_[user] == lowering_.number(tensor)) runnable.push_back(user);
        }
      }
    }
    return finished();
  }

 private:
  [[nodiscard]] std::int32_t id_of(std::size_t device, std::size_t position) const {
    return ops_.row_begin(static_cast<std::int32_t>(device)) + static_cast<std::int32_t>(position);
  }

  void receive(std::int32_t id) {
    Tensor tensor;
    if (!lowering_.input_of(ops_.op(id), tensor) || lowering_.maker(tensor) == ops_.device(id)) return;
    const auto node = static_cast<std::int32_t>(program_.nodes.size());
    emit_transfer(tensor);
    program_.reach = std::max(program_.reach, node - maker_[lowering_.number(tensor)]);
    const std::int32_t before = at(posted_, id) - 1;
    if (before < ops_.row_begin(ops_.device(id))) return;  // posted before anything runs
    program_.extra_inputs.push_back({node, at(node_of_, before), -1, Program::ExtraInput::Wait::kEnd});
    program_.reach = std::max(program_.reach, node - at(node_of_, before));
  }

  OpIndex ops_;
  std::vector<std::int32_t> posted_;   // by op: posted_receives
  std::vector<std::int32_t> node_of_;  // by op
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

namespace {

// The schedule is whole and free of deadlock where transfers overlap: then what its cells may differ in.
std::variant<Lowering::Scan, Deadlock> check_overlapped(const Schedule& schedule) {
  auto overlapped = lower(schedule, P2p::kOverlapped);
  if (auto* deadlock = std::get_if<Deadlock>(&overlapped)) return std::move(*deadlock);
  const Program& program = std::get<Program>(overlapped);
  if (!program.copies.empty() || schedule.vocabulary_barriers != 0) {
    const std::string what = program.copies.empty() ? "the exchanges of a split output layer" : "copies";
    throw InputError(Diagnostic{"X012", schedule.name,
                                what + " overlap with compute; in this mode transfers hold the compute lanes",
                                "simulate this schedule with --p2p overlapped"});
  }
  return program.has_features ? Lowering::Scan::kFeatures : Lowering::Scan::kPlain;
}

}  // namespace

std::variant<Program, Deadlock> lower_blocking(const Schedule& schedule) {
  auto checked = check_overlapped(schedule);
  if (auto* deadlock = std::get_if<Deadlock>(&checked)) return std::move(*deadlock);
  return BlockingLowering(schedule, std::get<Lowering::Scan>(checked)).run();
}

std::variant<Program, Deadlock> lower_late(const Schedule& schedule) {
  auto checked = check_overlapped(schedule);
  if (auto* deadlock = std::get_if<Deadlock>(&checked)) return std::move(*deadlock);
  return LateLowering(schedule, std::get<Lowering::Scan>(checked)).run();
}

std::variant<Program, Deadlock> lower_coupled(const Schedule& schedule) {
  auto checked = check_overlapped(schedule);
  if (auto* deadlock = std::get_if<Deadlock>(&checked)) return std::move(*deadlock);
  return CoupledLowering(schedule, std::get<Lowering::Scan>(checked)).run();
}

}  // namespace debubble
