#include "tests/support/reference_costs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>

namespace debubble::reference {
namespace {

const StageCost& cost_of(const Op& op, const StageCosts& costs) {
  return costs.stages.at(static_cast<std::size_t>(op.stage));
}

Nanoseconds whole_duration(const Op& op, const StageCosts& costs) {
  switch (op.kind) {
    case OpKind::kForward:
      return cost_of(op, costs).forward;
    case OpKind::kBackward:
      return cost_of(op, costs).backward;
    case OpKind::kInputGrad:
      return cost_of(op, costs).input_grad;
    case OpKind::kWeightGrad:
      return cost_of(op, costs).weight_grad;
    case OpKind::kRecompute:
      return cost_of(op, costs).recompute;
    case OpKind::kVocabularyLogits:
      return costs.vocabulary.value().logits;
    case OpKind::kVocabularyGradient:
      return costs.vocabulary.value().gradient;
  }
  throw std::logic_error("no such kind of op");
}

Nanoseconds duration_of(const Op& op, const StageCosts& costs, const Schedule& schedule) {
  return part_of(whole_duration(op, costs), op.microbatch, schedule);
}

bool is_some_backward(const Op& op) {
  return op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad || op.kind == OpKind::kWeightGrad;
}

// A given duration of a forward with a backward: of the mean of what the two pieces take.
Nanoseconds given_pair(Nanoseconds pair, const Op& a, const Op& b, const Schedule& schedule) {
  if (schedule.piece_shares.empty()) return piece_of(pair, schedule.pieces);
  const std::int64_t all = std::max<std::int64_t>(
      1, std::accumulate(schedule.piece_shares.begin(), schedule.piece_shares.end(), std::int64_t{0}));
  const std::int64_t both = schedule.piece_shares.at(static_cast<std::size_t>(a.microbatch % schedule.pieces)) +
                            schedule.piece_shares.at(static_cast<std::size_t>(b.microbatch % schedule.pieces));
  return (2 * pair * both + 2 * all) / (4 * all);
}

}  // namespace

// Division by hand, one decimal digit at a time, so that nothing overflows.
Nanoseconds serialisation(Bytes bytes, std::int64_t bandwidth) {
  if (bandwidth == 0) return 0;
  Nanoseconds quotient = bytes / bandwidth;
  Bytes rest = bytes % bandwidth;
  for (int digit = 0; digit < 9; ++digit) {
    rest *= 10;
    quotient = quotient * 10 + rest / bandwidth;
    rest %= bandwidth;
  }
  return quotient + (rest > 0 ? 1 : 0);
}

std::int64_t piece_of(std::int64_t value, int pieces) { return (2 * value + pieces) / (2 * pieces); }

std::int64_t part_of(std::int64_t value, int piece, const Schedule& schedule) {
  if (schedule.piece_shares.empty()) return piece_of(value, schedule.pieces);
  const std::int64_t all = std::max<std::int64_t>(
      1, std::accumulate(schedule.piece_shares.begin(), schedule.piece_shares.end(), std::int64_t{0}));
  const std::int64_t mine = schedule.piece_shares.at(static_cast<std::size_t>(piece % schedule.pieces));
  return (2 * value * mine + all) / (2 * all);
}

bool is_recomputed(int stage, int piece, const Schedule& schedule) {
  for (const auto& row : schedule.rows) {
    for (const Op& op : row) {
      if (op.kind == OpKind::kRecompute && op.stage == stage && op.microbatch == piece) return true;
    }
  }
  return false;
}

Nanoseconds duration_of(const Cell& cell, const StageCosts& costs, const Schedule& schedule) {
  const Op& first = cell.members.front();
  const Nanoseconds alone = duration_of(first, costs, schedule);
  if (cell.members.size() == 1) return alone;
  const Op& second = cell.members.back();
  const bool forward_with_backward = (first.kind == OpKind::kForward && is_some_backward(second)) ||
                                     (second.kind == OpKind::kForward && is_some_backward(first));
  if (forward_with_backward && costs.overlapped_pair) {
    return given_pair(*costs.overlapped_pair, first, second, schedule);
  }
  const Nanoseconds other = duration_of(second, costs, schedule);
  const bool one_after_the_other =
      first.kind == OpKind::kRecompute && second.stage == first.stage && second.microbatch == first.microbatch;
  const bool side_by_side = schedule.pairs_run_side_by_side && !one_after_the_other;
  return side_by_side ? std::max(alone, other) : alone + other;
}

Bytes size_of_output(const Op& op, const StageCosts& costs, const Schedule& schedule) {
  const int stage = op.kind == OpKind::kForward ? op.stage : op.stage - 1;
  return part_of(costs.stages.at(static_cast<std::size_t>(stage)).output, op.microbatch, schedule);
}

// What an F keeps is what moves; a checkpoint moves in as much less time as it is smaller.
CopyRun make_copy(const Copy& copy, const StageCosts& costs, const Schedule& schedule) {
  const StageCost& cost = costs.stages.at(static_cast<std::size_t>(copy.stage));
  const bool checkpoint = is_recomputed(copy.stage, copy.microbatch, schedule);
  const Bytes bytes = checkpoint ? cost.checkpoint : cost.activation;
  Nanoseconds time = cost.copy;
  if (checkpoint && cost.activation > 0) time = (2 * cost.copy * bytes + cost.activation) / (2 * cost.activation);
  CopyRun run;
  run.copy = copy;
  run.bytes = part_of(bytes, copy.microbatch, schedule);
  run.duration = part_of(time, copy.microbatch, schedule);
  return run;
}

}  // namespace debubble::reference
