#include "schedules/transforms/mario.hpp"

#include <algorithm>

#include "schedules/list_timing.hpp"
#include "schedules/transforms/row_memory.hpp"
#include "schedules/transforms/rows.hpp"
#include "sim/core/op_index.hpp"

namespace debubble {

namespace {

// One round over all rows, by the times at its beginning: what moves ends before the op that it passes began, so those
// times hold for all others.
class Round {
 public:
  Round(Schedule& schedule, const PlanningCosts& costs, std::vector<RowMemory>& memory,
        const std::vector<Bytes>& limits)
      : schedule_(schedule),
        before_(schedule),
        ops_(before_),
        times_(before_, costs),
        timing_(time_rows(before_, costs)),
        memory_(memory),
        limits_(limits) {}

  // Whether anything moved.
  bool run() {
    bool moved = false;
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) moved |= run_row(device);
    return moved;
  }

 private:
  bool run_row(std::size_t device) {
    std::vector<Op>& row = schedule_.rows[device];
    std::vector<PlannedSpan>& spans = timing_.rows[device];
    bool moved = false;
    Nanoseconds now = 0;
    std::size_t forward = 0;
    for (std::size_t at = 0; at < row.size(); now = spans[at].end, ++at) {
      forward = next_forward(row, std::max(forward, at));
      if (forward == row.size()) break;
      if (forward == at || ends_pair(row, at) || row[forward].paired_with_next || ends_pair(row, forward)) continue;
      const PlannedSpan span = earliest(device, row[forward], now);
      // One that takes no time could move at the same moment as what it feeds, elsewhere, and each wait for the other.
      if (span.end == span.begin || span.end > spans[at].begin || !fits(device, forward, at)) continue;
      const auto begin = static_cast<std::ptrdiff_t>(at);
      const auto from = static_cast<std::ptrdiff_t>(forward);
      memory_[device].move(forward, at, row[forward]);
      std::rotate(row.begin() + begin, row.begin() + from, row.begin() + from + 1);
      std::rotate(spans.begin() + begin, spans.begin() + from, spans.begin() + from + 1);
      spans[at] = span;
      moved = true;
    }
    return moved;
  }

  static std::size_t next_forward(const std::vector<Op>& row, std::size_t at) {
    while (at < row.size() && row[at].kind != OpKind::kForward) ++at;
    return at;
  }

  // When the forward would run once its device is free at `now`.
  [[nodiscard]] PlannedSpan earliest(std::size_t device, const Op& op, Nanoseconds now) const {
    Nanoseconds begin = now;
    if (const std::int32_t input = ops_.feeder(op); input >= 0) {
      const auto from = static_cast<std::size_t>(ops_.device(input));
      // The rows of this round have moved on; the times of an op that moved are earlier than these.
      const PlannedSpan& made = original_span(input);
      begin = std::max(begin, made.end + (from != device ? times_.hop(ops_.op(input).stage, op.stage) : 0));
    }
    return {begin, begin + times_.duration(op)};
  }

  [[nodiscard]] const PlannedSpan& original_span(std::int32_t id) const {
    return original_.rows[static_cast<std::size_t>(ops_.device(id))][static_cast<std::size_t>(ops_.position(id))];
  }

  [[nodiscard]] bool fits(std::size_t device, std::size_t from, std::size_t to) const {
    const RowMemory& memory = memory_[device];
    const Op& forward = schedule_.rows[device][from];
    if (memory.during_at(to, forward) > limits_[device]) return false;
    for (std::size_t at = to; at < from; ++at) {
      if (memory.during(at) + memory.taken(forward) > limits_[device]) return false;
    }
    return true;
  }

  Schedule& schedule_;
  Schedule before_;  // what the index and the times are of
  OpIndex ops_;
  PlanTimes times_;
  ListTiming timing_;              // follows the moves
  ListTiming original_ = timing_;  // stays
  std::vector<RowMemory>& memory_;
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
  const PieceShares pieces(schedule);
  std::vector<RowMemory> memory;
  for (const auto& row : schedule.rows) memory.emplace_back(row, costs.costs, pieces);
  while (Round(schedule, costs, memory, limits).run()) {
  }
}

}  // namespace debubble
