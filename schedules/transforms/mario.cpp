#include "schedules/transforms/mario.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "schedules/common/list_timing.hpp"
#include "schedules/transforms/rows.hpp"
#include "sim/core/at.hpp"
#include "sim/core/piece_share.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble {
namespace {

// What the activations and checkpoints of one device take along its row. The order alone decides it, so a transform can
// ask what a move would cost.
class RowMemory {
 public:
  RowMemory(const std::vector<Op>& row, const StageCosts& costs, const PieceShares& pieces);

  [[nodiscard]] Bytes peak() const;
  // While the op at `at` runs.
  [[nodiscard]] Bytes during(std::size_t at) const { return before_[at] + begin_[at]; }
  // While the forward `op` would run if it came before the op at `at`.
  [[nodiscard]] Bytes during_at(std::size_t at, const Op& op) const { return before_[at] + taken(op); }
  // What an op takes when it begins.
  [[nodiscard]] Bytes shard(const Op& op) const;
  [[nodiscard]] Bytes taken(const Op& op) const;
  // The single forward at `from` moves before the op at `to`, which comes earlier.
  void move(std::size_t from, std::size_t to, const Op& forward);

 private:
  [[nodiscard]] const StageCost& cost(const Op& op) const { return costs_->stages[to_index(op.stage)]; }
  [[nodiscard]] bool is_recomputed(const Op& op) const { return recomputed_.contains({op.stage, op.microbatch}); }
  [[nodiscard]] Bytes part(Bytes value, const Op& op) const {
    return pieces_->part(value, pieces_->class_of(op.microbatch));
  }
  [[nodiscard]] Bytes freed(const Op& op) const;

  const StageCosts* costs_;
  const PieceShares* pieces_;
  std::set<std::pair<std::int32_t, std::int32_t>> recomputed_;
  std::vector<Bytes> before_;  // by position
  std::vector<Bytes> begin_;   // by position: what the op takes when it begins; for a pair both members' with the first
};

RowMemory::RowMemory(const std::vector<Op>& row, const StageCosts& costs, const PieceShares& pieces)
    : costs_(&costs), pieces_(&pieces) {
  for (const Op& op : row) {
    if (op.kind == OpKind::kRecompute) recomputed_.emplace(op.stage, op.microbatch);
  }
  Bytes level = 0;
  for (std::size_t at = 0; at < row.size(); ++at) {
    before_.push_back(level);
    // Both members of a pair begin together.
    begin_.push_back(taken(row[at]) + (row[at].paired_with_next ? taken(row[at + 1]) : 0));
    level += taken(row[at]) - freed(row[at]);
  }
}

Bytes RowMemory::peak() const {
  Bytes most = 0;
  for (std::size_t at = 0; at < before_.size(); ++at) most = std::max(most, during(at));
  return most;
}

// Of S and T: what a shard of the output layer holds between them. They belong to no stage.
Bytes RowMemory::shard(const Op& op) const { return costs_->vocabulary ? part(costs_->vocabulary->held, op) : 0; }

Bytes RowMemory::taken(const Op& op) const {
  if (is_vocabulary(op.kind)) return op.kind == OpKind::kVocabularyLogits ? shard(op) : 0;
  if (op.kind == OpKind::kForward) return part(is_recomputed(op) ? cost(op).checkpoint : cost(op).activation, op);
  return op.kind == OpKind::kRecompute ? part(cost(op).activation, op) : 0;
}

Bytes RowMemory::freed(const Op& op) const {
  if (is_vocabulary(op.kind)) return op.kind == OpKind::kVocabularyGradient ? shard(op) : 0;
  const Bytes held = part(cost(op).weight_grad_held, op);
  if (op.kind == OpKind::kWeightGrad) return held;
  if (!makes_input_gradient(op.kind)) return 0;
  const Bytes whole = part(cost(op).activation, op) + (is_recomputed(op) ? part(cost(op).checkpoint, op) : 0);
  return op.kind == OpKind::kBackward ? whole : whole - held;
}

void RowMemory::move(std::size_t from, std::size_t to, const Op& forward) {
  const Bytes more = taken(forward);
  const Bytes before = before_[to];
  for (std::size_t at = to; at < from; ++at) before_[at] += more;
  const auto rotate = [from, to](std::vector<Bytes>& values) {
    const auto begin = values.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(to), begin + static_cast<std::ptrdiff_t>(from),
                begin + static_cast<std::ptrdiff_t>(from) + 1);
  };
  rotate(before_);
  rotate(begin_);
  before_[to] = before;
}

// The times of rows whose ops change places and nothing else: what an op needs is looked up once, by id.
class RowClock {
 public:
  RowClock(const Schedule& schedule, const OpIndex& ops, const PlanTimes& times) : ops_(ops) {
    for (std::int32_t id = 0; id < ops.size(); ++id) {
      const std::int32_t device = ops.device(id);
      const auto& row = schedule.rows[at(device)];
      const auto position = at(ops.position(id));
      duration_.push_back(ends_pair(row, position) ? 0 : times.cell(row, position));
      need_begin_.push_back(needs_.size());
      const Op& op = ops.op(id);
      for (const std::int32_t input : ops.inputs(op)) {
        const bool remote = ops.device(input) != device && !is_vocabulary(op.kind);
        needs_.push_back({input, remote ? times.hop(ops.op(input).stage, op.stage) : 0});
      }
      if (!ops.gathers(op)) continue;
      for (const std::int32_t shard : ops.gathered(op)) needs_.push_back({shard, times.barrier()});
    }
    need_begin_.push_back(needs_.size());
  }

  // By id, for rows of ids.
  std::vector<PlannedSpan> run(const std::vector<std::vector<std::int32_t>>& rows) {
    spans_.assign(duration_.size(), {0, kNotYet});
    waiters_.assign(duration_.size(), -1);
    std::vector<Cursor> cursors(rows.size());
    std::vector<std::int32_t> runnable;
    for (std::size_t d = 0; d < rows.size(); ++d) runnable.push_back(static_cast<std::int32_t>(d));
    while (!runnable.empty()) {
      const std::int32_t device = runnable.back();
      runnable.pop_back();
      advance(device, rows[at(device)], cursors, runnable);
    }
    return std::move(spans_);
  }

 private:
  static constexpr Nanoseconds kNotYet = -1;

  struct Need {
    std::int32_t input = 0;
    Nanoseconds delay = 0;
  };
  struct Cursor {
    std::size_t next = 0;
    Nanoseconds free = 0;
    std::int32_t next_waiter = -1;  // another device that waits for the same op
  };

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  // Runs the row up to the first cell whose inputs are not all there, and has the missing one wake it.
  void advance(std::int32_t device, const std::vector<std::int32_t>& row, std::vector<Cursor>& cursors,
               std::vector<std::int32_t>& runnable) {
    Cursor& cursor = cursors[at(device)];
    while (cursor.next < row.size()) {
      const std::int32_t begin = row[cursor.next];
      const std::int32_t end = ops_.cell_end(begin);  // a pair keeps together and does not move
      Nanoseconds start = cursor.free;
      if (const std::int32_t missing = latest_input(begin, end, start); missing >= 0) {
        cursor.next_waiter = waiters_[at(missing)];
        waiters_[at(missing)] = device;
        return;
      }
      cursor.free = start + duration_[at(begin)];
      for (std::int32_t id = begin; id < end; ++id, ++cursor.next) {
        spans_[at(id)] = {start, cursor.free};
        for (std::int32_t waiter = waiters_[at(id)]; waiter >= 0; waiter = cursors[at(waiter)].next_waiter) {
          runnable.push_back(waiter);
        }
      }
    }
  }

  // Moves `start` to the last arrival, or returns an input that has not run.
  std::int32_t latest_input(std::int32_t begin, std::int32_t end, Nanoseconds& start) const {
    for (std::size_t k = need_begin_[at(begin)]; k < need_begin_[at(end)]; ++k) {
      const Need& need = needs_[k];
      if (need.input >= begin && need.input < end) continue;
      const Nanoseconds made = spans_[at(need.input)].end;
      if (made == kNotYet) return need.input;
      start = std::max(start, made + need.delay);
    }
    return -1;
  }

  const OpIndex& ops_;
  std::vector<Nanoseconds> duration_;    // by id, of a cell's first op
  std::vector<std::size_t> need_begin_;  // by id, and the end
  std::vector<Need> needs_;
  std::vector<PlannedSpan> spans_;     // by id
  std::vector<std::int32_t> waiters_;  // by id: the first device that waits for it
};

// Rounds over all rows, each by the times at its beginning: what moves ends before the op that it passes began, so
// those times hold for all others.
class Advance {
 public:
  Advance(Schedule& schedule, const PlanningCosts& costs, const std::vector<Bytes>& limits)
      : schedule_(schedule),
        before_(schedule),
        ops_(before_),
        times_(before_, costs),
        clock_(before_, ops_, times_),
        pieces_(before_),
        limits_(limits) {
    for (const auto& row : before_.rows) memory_.emplace_back(row, costs.costs, pieces_);
    for (std::int32_t device = 0; device < ops_.rows(); ++device) {
      ids_.emplace_back();
      for (std::int32_t id = ops_.row_begin(device); id < ops_.row_begin(device + 1); ++id) ids_.back().push_back(id);
    }
  }

  // Whether anything moved.
  bool run() {
    made_ = clock_.run(ids_);
    spans_ = made_;
    bool moved = false;
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) moved |= run_row(device);
    return moved;
  }

 private:
  // Walks along the row with the time at which the device is free. Where the next forward could run and end before the
  // op at hand begins, it fills that gap and delays nothing.
  bool run_row(std::size_t device) {
    std::vector<Op>& row = schedule_.rows[device];
    std::vector<std::int32_t>& ids = ids_[device];
    bool moved = false;
    Nanoseconds now = 0;
    std::size_t forward = 0;
    for (std::size_t at = 0; at < row.size(); now = span(ids[at]).end, ++at) {
      forward = next_forward(row, std::max(forward, at));
      if (forward == row.size()) break;
      if (forward == at || ends_pair(row, at) || row[forward].paired_with_next || ends_pair(row, forward)) continue;
      const PlannedSpan earlier = earliest(device, row[forward], now);
      // One that takes no time could move at the same moment as what it feeds, elsewhere, and each wait for the other.
      if (earlier.end == earlier.begin || earlier.end > span(ids[at]).begin || !fits(device, forward, at)) continue;
      const auto begin = static_cast<std::ptrdiff_t>(at);
      const auto from = static_cast<std::ptrdiff_t>(forward);
      memory_[device].move(forward, at, row[forward]);
      std::rotate(row.begin() + begin, row.begin() + from, row.begin() + from + 1);
      std::rotate(ids.begin() + begin, ids.begin() + from, ids.begin() + from + 1);
      span(ids[at]) = earlier;
      moved = true;
    }
    return moved;
  }

  static std::size_t next_forward(const std::vector<Op>& row, std::size_t at) {
    while (at < row.size() && row[at].kind != OpKind::kForward) ++at;
    return at;
  }

  PlannedSpan& span(std::int32_t id) { return spans_[to_index(id)]; }

  // When the forward would run once its device is free at `now`.
  [[nodiscard]] PlannedSpan earliest(std::size_t device, const Op& op, Nanoseconds now) const {
    Nanoseconds begin = now;
    if (const std::int32_t input = ops_.feeder(op); input >= 0) {
      const auto from = static_cast<std::size_t>(ops_.device(input));
      // The rows of this round have moved on; the times of an op that moved are earlier than these.
      const PlannedSpan& made = made_[to_index(input)];
      begin = std::max(begin, made.end + (from != device ? times_.hop(ops_.op(input).stage, op.stage) : 0));
    }
    return {begin, begin + times_.duration(op)};
  }

  [[nodiscard]] bool fits(std::size_t device, std::size_t from, std::size_t to) const {
    const RowMemory& memory = memory_[device];
    const Op& forward = schedule_.rows[device][from];
    if (memory.during_at(to, forward) > limits_[device]) return false;
    const Bytes taken = memory.taken(forward);
    for (std::size_t at = to; at < from; ++at) {
      if (memory.during(at) + taken > limits_[device]) return false;
    }
    return true;
  }

  Schedule& schedule_;
  Schedule before_;  // what the index is of
  OpIndex ops_;
  PlanTimes times_;
  RowClock clock_;
  PieceShares pieces_;
  std::vector<RowMemory> memory_;               // by device
  std::vector<std::vector<std::int32_t>> ids_;  // by device, in the order of the rows as they are now
  std::vector<PlannedSpan> made_;               // by id, at the beginning of the round
  std::vector<PlannedSpan> spans_;              // by id; follows the moves
  const std::vector<Bytes>& limits_;
};

}  // namespace

void drop_needless_recomputes(Schedule& schedule) {
  for (std::vector<Op>& row : schedule.rows) {
    std::vector<Op> kept;
    for (std::size_t at = 0; at < row.size(); ++at) {
      const bool between = row[at].kind == OpKind::kRecompute && at > 0 && row[at - 1].kind == OpKind::kForward &&
                           row[at - 1].stage == row[at].stage && row[at - 1].microbatch == row[at].microbatch;
      if (!between) kept.push_back(row[at]);
    }
    row = std::move(kept);
  }
}

std::vector<Bytes> row_peaks(const Schedule& schedule, const StageCosts& costs) {
  const PieceShares pieces(schedule);
  std::vector<Bytes> peaks;
  for (const auto& row : schedule.rows) peaks.push_back(RowMemory(row, costs, pieces).peak());
  return peaks;
}

void advance_forwards(Schedule& schedule, const PlanningCosts& costs, const std::vector<Bytes>& limits) {
  // A forward that moved may feed another stage earlier, so rounds repeat until one moves nothing.
  Advance advance(schedule, costs, limits);
  while (advance.run()) {
  }
}

}  // namespace debubble
