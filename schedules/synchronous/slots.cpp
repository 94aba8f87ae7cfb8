#include "schedules/synchronous/slots.hpp"

#include <stdexcept>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

// An op that comes round once per unit, each time with a number higher by what a full unit holds.
struct Slotted {
  std::int64_t place = -1;       // slot within the round; -1: none
  Op op;                         // as in the first round, whose number may lie before the first piece
  std::int32_t first = 0;        // pieces of its replica ...
  std::int32_t behind_last = 0;  // ... up to this one
};

// A device's ops in the order in which they come round.
class Round {
 public:
  explicit Round(std::int64_t slots) : slots_(slots) {}

  // All ops of one stage of a replica.
  void put_stage(const SlotUnits& units, int replica, int stage) {
    const int present = units.count(0, replica);
    for (int k = 0; k < present; ++k) {
      put(units, replica, k, {OpKind::kForward, false, stage, 0}, 2 * std::int64_t{k} + stage);
      put(units, replica, k, {OpKind::kBackward, false, stage, 0}, 2 * std::int64_t{k} + slots_ - 1 - stage);
    }
  }

  std::vector<Slotted> take() {
    constexpr std::int64_t kSparse = 4;
    if (static_cast<std::int64_t>(ops_.size()) * kSparse < slots_) {  // few microbatches, many stages
      std::sort(ops_.begin(), ops_.end(), [](const Slotted& a, const Slotted& b) { return a.place < b.place; });
      for (std::size_t k = 1; k < ops_.size(); ++k) check_apart(ops_[k - 1], ops_[k]);
      return std::move(ops_);
    }
    std::vector<Slotted> by_place(static_cast<std::size_t>(slots_));
    for (const Slotted& op : ops_) {
      Slotted& there = at(by_place, op.place);
      check_apart(there, op);
      there = op;
    }
    const auto none = [](const Slotted& op) { return op.place < 0; };
    by_place.erase(std::remove_if(by_place.begin(), by_place.end(), none), by_place.end());
    return by_place;
  }

 private:
  // A unit's last ops come round when the next unit has begun.
  void put(const SlotUnits& units, int replica, int k, Op op, std::int64_t slot) {
    op.microbatch = units.number(-static_cast<int>(slot / slots_), replica, k);
    ops_.push_back({slot % slots_, op, units.first(replica), units.first(replica + 1)});
  }

  static void check_apart(const Slotted& a, const Slotted& b) {
    if (a.place == b.place) throw std::logic_error("two ops of a device share a slot");
  }

  std::int64_t slots_;
  std::vector<Slotted> ops_;
};

std::vector<Op> unrolled(const std::vector<Slotted>& round, const SlotUnits& units) {
  std::vector<Op> row;
  row.reserve(round.size() * static_cast<std::size_t>(units.size()));
  for (int turn = 0; turn <= units.size(); ++turn) {
    const int more = turn * units.full();
    for (const Slotted& each : round) {
      Op op = each.op;
      op.microbatch += more;
      if (op.microbatch >= each.first && op.microbatch < each.behind_last) row.push_back(op);
    }
  }
  return row;
}

}  // namespace

SlotUnits::SlotUnits(int microbatches, int unit, int pieces, const std::vector<int>& order)
    : size_(microbatches / unit + (microbatches % unit != 0)),
      full_(unit / static_cast<int>(order.size()) * pieces),
      first_(order.size() + 1, 0) {
  const int replicas = static_cast<int>(order.size());
  const int rest = microbatches % unit;
  std::vector<int> totals(order.size(), microbatches / unit * full_ + rest / replicas * pieces);
  for (int k = 0; k < rest % replicas; ++k) at(totals, at(order, k)) += pieces;
  for (std::size_t replica = 0; replica < totals.size(); ++replica) {
    first_[replica + 1] = first_[replica] + totals[replica];
  }
}

std::vector<std::int32_t> SlotUnits::replica_of() const {
  std::vector<std::int32_t> replica_of;
  replica_of.reserve(static_cast<std::size_t>(first_.back()));
  for (int replica = 0; replica < replicas(); ++replica) {
    replica_of.insert(replica_of.end(), static_cast<std::size_t>(first(replica + 1) - first(replica)), replica);
  }
  return replica_of;
}

std::vector<std::vector<Op>> slot_rows(const Schedule& schedule, const SlotUnits& units) {
  const std::int64_t slots = 2 * std::int64_t{schedule.stages};
  std::vector<Round> rounds(static_cast<std::size_t>(schedule.devices), Round(slots));
  for (int replica = 0; replica < units.replicas(); ++replica) {
    for (int stage = 0; stage < schedule.stages; ++stage) {
      const std::int32_t device = schedule.placement.device_of(replica, stage);
      at(rounds, device).put_stage(units, replica, stage);
    }
  }
  std::vector<std::vector<Op>> rows;
  rows.reserve(rounds.size());
  for (Round& round : rounds) rows.push_back(unrolled(round.take(), units));
  return rows;
}

}  // namespace debubble
