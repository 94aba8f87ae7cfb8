// RowMemory: what the activations and checkpoints of one device take along its row. The order alone decides it, so a
// transform can ask what a move would cost.
#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/piece_share.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {

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

}  // namespace debubble
