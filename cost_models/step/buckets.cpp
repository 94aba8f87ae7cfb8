// Collectives in buckets beside an op of the first stage.
//
//     4 buckets beside a backward    BBBBBBBBBBBB            the first may start when a quarter of it is done,
//                                       [c ][c ][c ][c ]     the last when all is
//     4 buckets beside a forward     [c ]FFFF..FFF           the first is waited for, the others may be
#include <algorithm>
#include <cmath>
#include <utility>

#include "cost_models/step/builder.hpp"

namespace debubble {

std::int64_t buckets_of(const StepRequest& request, Bytes parameters) {
  constexpr std::int64_t kUsual = 40'000'000;
  constexpr std::int64_t kPerRank = 1'000'000;
  const Parallelism& sizes = request.parallel;
  const std::int64_t usual = std::max(kUsual, kPerRank * sizes.data * sizes.context);
  const std::int64_t bucket = request.options.bucket > 0 ? request.options.bucket : usual;
  const std::int64_t numbers = parameters / std::max(1, request.parameter_bytes);
  return std::max<std::int64_t>(1, (numbers + bucket - 1) / bucket);
}

StepTask StepBuilder::bucketed(StepTask::Kind kind, int stage, const RankGroups& groups, CollectiveKind collective_kind,
                               Bytes bytes, const std::string& of) const {
  const bool reduce = kind == StepTask::Kind::kGradientReduce;
  const CollectiveAlgorithm algorithm = reduce ? options_.algorithm : CollectiveAlgorithm::kAuto;
  const Places devices = places(stage);
  const bool wanted = reduce ? options_.overlap_reduce : options_.overlap_gather && gathers_before();
  const Nanoseconds beside = reduce ? request_.last_backward : request_.first_forward;
  const std::int64_t count = wanted && stage == 0 && beside > 0 ? buckets_of(request_, state(stage).parameters) : 1;
  if (count == 1) {
    const CollectivePlan plan = planner_.plan(groups, collective_kind, bytes, algorithm);
    return collective(kind, devices, groups, plan, bytes, of);
  }
  const CollectivePlan plan = planner_.plan(groups, collective_kind, (bytes + count - 1) / count, algorithm);
  StepTask task = collective(kind, devices, groups, plan, bytes, of + ", in " + std::to_string(count) + " buckets");
  const auto one = static_cast<double>(plan.duration);
  const auto n = static_cast<double>(count);
  // Experts' weights are reduced over other ranks: each part has its share of the op.
  const Bytes all = reduce ? state(stage).gradients : state(stage).parameters;
  const double op = static_cast<double>(beside) * static_cast<double>(bytes) / static_cast<double>(all);
  const double outside = std::max(one, n * one + op / n - op);
  // While buckets run, the op does 1 / (1 + s) of its work.
  const double slower = (n * one - outside) * task.slow_down / (1 + task.slow_down);
  const auto longer = static_cast<Nanoseconds>(std::llround(slower));
  const double share = outside / one;
  for (std::vector<Flow>& phases : task.phases) {
    for (Flow& phase : phases) {
      phase.bytes = static_cast<Bytes>(std::llround(static_cast<double>(phase.bytes) * share));
      phase.path.latency = static_cast<Nanoseconds>(std::llround(static_cast<double>(phase.path.latency) * share));
    }
    if (!phases.empty()) phases.front().path.latency += longer;
  }
  task.duration = static_cast<Nanoseconds>(std::llround(outside)) + longer;
  return task;
}

}  // namespace debubble
