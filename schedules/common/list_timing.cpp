#include "schedules/common/list_timing.hpp"

#include <algorithm>
#include <cstdlib>

#include "sim/core/at.hpp"
#include "sim/rows/op_index.hpp"
#include "sim/rows/row_replay.hpp"

namespace debubble {

namespace {

class RowTimer {
 public:
  RowTimer(const Schedule& schedule, const PlanningCosts& costs)
      : schedule_(schedule), times_(schedule, costs), ops_(schedule), free_(schedule.rows.size(), 0) {
    for (const auto& row : schedule.rows) timing_.rows.emplace_back(row.size());
  }

  ListTiming run() {
    RowReplay replay(ops_);
    replay.run([this](std::int32_t begin, std::int32_t end) { place(begin, end); });
    return std::move(timing_);
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  PlannedSpan& span(std::int32_t id) { return timing_.rows[at(ops_.device(id))][at(ops_.position(id))]; }

  void place(std::int32_t begin, std::int32_t end) {
    const std::int32_t device = ops_.device(begin);
    Nanoseconds start = free_[at(device)];
    for (std::int32_t member = begin; member < end; ++member) {
      const Op& op = ops_.op(member);
      for (const std::int32_t input : ops_.inputs(op)) {
        if (input < begin || input >= end) start = std::max(start, arrival(input, op, device));
      }
      if (!ops_.gathers(op)) continue;
      for (const std::int32_t shard : ops_.gathered(op)) start = std::max(start, span(shard).end + times_.barrier());
    }
    const Nanoseconds stop = start + times_.cell(schedule_.rows[at(device)], at(ops_.position(begin)));
    for (std::int32_t member = begin; member < end; ++member) span(member) = {start, stop};
    free_[at(device)] = stop;
    timing_.makespan = std::max(timing_.makespan, stop);
  }

  Nanoseconds arrival(std::int32_t input, const Op& op, std::int32_t device) {
    const bool remote = ops_.device(input) != device && !is_vocabulary(op.kind);
    return span(input).end + (remote ? times_.hop(ops_.op(input).stage, op.stage) : 0);
  }

  const Schedule& schedule_;
  PlanTimes times_;
  OpIndex ops_;
  std::vector<Nanoseconds> free_;
  ListTiming timing_;
};

bool is_forward_op(const Op& op) { return op.kind == OpKind::kForward; }

}  // namespace

PlanningCosts unit_costs(const Schedule& schedule) {
  const int chunks = std::max(schedule.chunks, 1);
  const Nanoseconds unit = piece_of(kNanosecondsPerMillisecond, chunks);
  StageCost stage;
  stage.forward = stage.input_grad = stage.weight_grad = stage.recompute = unit;
  stage.backward = 2 * unit;
  stage.activation = stage.weight_grad_held = piece_of(kMebibyte, chunks);
  PlanningCosts costs;
  costs.costs.stages.assign(static_cast<std::size_t>(schedule.stages), stage);
  costs.costs.vocabulary = VocabularyCost{.logits = kNanosecondsPerMillisecond, .gradient = kNanosecondsPerMillisecond};
  costs.activation_unit = kMebibyte;
  return costs;
}

Nanoseconds PlanTimes::duration(const Op& op) const {
  const int piece_class = pieces_.class_of(op.microbatch);
  if (is_vocabulary(op.kind)) {
    if (!costs_->costs.vocabulary) return 0;
    const VocabularyCost& shard = *costs_->costs.vocabulary;
    return pieces_.part(op.kind == OpKind::kVocabularyLogits ? shard.logits : shard.gradient, piece_class);
  }
  return pieces_.part(duration_of(op.kind, costs_->costs.stages[to_index(op.stage)]), piece_class);
}

Nanoseconds PlanTimes::cell(const std::vector<Op>& row, std::size_t at) const {
  const Op& first = row[at];
  if (!first.paired_with_next) return duration(first);
  const Op& second = row[at + 1];
  const auto& given = costs_->costs.overlapped_pair;
  if (given && is_forward_op(first) != is_forward_op(second)) {
    return pieces_.pair_part(*given, pieces_.class_of(first.microbatch), pieces_.class_of(second.microbatch));
  }
  if (side_by_side_) return std::max(duration(first), duration(second));
  return duration(first) + duration(second);
}

Nanoseconds PlanTimes::hop(int from, int to) const {
  const auto cut = static_cast<std::size_t>(std::min(from, to));
  return std::abs(from - to) == 1 && cut < costs_->hops.size() ? costs_->hops[cut] : 0;
}

ListTiming time_rows(const Schedule& schedule, const PlanningCosts& costs) { return RowTimer(schedule, costs).run(); }

}  // namespace debubble
