// find_deadlock: runs the rows without times, as far as they go, and follows who waits for whom when they stop.
#include <algorithm>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/core/op_index.hpp"

namespace debubble {
namespace {

class Replay {
 public:
  explicit Replay(const OpIndex& ops)
      : ops_(ops),
        rows_(static_cast<std::size_t>(ops.rows())),
        done_(static_cast<std::size_t>(ops.size()), false),
        waiter_(static_cast<std::size_t>(ops.size()), -1) {
    for (std::int32_t d = ops.rows() - 1; d >= 0; --d) {
      rows_[at(d)].next = ops.row_begin(d);
      runnable_.push_back(d);
    }
  }

  void run() {
    while (!runnable_.empty()) {
      const std::int32_t device = runnable_.back();
      runnable_.pop_back();
      advance(device);
    }
  }

  // Every row that has not ended waits for an op of a row that has not ended, so following them must come back.
  [[nodiscard]] std::optional<Deadlock> deadlock() const {
    std::int32_t device = 0;
    while (device < ops_.rows() && ended(device)) ++device;
    if (device == ops_.rows()) return std::nullopt;
    std::vector<bool> seen(rows_.size(), false);
    for (; !seen[at(device)]; device = waits_on(device)) seen[at(device)] = true;
    return cycle_through(device);
  }

 private:
  // How far a device has come, and, when it is stuck, which op waits for which (ids).
  struct Row {
    std::int32_t next = 0;
    std::int32_t blocked = -1;
    std::int32_t needed = -1;
    std::int32_t next_waiter = -1;  // another device that waits for the same op
  };

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] bool ended(std::int32_t device) const { return rows_[at(device)].next == ops_.row_begin(device + 1); }
  [[nodiscard]] std::int32_t waits_on(std::int32_t device) const { return ops_.device(rows_[at(device)].needed); }

  // Runs the row up to the first cell whose inputs are not all there, and has the missing one wake it.
  void advance(std::int32_t device) {
    Row& row = rows_[at(device)];
    while (!ended(device)) {
      const std::int32_t cell_end = ops_.cell_end(row.next);
      if (!can_start(row, cell_end)) {
        row.next_waiter = waiter_[at(row.needed)];
        waiter_[at(row.needed)] = device;
        return;
      }
      for (; row.next < cell_end; ++row.next) finish(row.next);
    }
  }

  // Inputs that come from the other member of the cell are not waited for.
  bool can_start(Row& row, std::int32_t cell_end) {
    for (std::int32_t member = row.next; member < cell_end; ++member) {
      for (const std::int32_t input : ops_.inputs(ops_.op(member))) {
        if (done_[at(input)] || (input >= row.next && input < cell_end)) continue;
        row.blocked = member;
        row.needed = input;
        return false;
      }
    }
    return true;
  }

  void finish(std::int32_t id) {
    done_[at(id)] = true;
    for (std::int32_t device = waiter_[at(id)]; device >= 0; device = rows_[at(device)].next_waiter) {
      runnable_.push_back(device);
    }
  }

  [[nodiscard]] Deadlock cycle_through(std::int32_t device) const {
    Deadlock deadlock;
    const std::int32_t begin = device;
    do {
      const Row& row = rows_[at(device)];
      deadlock.cycle.push_back({device, ops_.position(row.blocked), ops_.op(row.blocked), ops_.op(row.needed)});
      device = waits_on(device);
    } while (device != begin);
    const auto lowest = std::min_element(deadlock.cycle.begin(), deadlock.cycle.end(),
                                         [](const auto& a, const auto& b) { return a.device < b.device; });
    std::rotate(deadlock.cycle.begin(), lowest, deadlock.cycle.end());
    return deadlock;
  }

  const OpIndex& ops_;
  std::vector<Row> rows_;               // by device
  std::vector<bool> done_;              // by id
  std::vector<std::int32_t> waiter_;    // by id: the first device that waits for it, or -1
  std::vector<std::int32_t> runnable_;  // devices to try
};

}  // namespace

std::optional<Deadlock> find_deadlock(const Schedule& schedule) {
  const OpIndex ops(schedule);
  Replay replay(ops);
  replay.run();
  return replay.deadlock();
}

}  // namespace debubble
