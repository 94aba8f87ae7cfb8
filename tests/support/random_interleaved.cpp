#include "tests/support/random_interleaved.hpp"

#include <algorithm>
#include <string>

#include "schedules/catalog.hpp"
#include "tests/support/toy.hpp"

namespace debubble::testing {
namespace {

using Row = std::vector<Op>;

std::ptrdiff_t position_from(Dice& dice, std::size_t low, std::size_t high) {
  return static_cast<std::ptrdiff_t>(low) + dice.from(0, static_cast<int>(high - low));
}

// B becomes I, and W stands anywhere behind it.
void split_some(Row& row, int odds, Dice& dice) {
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k].kind != OpKind::kBackward || !dice.once_in(odds)) continue;
    row[k].kind = OpKind::kInputGrad;
    const Op weights{OpKind::kWeightGrad, false, row[k].stage, row[k].microbatch};
    const std::size_t latest = std::min(row.size(), k + 4);
    row.insert(row.begin() + position_from(dice, k + 1, latest), weights);
  }
}

// R right before its B or I, as a cell of its own or as one with it.
void recompute_some(Row& row, Dice& dice) {
  for (std::size_t k = 0; k < row.size(); ++k) {
    const bool gradient = row[k].kind == OpKind::kBackward || row[k].kind == OpKind::kInputGrad;
    if (!gradient || !dice.once_in(3)) continue;
    row.insert(row.begin() + static_cast<std::ptrdiff_t>(k),
               Op{OpKind::kRecompute, dice.once_in(2), row[k].stage, row[k].microbatch});
    ++k;
  }
}

// An F and the B behind it run side by side.
void pair_some(Row& row, Dice& dice) {
  for (std::size_t k = 0; k + 1 < row.size(); ++k) {
    const bool may = row[k].kind == OpKind::kForward && row[k + 1].kind == OpKind::kBackward &&
                     row[k].microbatch != row[k + 1].microbatch;
    if (may && dice.once_in(4)) row[k++].paired_with_next = true;
  }
}

}  // namespace

Schedule random_interleaved(Dice& dice, bool plain) {
  const int p = dice.from(2, 5);
  const int v = dice.from(2, 3);
  const int rounds = dice.from(1, 2);
  Params params;
  std::string name = "interleaved";
  if (dice.once_in(6)) {
    name = "interleaved-zb";
  } else if (dice.once_in(6)) {
    params["group"] = std::to_string(rounds * p);
  }
  Schedule schedule = build(name, p, rounds * p, v, params);
  const int split_odds = dice.from(1, 4);
  const bool splits = dice.once_in(2);
  const bool pairs = dice.once_in(6);
  for (Row& row : schedule.rows) {
    if (pairs) pair_some(row, dice);
    if (splits && !pairs) split_some(row, split_odds, dice);
    if (!plain && !pairs) recompute_some(row, dice);
  }
  if (plain && dice.once_in(3)) shuffle_rows(schedule, dice);
  return schedule;
}

Schedule random_groups(Dice& dice) {
  ScheduleRequest request{dice.from(2, 5), 0, dice.from(2, 3), {}, nullptr};
  const int group = request.devices + dice.from(0, request.devices);
  request.microbatches = group * dice.from(1, 3);
  request.params["group"] = std::to_string(group);
  return build_schedule("interleaved", request);
}

}  // namespace debubble::testing
