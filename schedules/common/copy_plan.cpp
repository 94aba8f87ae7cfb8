#include "schedules/common/copy_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/piece_share.hpp"

namespace debubble {

namespace {

using Piece = std::pair<std::int32_t, std::int32_t>;  // stage, microbatch

std::set<Piece> recomputed_of(const std::vector<Op>& row) {
  std::set<Piece> pieces;
  for (const Op& op : row) {
    if (op.kind == OpKind::kRecompute) pieces.insert({op.stage, op.microbatch});
  }
  return pieces;
}

// Position of the first op of the cell that holds position k.
std::int32_t cell_of(const std::vector<Op>& row, std::size_t k) {
  return static_cast<std::int32_t>(k > 0 && row[k - 1].paired_with_next ? k - 1 : k);
}

// A time of the lane that is taken: [begin, end).
struct Taken {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// The latest start of `length` that ends by `deadline`, given what is taken later: `taken` is in order of falling time.
Nanoseconds latest_start(Nanoseconds length, Nanoseconds deadline, const std::vector<Taken>& taken) {
  return (taken.empty() ? deadline : std::min(deadline, taken.back().begin)) - length;
}

// The first start of `length` from `ready` on that meets nothing of `taken`, which is in order of time from `next` on.
Nanoseconds first_start(Nanoseconds length, Nanoseconds ready, const std::vector<Taken>& taken, std::size_t& next) {
  while (next < taken.size() && taken[next].end <= ready) ++next;
  for (std::size_t k = next; k < taken.size() && taken[k].begin < ready + length; ++k) ready = taken[k].end;
  return ready;
}

}  // namespace

std::vector<Stay> stays_of(const Schedule& schedule, const PlanningCosts& costs, const ListTiming& timing, int device) {
  const auto& row = at(schedule.rows, device);
  const auto& spans = at(timing.rows, device);
  const PieceShares pieces(schedule);
  const std::set<Piece> recomputed = recomputed_of(row);
  std::map<Piece, std::size_t> open;  // forwards whose use has not come yet
  std::vector<Stay> stays;
  for (std::size_t k = 0; k < row.size(); ++k) {
    const Op& op = row[k];
    const Piece piece{op.stage, op.microbatch};
    if (op.kind == OpKind::kForward && !recomputed.contains(piece)) open[piece] = k;
    if (!makes_input_gradient(op.kind)) continue;
    const auto forward = open.find(piece);
    if (forward == open.end()) continue;
    const Nanoseconds copy = at(costs.costs.stages, op.stage).copy;
    stays.push_back({op.stage, op.microbatch, cell_of(row, forward->second), cell_of(row, k),
                     spans[forward->second].end, spans[k].begin, pieces.part(copy, pieces.class_of(op.microbatch))});
    if (stays.back().forward == stays.back().use) stays.pop_back();
    open.erase(forward);
  }
  std::sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) {
    return std::tie(a.forward, a.stage, a.microbatch) < std::tie(b.forward, b.stage, b.microbatch);
  });
  return stays;
}

std::vector<Move> plan_moves(const std::vector<Stay>& stays) {
  std::vector<Move> moves;
  for (const Stay& stay : stays) moves.push_back({stay, 0, 0});
  // Backs from the last to the first, each as late as it can be.
  std::stable_sort(moves.begin(), moves.end(),
                   [](const Move& a, const Move& b) { return a.stay.until > b.stay.until; });
  std::vector<Taken> taken;
  std::vector<Move> kept;
  for (Move& move : moves) {
    move.back = latest_start(move.stay.copy, move.stay.until, taken);
    if (move.back < move.stay.from + move.stay.copy) continue;
    taken.push_back({move.back, move.back + move.stay.copy});
    kept.push_back(move);
  }
  std::reverse(taken.begin(), taken.end());
  // Outs from the first to the last, around the backs.
  std::stable_sort(kept.begin(), kept.end(), [](const Move& a, const Move& b) { return a.stay.from < b.stay.from; });
  moves.clear();
  Nanoseconds lane = 0;
  std::size_t next = 0;
  Move last;  // times never fall, so what found no place before its start leaves none there for a copy as long
  for (Move& move : kept) {
    Nanoseconds ready = std::max(lane, move.stay.from);
    if (move.stay.copy >= last.stay.copy) ready = std::max(ready, last.out);
    move.out = first_start(move.stay.copy, ready, taken, next);
    last = move;
    if (move.out + move.stay.copy > move.back) continue;
    lane = move.out + move.stay.copy;
    moves.push_back(move);
  }
  return moves;
}

namespace {

// Position of the last cell before the use that has begun when the activation is due back.
std::int32_t back_cell(const Move& move, const std::vector<Op>& row, const std::vector<PlannedSpan>& spans) {
  const auto begun = std::upper_bound(spans.begin() + move.stay.forward, spans.begin() + move.stay.use, move.back,
                                      [](Nanoseconds time, const PlannedSpan& span) { return time < span.begin; });
  return cell_of(row, static_cast<std::size_t>(begun - spans.begin() - 1));
}

// Nothing is gained where the copy back may begin as soon as the activation has left.
bool returns_at_once(const Move& move, const std::vector<Op>& row, const std::vector<PlannedSpan>& spans) {
  return back_cell(move, row, spans) == move.stay.forward;
}

}  // namespace

std::vector<Copy> copies_of(const std::vector<Move>& moves, const std::vector<Op>& row,
                            const std::vector<PlannedSpan>& spans) {
  struct Entry {
    Nanoseconds time;
    std::int64_t key;  // of copies at one time, what the row lets happen first: a cell's begin, its end, the next one
    std::int32_t use;
    Copy copy;
  };
  std::vector<Entry> entries;
  for (const Move& move : moves) {
    if (returns_at_once(move, row, spans)) continue;
    const Stay& stay = move.stay;
    const Copy out{Copy::Way::kOut, stay.stage, stay.microbatch, -1, -1};
    entries.push_back({move.out, 2 * std::int64_t{stay.forward} + 1, stay.use, out});
    const Copy back{Copy::Way::kBack, stay.stage, stay.microbatch, -1, back_cell(move, row, spans)};
    entries.push_back({move.back, 2 * std::int64_t{back.after}, stay.use, back});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.time, a.key, a.use) < std::tie(b.time, b.key, b.use);
  });
  std::vector<Copy> copies;
  for (const Entry& entry : entries) copies.push_back(entry.copy);
  return copies;
}

PlannedMemory::PlannedMemory(const Schedule& schedule, const PlanningCosts& costs, const ListTiming& timing, int device)
    : row_(&at(schedule.rows, device)), spans_(&at(timing.rows, device)), costs_(&costs.costs), pieces_(schedule) {
  const auto& spans = *spans_;
  const std::set<Piece> recomputed = recomputed_of(*row_);
  const auto part = [&](Bytes bytes, std::int32_t piece) { return pieces_.part(bytes, pieces_.class_of(piece)); };
  for (std::size_t k = 0; k < row_->size(); ++k) {
    const Op& op = (*row_)[k];
    if (is_vocabulary(op.kind)) continue;
    const StageCost& stage = at(costs_->stages, op.stage);
    const bool again = recomputed.contains({op.stage, op.microbatch});
    const Bytes activation = part(stage.activation, op.microbatch);
    const Bytes checkpoint = again ? part(stage.checkpoint, op.microbatch) : 0;
    const Bytes held = part(stage.weight_grad_held, op.microbatch);
    if (op.kind == OpKind::kForward) events_.emplace_back(spans[k].begin, again ? checkpoint : activation);
    if (op.kind == OpKind::kRecompute) events_.emplace_back(spans[k].begin, activation);
    if (makes_input_gradient(op.kind)) events_.emplace_back(spans[k].end, -activation - checkpoint);
    if (op.kind == OpKind::kInputGrad) events_.emplace_back(spans[k].end, held);
    if (op.kind == OpKind::kWeightGrad) events_.emplace_back(spans[k].end, -held);
  }
  std::sort(events_.begin(), events_.end());
}

Bytes PlannedMemory::peak(const std::vector<Move>& moves) const {
  std::vector<Event> moved;
  for (const Move& move : moves) {
    const std::int32_t back = back_cell(move, *row_, *spans_);
    if (back == move.stay.forward) continue;
    const int piece_class = pieces_.class_of(move.stay.microbatch);
    const Bytes bytes = pieces_.part(at(costs_->stages, move.stay.stage).activation, piece_class);
    const Nanoseconds gone = move.out + move.stay.copy;
    moved.emplace_back(gone, -bytes);
    // The lane may be free earlier than planned: then the copy starts with its cell.
    moved.emplace_back(std::max(gone, at((*spans_), back).begin), bytes);
  }
  std::sort(moved.begin(), moved.end());
  Bytes now = 0;
  Bytes peak = 0;
  auto next = moved.begin();
  for (const Event& event : events_) {
    for (; next != moved.end() && *next <= event; ++next) peak = std::max(peak, now += next->second);
    peak = std::max(peak, now += event.second);
  }
  for (; next != moved.end(); ++next) peak = std::max(peak, now += next->second);
  return peak;
}

}  // namespace debubble
