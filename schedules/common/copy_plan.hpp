// When a device's copy lane can take activations away and bring them back in time, by a timetable of its row.
//
//     row      F0      F1      B1      B0          0's activation stays from the end of F0 to the start of B0; it
//     leaves lane        out0            back0            as soon as it can and returns as late as it can
//
// A copy back starts with a cell before its backward's own, and the lane keeps the order of the timetable, so no plan
// can deadlock, whatever the real times are.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "schedules/common/contract.hpp"
#include "schedules/common/list_timing.hpp"
#include "sim/core/piece_share.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

// One activation between its forward and the cell that uses it again (B, I), on one device.
struct Stay {
  std::int32_t stage = 0;
  std::int32_t microbatch = 0;
  std::int32_t forward = 0;  // position in the row of the first op of the cell that makes it
  std::int32_t use = 0;      // and of the cell that uses it
  Nanoseconds from = 0;      // end of the forward
  Nanoseconds until = 0;     // start of the use
  Nanoseconds copy = 0;      // one way
};

// Every activation of a device's row that is made and used in different cells, in the order of the forwards. Recomputed
// ones are left out: their memory is free meanwhile anyhow.
[[nodiscard]] std::vector<Stay> stays_of(const Schedule& schedule, const PlanningCosts& costs, const ListTiming& timing,
                                         int device);

// A stay on the copy lane: it leaves at `out` and comes back at `back`, each for `stay.copy`.
struct Move {
  Stay stay;
  Nanoseconds out = 0;
  Nanoseconds back = 0;
};

// Those of the stays that the lane can move and return in time: each out as soon as it can, each back as late as it
// can. The rest stay where they are.
[[nodiscard]] std::vector<Move> plan_moves(const std::vector<Stay>& stays);

// The moves as the schedule's copies of that device, in the lane's order.
[[nodiscard]] std::vector<Copy> copies_of(const std::vector<Move>& moves, const std::vector<Op>& row,
                                          const std::vector<PlannedSpan>& spans);

// The bytes of activations that a device holds in the timetable, without what has been moved away. Asked for many plans
// of one row, so what the row itself takes and frees is put in order once.
class PlannedMemory {
 public:
  PlannedMemory(const Schedule& schedule, const PlanningCosts& costs, const ListTiming& timing, int device);

  // The most at once.
  [[nodiscard]] Bytes peak(const std::vector<Move>& moves) const;

 private:
  using Event = std::pair<Nanoseconds, Bytes>;

  const std::vector<Op>* row_;
  const std::vector<PlannedSpan>* spans_;
  const StageCosts* costs_;
  PieceShares pieces_;
  std::vector<Event> events_;  // of the row; at one time what is freed comes first
};

}  // namespace debubble
