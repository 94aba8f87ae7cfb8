#include "studies/plan/order_summary.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/core/at.hpp"

namespace debubble {
namespace {

bool of_a_stage(const Op& op, const Schedule& schedule) { return op.stage >= 0 && op.stage < schedule.stages; }

std::vector<CellCount> count_cells(const Schedule& schedule, const std::vector<Op>& row) {
  std::map<std::tuple<OpKind, std::int32_t, bool, OpKind, std::int32_t>, std::int64_t> counts;
  for (std::size_t k = 0; k < row.size(); ++k) {
    const bool paired = row[k].paired_with_next && k + 1 < row.size();
    const Op& partner = paired ? row[k + 1] : row[k];
    if (of_a_stage(row[k], schedule) && of_a_stage(partner, schedule)) {
      ++counts[{row[k].kind, row[k].stage, paired, partner.kind, partner.stage}];
    }
    if (paired) ++k;
  }
  std::vector<CellCount> cells;
  for (const auto& [cell, count] : counts) {
    const auto& [kind, stage, paired, partner_kind, partner_stage] = cell;
    cells.push_back({kind, stage, paired, partner_kind, partner_stage, count});
  }
  return cells;
}

// Walks a row and keeps the moments at which most is held.
class HeldWalk {
 public:
  explicit HeldWalk(std::int32_t first_held) : first_held_(first_held) {}

  std::vector<HeldMoment> run(const Schedule& schedule, const std::vector<Op>& row) {
    for (const Op& op : row) {
      if (!of_a_stage(op, schedule) || op.stage < first_held_) continue;
      HeldMoment::Stage& held = held_[op.stage];
      if (op.kind == OpKind::kForward) add(held, 1, 0);
      if (!op.paired_with_next) look(op.stage);
      if (op.kind == OpKind::kBackward) add(held, -1, 0);
      if (op.kind == OpKind::kInputGrad) add(held, -1, 1);
      if (op.kind == OpKind::kWeightGrad) add(held, 0, -1);
    }
    std::vector<HeldMoment> moments{most_activations_};
    if (most_of_both_.running >= 0) moments.push_back(most_of_both_);
    return moments;
  }

 private:
  void add(HeldMoment::Stage& held, std::int64_t activations, std::int64_t weight_grads) {
    held.activations += activations;
    held.weight_grads += weight_grads;
    activations_ += activations;
    weight_grads_ += weight_grads;
  }

  void look(std::int32_t running) {
    if (activations_ > best_activations_) {
      best_activations_ = activations_;
      most_activations_ = moment(running);
    }
    if (weight_grads_ > 0 && activations_ + weight_grads_ > best_of_both_) {
      best_of_both_ = activations_ + weight_grads_;
      most_of_both_ = moment(running);
    }
  }

  [[nodiscard]] HeldMoment moment(std::int32_t running) const {
    HeldMoment moment;
    for (const auto& [stage, held] : held_) {
      moment.stages.push_back({stage, held.activations, held.weight_grads});
    }
    moment.running = running;
    return moment;
  }

  std::int32_t first_held_;
  std::map<std::int32_t, HeldMoment::Stage> held_;
  std::int64_t activations_ = 0, weight_grads_ = 0;
  std::int64_t best_activations_ = 0, best_of_both_ = 0;
  HeldMoment most_activations_, most_of_both_;
};

bool tells_moments(const Schedule& schedule, bool any_copies) {
  if ((!schedule.copies.empty() && !any_copies) || !schedule.piece_shares.empty()) return false;
  return std::none_of(schedule.rows.begin(), schedule.rows.end(), [](const std::vector<Op>& row) {
    return std::any_of(row.begin(), row.end(), [](const Op& op) { return op.kind == OpKind::kRecompute; });
  });
}

}  // namespace

OrderSummary summarise(const Schedule& schedule, bool may_split, std::int32_t first_held) {
  OrderSummary summary;
  summary.microbatches = schedule.microbatches;
  summary.pieces = schedule.pieces;
  summary.replicas = schedule.placement.replicas();
  summary.even_pieces = schedule.piece_shares.empty();
  summary.split_backward = may_split || has_weight_grads(schedule);
  summary.side_by_side = schedule.pairs_run_side_by_side;
  summary.by_device.resize(static_cast<std::size_t>(schedule.devices));
  const bool moments = tells_moments(schedule, first_held > 0);
  for (int d = 0; d < schedule.devices; ++d) {
    DeviceSummary& device = at(summary.by_device, d);
    const std::vector<Op>& row = at(schedule.rows, d);
    device.cells = count_cells(schedule, row);
    if (moments) device.moments = HeldWalk(first_held).run(schedule, row);
    for (const CellCount& cell : device.cells) summary.has_pairs = summary.has_pairs || cell.paired;
  }
  for (int replica = 0; replica < summary.replicas; ++replica) {
    for (int stage = 0; stage < schedule.stages; ++stage) {
      const bool shared = schedule.replicas_share_weights && holds_before(schedule.placement, replica, stage);
      at(summary.by_device, schedule.placement.device_of(replica, stage)).stages.push_back({stage, !shared, replica});
    }
  }
  return summary;
}

}  // namespace debubble
