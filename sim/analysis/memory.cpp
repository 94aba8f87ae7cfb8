#include "sim/analysis/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "sim/analysis/analyse.hpp"
#include "sim/core/weight_versions.hpp"

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
      shares_(schedule),
      events_(static_cast<std::size_t>(timeline.devices)),
      hosts_(static_cast<std::size_t>(timeline.devices)),
      received_(timeline.spans.size(), 0) {
  find_recomputed();
  add_residents();
  add_arrivals();
  add_copies();
  for (auto* lists : {&events_, &hosts_}) {
    for (auto& list : *lists) {
      std::stable_sort(list.begin(), list.end(), [](const Event& a, const Event& b) {
        return std::pair(a.at, a.change >= 0) < std::pair(b.at, b.change >= 0);
      });
    }
  }
}

void MemoryWalk::find_recomputed() {
  const auto pieces = schedule_.replica_of.size();
  for (const Span& span : timeline_.spans) {
    for_each_op(span, [&](const Op& op) {
      if (op.kind != OpKind::kRecompute) return;
      recomputed_.resize(static_cast<std::size_t>(schedule_.stages) * pieces, false);
      recomputed_[static_cast<std::size_t>(op.stage) * pieces + static_cast<std::size_t>(op.microbatch)] = true;
    });
  }
}

bool MemoryWalk::is_recomputed(const Op& op) const {
  if (recomputed_.empty()) return false;
  const auto pieces = schedule_.replica_of.size();
  return recomputed_[static_cast<std::size_t>(op.stage) * pieces + static_cast<std::size_t>(op.microbatch)];
}

void MemoryWalk::add_residents() {
  const Placement& placement = schedule_.placement;
  const std::vector<std::int32_t> extra = extra_weight_copies(schedule_);
  for (int replica = 0; replica < placement.replicas(); ++replica) {
    for (int stage = 0; stage < placement.stages(); ++stage) {
      if (schedule_.replicas_share_weights && holds_before(placement, replica, stage)) continue;
      const StageCost& cost = costs_.stages[static_cast<std::size_t>(stage)];
      BytesByCategory& bytes = resident_[static_cast<std::size_t>(placement.device_of(replica, stage))];
      of(bytes, MemoryCategory::kWeights) += cost.weights;
      of(bytes, MemoryCategory::kGradients) += cost.gradients;
      of(bytes, MemoryCategory::kOptimizer) += cost.optimizer;
      if (extra.empty()) continue;
      of(bytes, MemoryCategory::kExtraWeights) +=
          extra[static_cast<std::size_t>(replica * placement.stages() + stage)] * cost.weights;
    }
  }
}

void MemoryWalk::add_arrivals() {
  for (const Transfer& transfer : timeline_.transfers) {
    if (transfer.bytes == 0 || transfer.to_span < 0) continue;
    events_[static_cast<std::size_t>(transfer.to_device)].push_back(
        {transfer.end, transfer.bytes, MemoryCategory::kReceived, {Gate::Kind::kSpan, transfer.to_span}});
    received_[static_cast<std::size_t>(transfer.to_span)] += transfer.bytes;
  }
  // Whoever made the timeline, what arrives together counts in one order.
  for (auto& list : events_) {
    std::stable_sort(list.begin(), list.end(),
                     [](const Event& a, const Event& b) { return a.cause.index < b.cause.index; });
  }
}

// Whoever keeps the activation holds it from the begin of its copy out to the end of its copy back.
void MemoryWalk::add_copies() {
  for (std::size_t k = 0; k < timeline_.copies.size(); ++k) {
    const CopySpan& copy = timeline_.copies[k];
    const bool leaves = copy.way == Copy::Way::kOut;
    const auto device = static_cast<std::size_t>(copy.device);
    const Gate cause{Gate::Kind::kCopy, static_cast<std::int32_t>(k)};
    const Bytes change = leaves ? -copy.bytes : copy.bytes;
    events_[device].push_back({leaves ? copy.end : copy.begin, change, MemoryCategory::kActivations, cause});
    auto& keeper = copy.peer < 0 ? hosts_[device] : events_[static_cast<std::size_t>(copy.peer)];
    keeper.push_back({leaves ? copy.begin : copy.end, -change, MemoryCategory::kActivations, cause});
  }
}

Bytes MemoryWalk::peak_host(int device) const {
  Bytes level = 0;
  Bytes peak = 0;
  for (const Event& event : hosts_[static_cast<std::size_t>(device)]) {
    level += event.change;
    peak = std::max(peak, level);
  }
  return peak;
}

void MemoryWalk::begin(const Op& op, BytesByCategory& bytes) const {
  if (op.kind == OpKind::kVocabularyLogits) {
    if (costs_.vocabulary) of(bytes, MemoryCategory::kActivations) += part(costs_.vocabulary->held, op);
    return;
  }
  if (op.kind == OpKind::kVocabularyGradient) return;
  const StageCost& cost = cost_of(op);
  of(bytes, MemoryCategory::kWorkspace) += part(cost.workspace, op);
  if (op.kind == OpKind::kForward) {
    of(bytes, MemoryCategory::kActivations) += part(is_recomputed(op) ? cost.checkpoint : cost.activation, op);
  }
  if (op.kind == OpKind::kRecompute) of(bytes, MemoryCategory::kActivations) += part(cost.activation, op);
}

void MemoryWalk::end(const Op& op, BytesByCategory& bytes) const {
  if (op.kind == OpKind::kVocabularyLogits) return;
  if (op.kind == OpKind::kVocabularyGradient) {
    if (costs_.vocabulary) of(bytes, MemoryCategory::kActivations) -= part(costs_.vocabulary->held, op);
    return;
  }
  const StageCost& cost = cost_of(op);
  of(bytes, MemoryCategory::kWorkspace) -= part(cost.workspace, op);
  if (op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad) {
    of(bytes, MemoryCategory::kActivations) -= part(cost.activation, op);
    if (is_recomputed(op)) of(bytes, MemoryCategory::kActivations) -= part(cost.checkpoint, op);
  }
  const Bytes held = part(cost.weight_grad_held, op);
  if (op.kind == OpKind::kInputGrad) of(bytes, MemoryCategory::kHeldForWeightGrad) += held;
  if (op.kind == OpKind::kWeightGrad) of(bytes, MemoryCategory::kHeldForWeightGrad) -= held;
}

void MemoryWalk::run(int device, const MemoryObserver& observe) const {
  BytesByCategory bytes = resident(device);
  const auto& events = events_[static_cast<std::size_t>(device)];
  std::size_t next = 0;
  const auto run_next = [&] {
    const Event& event = events[next++];
    of(bytes, event.category) += event.change;
    observe(event.at, bytes, event.cause);
  };
  const auto first = static_cast<std::size_t>(timeline_.device_begin[static_cast<std::size_t>(device)]);
  const auto last = static_cast<std::size_t>(timeline_.device_begin[static_cast<std::size_t>(device) + 1]);
  for (std::size_t k = first; k < last; ++k) {
    const Span& span = timeline_.spans[k];
    const Gate cause{Gate::Kind::kSpan, static_cast<std::int32_t>(k)};
    while (next < events.size() && events[next].at <= span.begin) run_next();
    for_each_op(span, [&](const Op& op) { begin(op, bytes); });
    observe(span.begin, bytes, cause);
    while (next < events.size() && events[next].at < span.end) run_next();
    of(bytes, MemoryCategory::kReceived) -= received_[k];
    for_each_op(span, [&](const Op& op) { end(op, bytes); });
    observe(span.end, bytes, cause);
  }
  while (next < events.size()) run_next();
}

std::vector<std::vector<MemoryPoint>> memory_curves(const Timeline& timeline, const Schedule& schedule,
                                                    const StageCosts& costs) {
  const MemoryWalk walk(timeline, schedule, costs);
  std::vector<std::vector<MemoryPoint>> curves(static_cast<std::size_t>(timeline.devices));
  for (int device = 0; device < timeline.devices; ++device) {
    auto& curve = curves[static_cast<std::size_t>(device)];
    curve.push_back({0, walk.resident(device)});
    walk.run(device, [&](Nanoseconds at, const BytesByCategory& bytes, const Gate&) {
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
