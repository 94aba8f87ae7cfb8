#include "schedules/common/list_timing.hpp"

#include <algorithm>
#include <cstdlib>
#include <variant>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble {

namespace {

bool is_forward_op(const Op& op) { return op.kind == OpKind::kForward; }

TransferTimes hops_of(const PlanTimes& times) {
  return [&times](const Program::Channel& channel, Bytes) {
    const bool remote = channel.from_device != channel.to_device;
    return TransferTime{0, remote ? times.hop(channel.stage, channel.stage + 1) : 0};
  };
}

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

ListTiming time_rows(const Schedule& schedule, const PlanningCosts& costs) {
  const Program program = std::get<Program>(lower(schedule));
  const PlanTimes times(schedule, costs);
  const Timeline timeline = simulate(program, schedule, costs.costs, hops_of(times));
  ListTiming timing;
  timing.makespan = timeline.makespan;
  timing.rows.resize(schedule.rows.size());
  for (const Span& span : timeline.spans) {
    std::vector<PlannedSpan>& row = timing.rows[to_index(span.device)];
    row.insert(row.end(), timeline.partner(span) == nullptr ? 1 : 2, {span.begin, span.end});
  }
  return timing;
}

std::optional<OrderRun> planned_run(const Schedule& schedule, const PlanningCosts& costs) {
  try {
    const auto lowered = lower(schedule, costs.p2p);
    const auto* program = std::get_if<Program>(&lowered);
    if (program == nullptr) return std::nullopt;
    const PlanTimes times(schedule, costs);
    const Totals totals = simulate_totals(*program, costs.costs, hops_of(times));
    OrderRun run{totals.makespan, {}};
    for (const DeviceTotals& device : totals.devices) run.last_ends.push_back(device.last_end);
    return run;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace debubble
