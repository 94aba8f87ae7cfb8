// What random schedules get beside their plain ops: pieces, recomputations, copies.
#include "tests/support/random_features.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/random_case.hpp"

namespace debubble::testing {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

bool uses_activation(OpKind kind) {
  return kind == OpKind::kRecompute || kind == OpKind::kBackward || kind == OpKind::kInputGrad;
}

// First positions of the row's cells.
std::vector<int> cells_of(const std::vector<Op>& row) {
  std::vector<int> begins;
  for (int k = 0; k < static_cast<int>(row.size()); ++k) {
    begins.push_back(k);
    if (row[at(k)].paired_with_next) ++k;
  }
  return begins;
}

// Puts an R of that backward somewhere in front of it: a cell of its own, or the first half of its backward's.
void add_recompute(std::vector<Op>& row, const Op& backward, Dice& dice) {
  const auto position = [&](OpKind kind) {
    return static_cast<int>(std::find_if(row.begin(), row.end(),
                                         [&](const Op& op) {
                                           return op.kind == kind && op.stage == backward.stage &&
                                                  op.microbatch == backward.microbatch;
                                         }) -
                            row.begin());
  };
  const int forward = position(OpKind::kForward);
  const int user = position(backward.kind);
  Op again{OpKind::kRecompute, false, backward.stage, backward.microbatch};
  const bool alone = !row[at(user)].paired_with_next && (user == 0 || !row[at(user) - 1].paired_with_next);
  if (alone && dice.once_in(2)) {
    again.paired_with_next = true;
    row.insert(row.begin() + user, again);
    return;
  }
  std::vector<int> places;
  for (const int begin : cells_of(row)) {
    const bool in_front = begin <= user;
    if (begin > forward && in_front) places.push_back(begin);
  }
  if (places.empty()) return;
  row.insert(row.begin() + places[at(dice.from(0, static_cast<int>(places.size()) - 1))], again);
}

struct Move {
  int key = 0;  // the cell with which it is put on the lane
  Copy copy;
};

// An activation leaves behind its F and is back in front of its first use.
void add_moves(const std::vector<Op>& row, int device, int devices, std::vector<Move>& moves, Dice& dice) {
  const std::vector<int> begins = cells_of(row);
  const auto cell_of = [&](int position) {
    return static_cast<int>(std::upper_bound(begins.begin(), begins.end(), position) - begins.begin()) - 1;
  };
  for (int k = 0; k < static_cast<int>(row.size()); ++k) {
    const Op& forward = row[at(k)];
    if (forward.kind != OpKind::kForward || dice.once_in(2)) continue;
    const auto user = std::find_if(row.begin() + k, row.end(), [&](const Op& op) {
      return uses_activation(op.kind) && op.stage == forward.stage && op.microbatch == forward.microbatch;
    });
    const int last = cell_of(static_cast<int>(user - row.begin())) - 1;
    Copy copy{Copy::Way::kOut, forward.stage, forward.microbatch, -1, -1};
    if (devices > 1 && dice.once_in(3)) copy.peer = (device + dice.from(1, devices - 1)) % devices;
    const int out = dice.from(cell_of(k), last);
    moves.push_back({out, copy});
    const int back = dice.from(out, last);
    copy.way = Copy::Way::kBack;
    if (!dice.once_in(3)) copy.after = begins[at(dice.from(0, back))];
    moves.push_back({back, copy});
  }
}

}  // namespace

void cut_pieces(Schedule& schedule, const Features& features, Dice& dice) {
  schedule.pieces = dice.from(1, 4);
  schedule.microbatches = dice.from(1, 3);
  schedule.sliced = features.slices;
  schedule.replica_of.clear();
  for (int i = 0; i < schedule.microbatches; ++i) {
    const int replica = dice.from(0, schedule.placement.replicas() - 1);
    schedule.replica_of.insert(schedule.replica_of.end(), at(schedule.pieces), replica);
  }
  if (!features.shares) return;
  for (int q = 0; q < schedule.pieces; ++q) schedule.piece_shares.push_back(dice.from(1, 9));
}

void keep_one_replica(Schedule& schedule) {
  std::vector<std::int32_t> places;
  for (int s = 0; s < schedule.stages; ++s) places.push_back(schedule.placement.device_of(0, s));
  schedule.placement = Placement(1, schedule.stages, places);
  std::fill(schedule.replica_of.begin(), schedule.replica_of.end(), 0);
}

void add_recomputes(Schedule& schedule, Dice& dice) {
  for (auto& row : schedule.rows) {
    const std::vector<Op> plain = row;
    for (const Op& op : plain) {
      const bool gradient = op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad;
      if (gradient && dice.once_in(2)) add_recompute(row, op, dice);
    }
  }
}

void add_copies(Schedule& schedule, Dice& dice) {
  schedule.copies.resize(schedule.rows.size());
  for (int d = 0; d < schedule.devices; ++d) {
    std::vector<Move> moves;
    add_moves(schedule.rows[at(d)], d, schedule.devices, moves, dice);
    std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.key < b.key; });
    for (const Move& move : moves) schedule.copies[at(d)].push_back(move.copy);
  }
}

void shuffle_copies(Schedule& schedule, Dice& dice) {
  for (auto& lane : schedule.copies) {
    for (int n = static_cast<int>(lane.size()) / 2; n > 0; --n) {
      const std::size_t first = at(dice.from(0, static_cast<int>(lane.size()) - 2));
      const bool same =
          lane[first].stage == lane[first + 1].stage && lane[first].microbatch == lane[first + 1].microbatch;
      if (!same) std::swap(lane[first], lane[first + 1]);
    }
  }
}

}  // namespace debubble::testing
