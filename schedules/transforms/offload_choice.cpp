#include "schedules/transforms/offload_choice.hpp"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <set>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/piece_share.hpp"

namespace debubble {

namespace {

std::vector<Bytes> held_by_cells(const Schedule& schedule, const PlanningCosts& costs, const std::vector<Op>& row) {
  const PieceShares pieces(schedule);
  std::set<std::pair<std::int32_t, std::int32_t>> recomputed;
  for (const Op& op : row) {
    if (op.kind == OpKind::kRecompute) recomputed.insert({op.stage, op.microbatch});
  }
  std::vector<Bytes> held;
  Bytes now = 0;
  Bytes freed = 0;  // when the cell ends
  for (const Op& op : row) {
    if (!is_vocabulary(op.kind)) {
      const StageCost& stage = at(costs.costs.stages, op.stage);
      const auto part = [&](Bytes bytes) { return pieces.part(bytes, pieces.class_of(op.microbatch)); };
      const bool again = recomputed.contains({op.stage, op.microbatch});
      const Bytes checkpoint = again ? part(stage.checkpoint) : 0;
      if (op.kind == OpKind::kForward) now += again ? checkpoint : part(stage.activation);
      if (op.kind == OpKind::kRecompute) now += part(stage.activation);
      if (op.kind == OpKind::kBackward) freed += part(stage.activation) + checkpoint;
      if (op.kind == OpKind::kInputGrad) freed += part(stage.activation) + checkpoint - part(stage.weight_grad_held);
      if (op.kind == OpKind::kWeightGrad) freed += part(stage.weight_grad_held);
    }
    held.push_back(now);
    if (!op.paired_with_next) now -= std::exchange(freed, 0);
  }
  return held;
}

}  // namespace

OffloadChoice::OffloadChoice(const Schedule& schedule, const PlanningCosts& costs, const ListTiming& timing, int device,
                             const std::vector<Stay>& stays) {
  const auto& row = at(schedule.rows, device);
  const auto& spans = at(timing.rows, device);
  const PieceShares pieces(schedule);
  held_ = held_by_cells(schedule, costs, row);
  for (const Stay& stay : stays) {
    const auto first = spans.begin() + stay.forward + 1;
    const auto use = spans.begin() + stay.use;
    const auto gone = std::lower_bound(first, use, stay.from + stay.copy,
                                       [](const PlannedSpan& span, Nanoseconds time) { return span.begin < time; });
    const auto late = std::upper_bound(first, use, stay.until - stay.copy,
                                       [](Nanoseconds time, const PlannedSpan& span) { return time < span.begin; });
    const auto begin = static_cast<std::size_t>(gone - spans.begin());
    auto end = static_cast<std::size_t>(late - spans.begin()) - 1;  // the copy back starts with this cell
    if (end > 0 && row[end - 1].paired_with_next) --end;
    if (begin >= end) continue;
    const Bytes bytes = at(costs.costs.stages, stay.stage).activation;
    candidates_.push_back({stay, begin, end, pieces.part(bytes, pieces.class_of(stay.microbatch))});
  }
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.begin < b.begin; });
}

Bytes OffloadChoice::peak() const { return held_.empty() ? 0 : *std::max_element(held_.begin(), held_.end()); }

std::vector<Stay> OffloadChoice::above(Bytes level) const {
  std::vector<Stay> leaving;
  std::priority_queue<std::pair<std::size_t, std::size_t>> present;  // end of being away, candidate
  std::vector<Bytes> returning(held_.size() + 1, 0);
  Bytes away = 0;
  std::size_t next = 0;
  for (std::size_t k = 0; k < held_.size(); ++k) {
    away -= returning[k];
    for (; next < candidates_.size() && candidates_[next].begin == k; ++next) {
      present.emplace(candidates_[next].end, next);
    }
    while (held_[k] - away > level && !present.empty() && present.top().first > k) {
      const Candidate& chosen = candidates_[present.top().second];
      present.pop();
      leaving.push_back(chosen.stay);
      away += chosen.bytes;
      returning[chosen.end] += chosen.bytes;
    }
  }
  return leaving;
}

}  // namespace debubble
