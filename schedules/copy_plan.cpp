#include "schedules/copy_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "sim/core/piece_share.hpp"

namespace debubble {

namespace {

using Piece = std::pair<std::int32_t, std::int32_t>;  // stage, microbatch

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

bool uses_activation(OpKind kind) { return kind == OpKind::kBackward || kind == OpKind::kInputGrad; }

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
  const auto& row = schedule.rows[at(device)];
  const auto& spans = timing.rows[at(device)];
  const PieceShares pieces(schedule);
  const std::set<Piece> recomputed = recomputed_of(row);
  std::map<Piece, std::size_t> open;  // forwards whose use has not come yet
  std::vector<Stay> stays;
  for (std::size_t k = 0; k < row.size(); ++k) {
    const Op& op = row[k];
    const Piece piece{op.stage, op.microbatch};
    if (op.kind == OpKind::kForward && !recomputed.contains(piece)) open[piece] = k;
    if (!uses_activation(op.kind)) continue;
    const auto forward = open.find(piece);
    if (forward == open.end()) continue;
    const Nanoseconds copy = costs.costs.stages[at(op.stage)].copy;
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

std::vector<Move> plan_moves(std::vector<Stay> stays) {
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
  for (Move& move : kept) {
    move.out = first_start(move.stay.copy, std::max(lane, move.stay.from), taken, next);
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

// Nothing is gained where the way back may begin as soon as the activation has left.
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

Bytes planned_peak(const Schedule& schedule, const PlanningCosts& costs, const ListTiming& timing, int device,
                   const std::vector<Move>& moves) {
  const auto& row = schedule.rows[at(device)];
  const auto& spans = timing.rows[at(device)];
  const PieceShares pieces(schedule);
  const std::set<Piece> recomputed = recomputed_of(row);
  std::vector<std::pair<Nanoseconds, Bytes>> events;
  const auto part = [&](Bytes bytes, std::int32_t piece) { return pieces.part(bytes, pieces.class_of(piece)); };
  for (std::size_t k = 0; k < row.size(); ++k) {
    const Op& op = row[k];
    if (is_vocabulary(op.kind)) continue;
    const StageCost& stage = costs.costs.stages[at(op.stage)];
    const bool again = recomputed.contains({op.stage, op.microbatch});
    const Bytes activation = part(stage.activation, op.microbatch);
    const Bytes checkpoint = again ? part(stage.checkpoint, op.microbatch) : 0;
    const Bytes held = part(stage.weight_grad_held, op.microbatch);
    if (op.kind == OpKind::kForward) events.emplace_back(spans[k].begin, again ? checkpoint : activation);
    if (op.kind == OpKind::kRecompute) events.emplace_back(spans[k].begin, activation);
    if (uses_activation(op.kind)) events.emplace_back(spans[k].end, -activation - checkpoint);
    if (op.kind == OpKind::kInputGrad) events.emplace_back(spans[k].end, held);
    if (op.kind == OpKind::kWeightGrad) events.emplace_back(spans[k].end, -held);
  }
  for (const Move& move : moves) {
    if (returns_at_once(move, row, spans)) continue;
    const Bytes bytes = part(costs.costs.stages[at(move.stay.stage)].activation, move.stay.microbatch);
    events.emplace_back(move.out + move.stay.copy, -bytes);
    // The lane may be free earlier than planned: then the copy starts with its cell.
    events.emplace_back(std::max(move.out + move.stay.copy, spans[at(back_cell(move, row, spans))].begin), bytes);
  }
  std::sort(events.begin(), events.end());  // at one time what is freed comes first
  Bytes now = 0;
  Bytes peak = 0;
  for (const auto& event : events) peak = std::max(peak, now += event.second);
  return peak;
}

}  // namespace debubble
