// Lowering where the place of each transfer is found on the rows alone (sim/rows): late and joined, where receives are
// posted and which exchanges are waited for as a whole, and coupled and rendezvous, the order in which devices meet.
// Here these places become nodes and what they wait for. Late adds no deadlock, for a transfer waits for its maker and
// for cells before its user; of coupled and rendezvous the order says whether there is one, of joined the rows that do
// not end.
#include <algorithm>
#include <deque>
#include <utility>

#include "sim/engine/held_lowering.hpp"
#include "sim/rows/posted_receives.hpp"
#include "sim/rows/transfer_order.hpp"

namespace debubble {

namespace {

// Late and joined: each device runs its row as far as all that its next cell waits for is there or can be placed. A
// transfer is placed when it is first waited for, after its maker and the cell in front of its receive.
class PostedLowering : HeldLowering {
 public:
  // `ops` must outlive it.
  PostedLowering(const Schedule& schedule, P2p p2p, Lowering::Scan scan, const OpIndex& ops, Posting posting)
      : HeldLowering(schedule, p2p, scan),
        ops_(ops),
        posting_(std::move(posting)),
        node_of_(to_index(ops_.size()), kNotYet),
        waiter_(to_index(ops_.size()), kNotYet),
        needed_(schedule.rows.size(), kNotYet),
        next_waiter_(schedule.rows.size(), kNotYet) {}

  std::variant<Program, Deadlock> run() {
    std::deque<std::size_t> runnable;
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) runnable.push_back(device);
    for (; !runnable.empty(); runnable.pop_front()) {
      const std::size_t device = runnable.front();
      while (!at_end(device) && can_run(device)) {
        const Stretch cell = next_cell(device);
        for (std::size_t k = cell.begin; k < cell.end; ++k) {
          at(node_of_, id_of(device, k)) = static_cast<std::int32_t>(program_.nodes.size());
        }
        emit_cell(device);
        await_exchange(id_of(device, cell.begin));
        for (std::size_t k = cell.begin; k < cell.end; ++k) {
          for (std::int32_t next = at(waiter_, id_of(device, k)); next != kNotYet; next = at(next_waiter_, next)) {
            runnable.push_back(to_index(next));
          }
        }
      }
    }
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) {
      if (!at_end(device)) return cycle_from(static_cast<std::int32_t>(device));
    }
    return std::move(program_);
  }

 private:
  [[nodiscard]] std::int32_t id_of(std::size_t device, std::size_t position) const {
    return ops_.row_begin(static_cast<std::int32_t>(device)) + static_cast<std::int32_t>(position);
  }

  // Places the transfers that the next cell waits for; false when one cannot be placed yet.
  bool can_run(std::size_t device) {
    const Stretch cell = next_cell(device);
    for (std::size_t k = cell.begin; k < cell.end; ++k) {
      const std::int32_t id = id_of(device, k);
      const std::int32_t feeder = ops_.feeder(ops_.op(id));
      if (feeder >= 0 && ops_.device(feeder) != ops_.device(id) && !place(feeder, device)) return false;
    }
    const std::int32_t first = id_of(device, cell.begin);
    if (posting_.awaited.empty()) return true;
    const auto& awaited = at(posting_.awaited, first);
    return std::all_of(awaited.begin(), awaited.end(), [&](std::int32_t maker) { return place(maker, device); });
  }

  // The transfer of what that op makes. False where it has to wait for an op, which `needed_` then names.
  bool place(std::int32_t maker, std::size_t device) {
    Tensor tensor;
    if (!lowering_.output_of(ops_.op(maker), tensor)) throw std::logic_error("a transfer of nothing");
    if (carrier_[lowering_.number(tensor)] != kNotYet) return true;
    const std::int32_t user = ops_.user(ops_.op(maker));
    const std::int32_t in_front = at(posting_.posted, user) - 1;
    const bool posted_first = in_front < ops_.row_begin(ops_.device(user));  // before anything runs there
    for (const std::int32_t needed : {maker, posted_first ? maker : in_front}) {
      if (at(node_of_, needed) != kNotYet) continue;
      needed_[device] = needed;
      next_waiter_[device] = at(waiter_, needed);
      at(waiter_, needed) = static_cast<std::int32_t>(device);
      return false;
    }
    const auto node = static_cast<std::int32_t>(program_.nodes.size());
    emit_transfer(tensor);
    reach_back(node, at(node_of_, maker));
    if (posted_first) return true;
    program_.extra_inputs.push_back({node, at(node_of_, in_front), -1, Program::ExtraInput::Wait::kEnd});
    reach_back(node, at(node_of_, in_front));
    return true;
  }

  // What the cell just emitted waits for beside its own inputs.
  void await_exchange(std::int32_t first) {
    if (posting_.awaited.empty()) return;
    const std::int32_t node = at(node_of_, first);
    for (const std::int32_t maker : at(posting_.awaited, first)) {
      Tensor tensor;
      (void)lowering_.output_of(ops_.op(maker), tensor);
      const std::int32_t carrier = carrier_[lowering_.number(tensor)];
      if (at(program_.nodes, node).input == carrier) continue;
      program_.extra_inputs.push_back({node, carrier, -1, Program::ExtraInput::Wait::kEnd});
      reach_back(node, carrier);
    }
  }

  void reach_back(std::int32_t node, std::int32_t input) { program_.reach = std::max(program_.reach, node - input); }

  // Each device that has not ended waits for an op of another one, which has not ended either.
  [[nodiscard]] Deadlock cycle_from(std::int32_t device) const {
    std::vector<Deadlock::Wait> path;
    std::vector<std::int32_t> seen;
    while (std::find(seen.begin(), seen.end(), device) == seen.end()) {
      seen.push_back(device);
      const auto position = static_cast<std::int32_t>(cursor_[to_index(device)]);
      const std::int32_t needed = at(needed_, device);
      path.push_back({device, position, ops_.op(ops_.row_begin(device) + position), ops_.op(needed)});
      device = ops_.device(needed);
    }
    const auto start = std::find(seen.begin(), seen.end(), device) - seen.begin();
    return {{path.begin() + start, path.end()}};
  }

  const OpIndex& ops_;
  Posting posting_;
  std::vector<std::int32_t> node_of_;      // by op
  std::vector<std::int32_t> waiter_;       // by op: the first device that waits for it; kNotYet: none
  std::vector<std::int32_t> needed_;       // by device: the op that it waits, or last waited, for
  std::vector<std::int32_t> next_waiter_;  // by device: another one that waits for the same op
};

// Coupled and rendezvous: the order of cells and transfers is that of the rows' own clock.
class OrderedLowering : HeldLowering {
 public:
  OrderedLowering(const Schedule& schedule, P2p p2p, Lowering::Scan scan) : HeldLowering(schedule, p2p, scan) {}

  Program run(const OpIndex& ops, const std::vector<Placed>& order) {
    for (const Placed& placed : order) {
      Tensor made;
      if (!placed.transfer) {
        emit_cell(to_index(ops.device(placed.op)));
      } else if (lowering_.output_of(ops.op(placed.op), made)) {
        program_.reach =
            std::max(program_.reach, static_cast<std::int32_t>(program_.nodes.size()) - maker_[lowering_.number(made)]);
        emit_transfer(made);
        if (placed.behind >= 0) wait_for_transfer(ops.op(placed.behind));
      }
    }
    return finished();
  }

 private:
  // The node just emitted, for the transfer of what that op makes.
  void wait_for_transfer(const Op& maker) {
    Tensor tensor;
    (void)lowering_.output_of(maker, tensor);
    const auto node = static_cast<std::int32_t>(program_.nodes.size()) - 1;
    const std::int32_t carrier = carrier_[lowering_.number(tensor)];
    program_.extra_inputs.push_back({node, carrier, -1, Program::ExtraInput::Wait::kEnd});
    program_.reach = std::max(program_.reach, node - carrier);
  }
};

}  // namespace

std::variant<Program, Deadlock> lower_posted(const Schedule& schedule, P2p p2p) {
  auto checked = check_overlapped(schedule);
  if (auto* deadlock = std::get_if<Deadlock>(&checked)) return std::move(*deadlock);
  const OpIndex ops(schedule);
  return PostedLowering(schedule, p2p, std::get<Lowering::Scan>(checked), ops, posting_of(ops, p2p)).run();
}

std::variant<Program, Deadlock> lower_ordered(const Schedule& schedule, P2p p2p) {
  auto checked = check_overlapped(schedule);
  if (auto* deadlock = std::get_if<Deadlock>(&checked)) return std::move(*deadlock);
  const OpIndex ops(schedule);
  auto order = p2p == P2p::kCoupled ? coupled_order(ops) : rendezvous_order(ops);
  if (auto* deadlock = std::get_if<Deadlock>(&order)) return std::move(*deadlock);
  return OrderedLowering(schedule, p2p, std::get<Lowering::Scan>(checked))
      .run(ops, std::get<std::vector<Placed>>(order));
}

}  // namespace debubble
