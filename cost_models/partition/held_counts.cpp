#include "cost_models/partition/held_counts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostCompared = 1000;  // moments; of more of them all are kept

bool is_at_a_stage(const Op& op, const Schedule& schedule) { return op.stage >= 0 && op.stage < schedule.stages; }

using Recomputed = std::set<std::pair<std::int32_t, std::int32_t>>;  // stage and piece

class HoldsWalk {
 public:
  HoldsWalk(const Schedule& schedule, const Recomputed& recomputed) : schedule_(schedule), recomputed_(recomputed) {}

  std::vector<HeldTogether> run(const std::vector<Op>& row) {
    for (std::size_t k = 0; k < row.size();) {
      const std::size_t end = k + (row[k].paired_with_next && k + 1 < row.size() ? 2 : 1);
      for (std::size_t i = k; i < end; ++i) begin(row[i]);
      look();
      for (std::size_t i = k; i < end; ++i) finish(row[i]);
      k = end;
    }
    return {moments_.begin(), moments_.end()};
  }

 private:
  HeldCounts& counts(const Op& op) {
    HeldCounts& held = held_[op.stage];
    held.stage = op.stage;
    return held;
  }
  [[nodiscard]] bool is_recomputed(const Op& op) const {
    return !recomputed_.empty() && recomputed_.contains({op.stage, op.microbatch});
  }

  void begin(const Op& op) {
    if (!is_at_a_stage(op, schedule_)) return;
    HeldCounts& held = counts(op);
    ++held.running;
    if (op.kind == OpKind::kForward) ++(is_recomputed(op) ? held.checkpoints : held.activations);
    if (op.kind == OpKind::kRecompute) ++held.activations;
  }

  void finish(const Op& op) {
    if (!is_at_a_stage(op, schedule_)) return;
    HeldCounts& held = counts(op);
    --held.running;
    if (op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad) {
      --held.activations;
      if (is_recomputed(op)) --held.checkpoints;
    }
    if (op.kind == OpKind::kInputGrad) ++held.weight_grads;
    if (op.kind == OpKind::kWeightGrad) --held.weight_grads;
  }

  void look() {
    now_.clear();
    for (const auto& [stage, held] : held_) {
      if (held != HeldCounts{stage}) now_.push_back(held);
    }
    if (now_ == last_) return;
    last_ = now_;
    moments_.insert(now_);
  }

  const Schedule& schedule_;
  const Recomputed& recomputed_;
  std::map<std::int32_t, HeldCounts> held_;
  HeldTogether now_, last_;
  std::set<HeldTogether> moments_;
};

bool no_more(const HeldTogether& less, const HeldTogether& more) {
  return std::all_of(less.begin(), less.end(), [&](const HeldCounts& a) {
    const auto b = std::find_if(more.begin(), more.end(), [&](const HeldCounts& one) { return one.stage == a.stage; });
    return b != more.end() && a.activations <= b->activations && a.weight_grads <= b->weight_grads &&
           a.checkpoints <= b->checkpoints && a.running <= b->running;
  });
}

std::vector<HeldTogether> largest_moments(std::vector<HeldTogether> moments) {
  if (moments.size() > kMostCompared) return moments;
  std::vector<HeldTogether> kept;
  for (HeldTogether& one : moments) {
    const auto covers = [&](const HeldTogether& other) { return no_more(one, other); };
    if (std::any_of(kept.begin(), kept.end(), covers)) continue;
    std::erase_if(kept, [&](const HeldTogether& other) { return no_more(other, one); });
    kept.push_back(std::move(one));
  }
  return kept;
}

}  // namespace

std::vector<DeviceHolds> holds_of(const Schedule& schedule) {
  const bool leave = std::any_of(schedule.copies.begin(), schedule.copies.end(),
                                 [](const std::vector<Copy>& lane) { return !lane.empty(); });
  if (leave) return {};
  Recomputed recomputed;
  for (const std::vector<Op>& row : schedule.rows) {
    for (const Op& op : row) {
      if (op.kind == OpKind::kRecompute) recomputed.emplace(op.stage, op.microbatch);
    }
  }
  std::vector<DeviceHolds> devices(static_cast<std::size_t>(schedule.devices));
  for (int d = 0; d < schedule.devices; ++d) {
    at(devices, d).moments = largest_moments(HoldsWalk(schedule, recomputed).run(at(schedule.rows, d)));
  }
  for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
    for (int stage = 0; stage < schedule.stages; ++stage) {
      const bool shared = schedule.replicas_share_weights && holds_before(schedule.placement, replica, stage);
      at(devices, schedule.placement.device_of(replica, stage)).stages.push_back({stage, !shared});
    }
  }
  return devices;
}

}  // namespace debubble
