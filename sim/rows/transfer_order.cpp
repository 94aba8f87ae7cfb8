#include "sim/rows/transfer_order.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>

#include "sim/core/at.hpp"
#include "sim/rows/exchange_slots.hpp"

namespace debubble {

namespace {

// What both modes keep: how far each row has come, and what is placed.
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

// A device posts all sends of its last slot and all receives of its next one together, and goes on once every one of
// them is matched, that is, posted at its other end, too. What is never matched is a deadlock, and stays unplaced.
class Coupled : Placing {
 public:
  explicit Coupled(const OpIndex& ops)
      : Placing(ops),
        slots_(ops.schedule()),
        ends_posted_(to_index(ops.size()), 0),
        pending_(to_index(ops.rows()), 0) {}

  std::vector<Placed> run() {
    for (std::int32_t device = 0; device < ops_.rows(); ++device) post(device, {});
    while (!ready_.empty()) {
      const std::int32_t device = ready_.front();
      ready_.pop_front();
      if (ended(device)) continue;
      std::vector<std::int32_t> sent;
      for (const std::int32_t end = slot_end(device); at(next_, device) < end;) place_cell(device, sent);
      post(device, sent);
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
  void post(std::int32_t device, const std::vector<std::int32_t>& sent) {
    const std::vector<std::int32_t> received = feeders(device, slot_end(device));
    at(pending_, device) = sent.size() + received.size();
    if (at(pending_, device) == 0) ready_.push_back(device);
    for (const std::int32_t id : sent) post_end(id);
    for (const std::int32_t id : received) post_end(id);
  }

  void post_end(std::int32_t id) {
    if (++at(ends_posted_, id) != 2) return;
    placed_.push_back({id, true});
    for (const std::int32_t device : {ops_.device(id), ops_.device(ops_.user(ops_.op(id)))}) {
      if (--at(pending_, device) == 0) ready_.push_back(device);
    }
  }

  ExchangeSlots slots_;
  std::vector<int> ends_posted_;      // by op
  std::vector<std::size_t> pending_;  // by device: transfers of its exchange that are not matched yet
  std::deque<std::int32_t> ready_;    // devices whose exchange is matched
};

}  // namespace

std::vector<Placed> transfer_order(const OpIndex& ops, P2p p2p) {
  switch (p2p) {
    case P2p::kOverlapped:
    case P2p::kLate:
      break;
    case P2p::kBlocking:
      return Blocking(ops).run();
    case P2p::kCoupled:
      return Coupled(ops).run();
  }
  return {};
}

}  // namespace debubble
