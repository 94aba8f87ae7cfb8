#include "sim/analysis/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "sim/analysis/analyse.hpp"

namespace debubble {

namespace {

Bytes& of(BytesByCategory& bytes, MemoryCategory category) { return bytes[static_cast<std::size_t>(category)]; }

// The members of a cell, whose changes happen together.
template <typename Visit>
void for_each_op(const Span& span, Visit visit) {
  visit(span.op);
  if (span.paired) visit(span.partner);
}

}  // namespace

Bytes total(const BytesByCategory& bytes) { return std::accumulate(bytes.begin(), bytes.end(), Bytes{0}); }

MemoryWalk::MemoryWalk(const Timeline& timeline, const Schedule& schedule, const StageCosts& costs)
    : timeline_(timeline),
      schedule_(schedule),
      costs_(costs),
      resident_(static_cast<std::size_t>(timeline.devices)),
      arrivals_(static_cast<std::size_t>(timeline.devices)),
      received_(timeline.spans.size(), 0) {
  const Placement& placement = schedule.placement;
  for (int replica = 0; replica < placement.replicas(); ++replica) {
    for (int stage = 0; stage < placement.stages(); ++stage) {
      const StageCost& cost = costs.stages[static_cast<std::size_t>(stage)];
      BytesByCategory& bytes = resident_[static_cast<std::size_t>(placement.device_of(replica, stage))];
      of(bytes, MemoryCategory::kWeights) += cost.weights;
      of(bytes, MemoryCategory::kGradients) += cost.gradients;
      of(bytes, MemoryCategory::kOptimizer) += cost.optimizer;
    }
  }
  for (std::size_t k = 0; k < timeline.transfers.size(); ++k) {
    const Transfer& transfer = timeline.transfers[k];
    if (transfer.bytes == 0 || transfer.to_span < 0) continue;
    arrivals_[static_cast<std::size_t>(transfer.to_device)].push_back(static_cast<std::int32_t>(k));
    received_[static_cast<std::size_t>(transfer.to_span)] += transfer.bytes;
  }
  // Whoever made the timeline, what arrives together counts in one order.
  const auto order = [&](std::int32_t k) {
    const Transfer& transfer = timeline.transfers[static_cast<std::size_t>(k)];
    return std::pair(transfer.end, transfer.to_span);
  };
  for (auto& list : arrivals_) {
    std::stable_sort(list.begin(), list.end(), [&](std::int32_t x, std::int32_t y) { return order(x) < order(y); });
  }
}

void MemoryWalk::run(int device, const MemoryObserver& observe) const {
  BytesByCategory bytes = resident(device);
  const auto& arrivals = arrivals_[static_cast<std::size_t>(device)];
  std::size_t next = 0;
  const auto arrive = [&](Nanoseconds limit, bool at_limit_too) {
    for (; next < arrivals.size(); ++next) {
      const Transfer& transfer = timeline_.transfers[static_cast<std::size_t>(arrivals[next])];
      if (transfer.end > limit || (transfer.end == limit && !at_limit_too)) break;
      of(bytes, MemoryCategory::kReceived) += transfer.bytes;
      observe(transfer.end, bytes, timeline_.spans[static_cast<std::size_t>(transfer.to_span)]);
    }
  };
  const auto scaled = [&](Bytes value) { return piece_of(value, schedule_.pieces); };
  const auto cost_of = [&](const Op& op) -> const StageCost& {
    return costs_.stages[static_cast<std::size_t>(op.stage)];
  };

  const auto first = static_cast<std::size_t>(timeline_.device_begin[static_cast<std::size_t>(device)]);
  const auto last = static_cast<std::size_t>(timeline_.device_begin[static_cast<std::size_t>(device) + 1]);
  for (std::size_t k = first; k < last; ++k) {
    const Span& span = timeline_.spans[k];
    arrive(span.begin, true);
    for_each_op(span, [&](const Op& op) {
      of(bytes, MemoryCategory::kWorkspace) += scaled(cost_of(op).workspace);
      if (op.kind == OpKind::kForward) of(bytes, MemoryCategory::kActivations) += scaled(cost_of(op).activation);
    });
    observe(span.begin, bytes, span);
    arrive(span.end, false);
    of(bytes, MemoryCategory::kReceived) -= received_[k];
    for_each_op(span, [&](const Op& op) {
      const StageCost& cost = cost_of(op);
      of(bytes, MemoryCategory::kWorkspace) -= scaled(cost.workspace);
      if (op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad) {
        of(bytes, MemoryCategory::kActivations) -= scaled(cost.activation);
      }
      if (op.kind == OpKind::kInputGrad) of(bytes, MemoryCategory::kHeldForWeightGrad) += scaled(cost.weight_grad_held);
      if (op.kind == OpKind::kWeightGrad)
        of(bytes, MemoryCategory::kHeldForWeightGrad) -= scaled(cost.weight_grad_held);
    });
    observe(span.end, bytes, span);
  }
}

std::vector<std::vector<MemoryPoint>> memory_curves(const Timeline& timeline, const Schedule& schedule,
                                                    const StageCosts& costs) {
  const MemoryWalk walk(timeline, schedule, costs);
  std::vector<std::vector<MemoryPoint>> curves(static_cast<std::size_t>(timeline.devices));
  for (int device = 0; device < timeline.devices; ++device) {
    auto& curve = curves[static_cast<std::size_t>(device)];
    curve.push_back({0, walk.resident(device)});
    walk.run(device, [&](Nanoseconds at, const BytesByCategory& bytes, const Span&) {
      if (curve.back().bytes == bytes) return;
      if (curve.back().at == at) {
        curve.back().bytes = bytes;  // only the level that lasts is a step
      } else {
        curve.push_back({at, bytes});
      }
    });
  }
  return curves;
}

}  // namespace debubble
