// RowReplay: runs the rows of a schedule without times, as far as they go, and says who waits for whom when they stop.
// The order in which cells run is one in which every cell comes after all it needs. Internal to sim/rows,
// sim/engine and schedules.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/rows/deadlock.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble {

class RowReplay {
 public:
  explicit RowReplay(const OpIndex& ops)
      : ops_(ops), rows_(at(ops.rows())), done_(at(ops.size()), false), waiter_(at(ops.size()), -1) {
    for (std::int32_t d = ops.rows() - 1; d >= 0; --d) {
      rows_[at(d)].next = ops.row_begin(d);
      runnable_.push_back(d);
    }
  }

  // `visit(begin, end)` is called for each cell as it runs: the ids of its ops.
  template <typename Visit>
  void run(Visit visit) {
    while (!runnable_.empty()) {
      const std::int32_t device = runnable_.back();
      runnable_.pop_back();
      advance(device, visit);
    }
  }

  // Every row that has not ended waits for an op of a row that has not ended, so following them must come back.
  [[nodiscard]] std::optional<Deadlock> deadlock() const;

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
  template <typename Visit>
  void advance(std::int32_t device, Visit& visit) {
    Row& row = rows_[at(device)];
    while (!ended(device)) {
      const std::int32_t cell_end = ops_.cell_end(row.next);
      if (!can_start(row, cell_end)) {
        row.next_waiter = waiter_[at(row.needed)];
        waiter_[at(row.needed)] = device;
        return;
      }
      visit(row.next, cell_end);
      for (; row.next < cell_end; ++row.next) finish(row.next);
    }
  }

  [[nodiscard]] bool can_start(Row& row, std::int32_t cell_end) const;
  // Whether the input is there; one from the same cell is not waited for.
  [[nodiscard]] bool has(Row& row, std::int32_t cell_end, std::int32_t member, std::int32_t input) const;
  void finish(std::int32_t id);
  [[nodiscard]] Deadlock cycle_through(std::int32_t device) const;

  const OpIndex& ops_;
  std::vector<Row> rows_;               // by device
  std::vector<bool> done_;              // by id
  std::vector<std::int32_t> waiter_;    // by id: the first device that waits for it, or -1
  std::vector<std::int32_t> runnable_;  // devices to try
};

}  // namespace debubble
