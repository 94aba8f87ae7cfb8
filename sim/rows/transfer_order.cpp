#include "sim/rows/transfer_order.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/rows/exchange_slots.hpp"
#include "sim/rows/joined_exchanges.hpp"

namespace debubble {

namespace {

// What the modes keep: how far each row has come, and what is placed.
class Placing {
 public:
  explicit Placing(const OpIndex& ops) : ops_(ops) {
    for (std::int32_t device = 0; device < ops.rows(); ++device) next_.push_back(ops.row_begin(device));
  }

 protected:
  [[nodiscard]] bool ended(std::int32_t device) const { return at(next_, device) >= ops_.row_begin(device + 1); }

  // Places the cell and adds its ops whose outputs leave the device.
  void place_cell(std::int32_t device, std::vector<std::int32_t>& sent) {
    const std::int32_t begin = at(next_, device);
    at(next_, device) = ops_.cell_end(begin);
    placed_.push_back({begin, false});
    for (std::int32_t id = begin; id < at(next_, device); ++id) {
      const std::int32_t user = ops_.user(ops_.op(id));
      if (user >= 0 && ops_.device(user) != device) sent.push_back(id);
    }
  }

  // The ops on other devices that what lies from the next cell to `end` takes its inputs from.
  [[nodiscard]] std::vector<std::int32_t> feeders(std::int32_t device, std::int32_t end) const {
    std::vector<std::int32_t> found;
    for (std::int32_t id = at(next_, device); id < end; ++id) {
      const std::int32_t feeder = ops_.feeder(ops_.op(id));
      if (feeder >= 0 && ops_.device(feeder) != device) found.push_back(feeder);
    }
    return found;
  }

  const OpIndex& ops_;
  std::vector<std::int32_t> next_;  // by device: id of its next cell
  std::vector<Placed> placed_;
};

// A transfer holds both lanes, so it must have one place in the order of both devices. It gets the place right after
// its cell: a device sends at once, and a receiver that is further ahead waits there.
class Blocking : Placing {
 public:
  explicit Blocking(const OpIndex& ops) : Placing(ops), is_sent_(to_index(ops.size()), false) {}

  std::vector<Placed> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::int32_t device = 0; device < ops_.rows(); ++device) moved |= advance(device);
    }
    return std::move(placed_);
  }

 private:
  bool advance(std::int32_t device) {
    if (ended(device)) return false;
    const std::vector<std::int32_t> needed = feeders(device, ops_.cell_end(at(next_, device)));
    if (!std::all_of(needed.begin(), needed.end(), [&](std::int32_t id) { return at(is_sent_, id); })) return false;
    std::vector<std::int32_t> sent;
    place_cell(device, sent);
    for (const std::int32_t id : sent) {
      at(is_sent_, id) = true;
      placed_.push_back({id, true});
    }
    return true;
  }

  std::vector<bool> is_sent_;
};

// Invariant: every device has posted exactly one exchange, the one before its next slot; pending_ counts the transfers
// of it whose other end is not posted. At 0 the device runs that slot and posts the next exchange, so each transfer is
// posted once by its sender and once by its receiver. A first gradient that has an exchange of its own is posted when
// the one before is at 0. Nothing else moves a device, so one that waits at the end waits for a device that waits.
class Coupled : Placing {
 public:
  explicit Coupled(const OpIndex& ops)
      : Placing(ops),
        slots_(ops.schedule()),
        received_(coupled_receives(ops, slots_)),
        ends_posted_(to_index(ops.size()), 0),
        exchange_(to_index(ops.rows())),
        pending_(to_index(ops.rows()), 0),
        behind_(to_index(ops.rows()), -1) {}

  std::variant<std::vector<Placed>, Deadlock> run() {
    for (std::int32_t device = 0; device < ops_.rows(); ++device) post_next(device, {});
    while (!ready_.empty()) {
      const std::int32_t device = ready_.front();
      ready_.pop_front();
      if (ended(device)) continue;
      const std::int32_t apart = at(received_.apart, device);
      if (apart >= 0 && at(behind_, device) < 0 && slot_end(device) > apart) {
        at(behind_, device) = at(exchange_, device).front();
        post(device, {ops_.feeder(ops_.op(apart))});
        continue;
      }
      std::vector<std::int32_t> sent;
      for (const std::int32_t end = slot_end(device); at(next_, device) < end;) place_cell(device, sent);
      post_next(device, std::move(sent));
    }
    for (std::int32_t device = 0; device < ops_.rows(); ++device) {
      if (!ended(device) || at(pending_, device) > 0) return cycle_from(device);
    }
    return std::move(placed_);
  }

 private:
  // The id after the device's next slot.
  [[nodiscard]] std::int32_t slot_end(std::int32_t device) const {
    if (ended(device)) return at(next_, device);
    const auto position = to_index(ops_.position(at(next_, device)));
    return ops_.row_begin(device) + static_cast<std::int32_t>(slots_.end(to_index(device), position));
  }

  // The exchange before the device's next slot.
  void post_next(std::int32_t device, std::vector<std::int32_t> exchange) {
    for (const std::int32_t user : received_.users(at(next_, device), slot_end(device))) {
      const std::int32_t feeder = ops_.feeder(ops_.op(user));
      if (feeder >= 0 && ops_.device(feeder) != device && user != at(received_.apart, device))
        exchange.push_back(feeder);
    }
    post(device, std::move(exchange));
  }

  void post(std::int32_t device, std::vector<std::int32_t> exchange) {
    at(exchange_, device) = std::move(exchange);
    at(pending_, device) = at(exchange_, device).size();
    if (at(pending_, device) == 0) ready_.push_back(device);
    for (const std::int32_t id : at(exchange_, device)) post_end(id);
  }

  void post_end(std::int32_t id) {
    if (++at(ends_posted_, id) != 2) return;
    const std::int32_t user = ops_.user(ops_.op(id));
    const bool apart = user == at(received_.apart, ops_.device(user));
    placed_.push_back({id, true, apart ? at(behind_, ops_.device(user)) : -1});
    for (const std::int32_t device : {ops_.device(id), ops_.device(user)}) {
      if (--at(pending_, device) == 0) ready_.push_back(device);
    }
  }

  // From a device that waits, one unmatched transfer after another to the device at its other end.
  [[nodiscard]] Deadlock cycle_from(std::int32_t device) const {
    std::vector<Deadlock::Wait> path;
    std::vector<std::int32_t> seen;
    while (std::find(seen.begin(), seen.end(), device) == seen.end()) {
      seen.push_back(device);
      const auto& exchange = at(exchange_, device);
      const std::int32_t maker =
          *std::find_if(exchange.begin(), exchange.end(), [&](std::int32_t id) { return at(ends_posted_, id) < 2; });
      const std::int32_t user = ops_.user(ops_.op(maker));
      const bool sends = ops_.device(maker) == device;
      const std::int32_t here = ended(device) ? ops_.row_begin(device + 1) - 1 : at(next_, device);
      path.push_back({device, ops_.position(here), ops_.op(here), ops_.op(sends ? user : maker)});
      device = ops_.device(sends ? user : maker);
    }
    const auto start = std::find(seen.begin(), seen.end(), device) - seen.begin();
    return {{path.begin() + start, path.end()}};
  }

  ExchangeSlots slots_;
  CoupledReceives received_;
  std::vector<int> ends_posted_;                     // by op
  std::vector<std::vector<std::int32_t>> exchange_;  // by device: the makers of what the posted one sends and receives
  std::vector<std::size_t> pending_;                 // by device: transfers of its exchange that are not matched yet
  std::vector<std::int32_t> behind_;  // by device: the maker of what it sent before its first gradient was posted
  std::deque<std::int32_t> ready_;    // devices whose exchange is matched
};

// A device goes through its cells and, between two of them, its sends and receives one after another. A transfer is
// placed once it comes next at both its ends, a cell once it comes next. Nothing else moves a device, so where none
// does the rows have ended, or each device that has not waits for the other end of its next transfer.
class Rendezvous : Placing {
 public:
  explicit Rendezvous(const OpIndex& ops)
      : Placing(ops), exchange_(to_index(ops.rows())), next_in_(to_index(ops.rows()), 0) {}

  std::variant<std::vector<Placed>, Deadlock> run() {
    for (std::int32_t device = 0; device < ops_.rows(); ++device) {
      exchange_[to_index(device)] = exchange_before_next(device, {});
      runnable_.push_back(device);
    }
    for (; !runnable_.empty(); runnable_.pop_front()) advance(runnable_.front());
    for (std::int32_t device = 0; device < ops_.rows(); ++device) {
      if (waits(device)) return cycle_from(device);
    }
    return std::move(placed_);
  }

 private:
  [[nodiscard]] bool waits(std::int32_t device) const { return at(next_in_, device) < at(exchange_, device).size(); }
  // Of its next transfer: the op that makes what travels.
  [[nodiscard]] std::int32_t next_transfer(std::int32_t device) const {
    return waits(device) ? at(exchange_, device)[at(next_in_, device)] : -1;
  }
  [[nodiscard]] std::int32_t user_of(std::int32_t maker) const { return ops_.user(ops_.op(maker)); }
  [[nodiscard]] std::int32_t other_end(std::int32_t device, std::int32_t maker) const {
    return ops_.device(maker) == device ? ops_.device(user_of(maker)) : ops_.device(maker);
  }

  void advance(std::int32_t device) {
    for (;;) {
      if (const std::int32_t transfer = next_transfer(device); transfer >= 0) {
        const std::int32_t other = other_end(device, transfer);
        if (next_transfer(other) != transfer) return;
        placed_.push_back({transfer, true});
        ++at(next_in_, device);
        ++at(next_in_, other);
        runnable_.push_back(other);
      } else if (!ended(device)) {
        std::vector<std::int32_t> sent;
        place_cell(device, sent);
        at(exchange_, device) = exchange_before_next(device, sent);
        at(next_in_, device) = 0;
      } else {
        return;
      }
    }
  }

  [[nodiscard]] std::vector<std::int32_t> exchange_before_next(std::int32_t device,
                                                               const std::vector<std::int32_t>& sent) const {
    std::vector<std::int32_t> first;
    std::vector<std::int32_t> last;
    if (!ended(device)) {
      for (const std::int32_t received : feeders(device, ops_.cell_end(at(next_, device)))) {
        const bool before =
            std::any_of(sent.begin(), sent.end(), [&](std::int32_t one) { return comes_before_send(received, one); });
        (before ? first : last).push_back(received);
      }
    }
    first.insert(first.end(), sent.begin(), sent.end());
    first.insert(first.end(), last.begin(), last.end());
    return first;
  }

  // A gradient that the other end makes, hence sends, in a cell before the one that takes the activation.
  [[nodiscard]] bool comes_before_send(std::int32_t received, std::int32_t sent) const {
    const std::int32_t user = user_of(sent);
    return ops_.op(sent).kind == OpKind::kForward && ops_.op(received).kind != OpKind::kForward &&
           ops_.device(user) == ops_.device(received) && received < user &&
           !(ops_.op(received).paired_with_next && user == received + 1);
  }

  // Its next op, or its last one where only messages are left.
  [[nodiscard]] std::int32_t reached(std::int32_t device) const {
    return ended(device) ? ops_.row_begin(device + 1) - 1 : at(next_, device);
  }

  // From a device that waits, one other end after another, each of which waits, too, or it would have moved. Where the
  // other end has run its op and stands in the exchange behind it, it is its next op that it has not come to.
  [[nodiscard]] Deadlock cycle_from(std::int32_t device) const {
    std::vector<Deadlock::Wait> path;
    std::vector<std::int32_t> seen;
    while (std::find(seen.begin(), seen.end(), device) == seen.end()) {
      seen.push_back(device);
      const std::int32_t maker = next_transfer(device);
      const std::int32_t other = other_end(device, maker);
      const std::int32_t awaited = std::max(ops_.device(maker) == device ? user_of(maker) : maker, reached(other));
      path.push_back({device, ops_.position(reached(device)), ops_.op(reached(device)), ops_.op(awaited)});
      device = other;
    }
    const auto start = std::find(seen.begin(), seen.end(), device) - seen.begin();
    return {{path.begin() + start, path.end()}};
  }

  std::vector<std::vector<std::int32_t>>
      exchange_;                      // by device: before its next cell, by the ops that make what travels
  std::vector<std::size_t> next_in_;  // by device: the first of these that is not placed
  std::deque<std::int32_t> runnable_;
};

}  // namespace

std::variant<std::vector<Placed>, Deadlock> coupled_order(const OpIndex& ops) { return Coupled(ops).run(); }

std::variant<std::vector<Placed>, Deadlock> rendezvous_order(const OpIndex& ops) { return Rendezvous(ops).run(); }

std::vector<Placed> transfer_order(const OpIndex& ops, P2p p2p) {
  switch (p2p) {
    case P2p::kOverlapped:
    case P2p::kLate:
    case P2p::kJoined:
      break;
    case P2p::kBlocking:
      return Blocking(ops).run();
    case P2p::kCoupled:
    case P2p::kRendezvous: {
      auto order = p2p == P2p::kCoupled ? coupled_order(ops) : rendezvous_order(ops);
      auto* const placed = std::get_if<std::vector<Placed>>(&order);
      return placed == nullptr ? std::vector<Placed>{} : std::move(*placed);
    }
  }
  return {};
}

}  // namespace debubble
