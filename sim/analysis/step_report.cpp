#include "sim/analysis/step_report.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "sim/analysis/path_parts.hpp"
#include "sim/core/at.hpp"
#include "sim/core/piece_share.hpp"

namespace debubble {

namespace {

struct Interval {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// When each device's compute lane works, in order and apart.
std::vector<std::vector<Interval>> busy_times(const Timeline& timeline) {
  std::vector<std::vector<Interval>> busy(static_cast<std::size_t>(timeline.devices));
  const auto add = [&](const auto& thing) { busy[to_index(thing.device)].push_back({thing.begin, thing.end}); };
  for (const Span& span : timeline.spans) add(span);
  for (const StepSpan& step : timeline.steps) {
    if (step.lane == StepTask::Lane::kCompute) add(step);
  }
  for (auto& lane : busy) {
    std::sort(lane.begin(), lane.end(),
              [](Interval a, Interval b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  }
  return busy;
}

// How much of [begin, end) the lane works.
Nanoseconds hidden(const std::vector<Interval>& lane, Nanoseconds begin, Nanoseconds end) {
  auto at = std::partition_point(lane.begin(), lane.end(), [&](Interval one) { return one.end <= begin; });
  Nanoseconds sum = 0;
  for (; at != lane.end() && at->begin < end; ++at) sum += std::min(at->end, end) - std::max(at->begin, begin);
  return sum;
}

// Of one op's time.
Nanoseconds inside_op(const Op& op, const PieceShares& shares, const StageCosts& costs) {
  if (is_vocabulary(op.kind)) return 0;
  const StageCost& cost = costs.stages[to_index(op.stage)];
  const int piece_class = shares.class_of(op.microbatch);
  switch (op.kind) {
    case OpKind::kForward:
      return shares.part(cost.forward_collective, piece_class);
    case OpKind::kBackward:
    case OpKind::kInputGrad:  // the cost is that of I and W together
      return shares.part(cost.backward_collective, piece_class);
    case OpKind::kRecompute:  // the whole forward again, or a part without collectives
      return cost.recompute == cost.forward ? shares.part(cost.forward_collective, piece_class) : 0;
    case OpKind::kWeightGrad:
    case OpKind::kVocabularyLogits:
    case OpKind::kVocabularyGradient:
      return 0;
  }
  return 0;
}

}  // namespace

std::optional<StepReport> report_step(const Timeline& timeline) {
  if (timeline.steps.empty()) return std::nullopt;
  StepReport report;
  for (const Span& span : timeline.spans) report.pipeline_end = std::max(report.pipeline_end, span.end);
  const auto busy = busy_times(timeline);
  const auto devices = static_cast<std::size_t>(timeline.devices);
  std::array<std::vector<StepPart>, kStepKinds> sums;  // by device
  std::array<std::set<std::int32_t>, kStepKinds> tasks;
  for (const StepSpan& step : timeline.steps) {
    const auto kind = static_cast<std::size_t>(step.kind);
    const auto device = static_cast<std::size_t>(step.device);
    tasks[kind].insert(step.task);
    if (sums[kind].empty()) sums[kind].resize(devices);
    StepPart& sum = sums[kind][device];
    const bool computes = step.lane == StepTask::Lane::kCompute;
    sum.time += step.end - step.begin;
    sum.exposed += step.end - step.begin - (computes ? 0 : hidden(busy[device], step.begin, step.end));
    sum.contention += step.contention;
    sum.bytes += step.bytes;
  }
  for (std::size_t kind = 0; kind < kStepKinds; ++kind) {
    if (tasks[kind].empty()) continue;
    StepPart part = *std::max_element(sums[kind].begin(), sums[kind].end(),
                                      [](const StepPart& a, const StepPart& b) { return a.time < b.time; });
    part.kind = static_cast<StepTask::Kind>(kind);
    part.tasks = static_cast<int>(tasks[kind].size());
    report.parts.push_back(part);
  }
  return report;
}

Nanoseconds inside_collectives(const Timeline& timeline, const Schedule& schedule, const StageCosts& costs) {
  const PieceShares shares(schedule);
  Nanoseconds sum = 0;
  for (const Span& span : timeline.spans) {
    const Op* const partner = timeline.partner(span);
    sum += inside_op(span.op, shares, costs) + (partner != nullptr ? inside_op(*partner, shares, costs) : 0);
  }
  return sum;
}

}  // namespace debubble
