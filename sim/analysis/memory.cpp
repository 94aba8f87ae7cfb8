#include "sim/analysis/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "sim/analysis/analyse.hpp"
#include "sim/core/at.hpp"
#include "sim/rows/weight_versions.hpp"

namespace debubble {

namespace {

Bytes& bytes_in(BytesByCategory& bytes, MemoryCategory category) { return bytes[to_index(category)]; }

// The members of a cell, whose changes happen together.
template <typename Visit>
void for_each_op(const Op& op, const Op* partner, Visit visit) {
  visit(op);
  if (partner != nullptr) visit(*partner);
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
    for_each_op(span.op, timeline_.partner(span), [&](const Op& op) {
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
      const StageCost& cost = costs_.stages[to_index(stage)];
      BytesByCategory& bytes = resident_[to_index(placement.device_of(replica, stage))];
      bytes_in(bytes, MemoryCategory::kWeights) += cost.weights;
      bytes_in(bytes, MemoryCategory::kGradients) += cost.gradients;
      bytes_in(bytes, MemoryCategory::kOptimizer) += cost.optimizer;
      Bytes& buffers = bytes_in(bytes, MemoryCategory::kCommBuffers);
      buffers = std::max(buffers, cost.comm_buffers);  // a device's stages share them
      if (extra.empty()) continue;
      bytes_in(bytes, MemoryCategory::kExtraWeights) +=
          extra[to_index(replica * placement.stages() + stage)] * cost.weights;
    }
  }
}

void MemoryWalk::add_arrivals() {
  for (const Transfer& transfer : timeline_.transfers) {
    if (transfer.bytes == 0 || transfer.to_span < 0) continue;
    events_[to_index(transfer.to_device)].push_back({transfer.end,
                                                     transfer.bytes,
                                                     MemoryCategory::kReceived,
                                                     {Gate::Kind::kSpan, transfer.to_span},
                                                     {HeldThing::What::kReceived, -1, transfer.to_span}});
    received_[to_index(transfer.to_span)] += transfer.bytes;
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
    const HeldThing moved{is_recomputed(copy.op) ? HeldThing::What::kCheckpoint : HeldThing::What::kActivation,
                          copy.op.stage, copy.op.microbatch};
    const HeldThing kept{HeldThing::What::kKept, copy.op.stage, copy.op.microbatch};
    events_[device].push_back({leaves ? copy.end : copy.begin, change, MemoryCategory::kActivations, cause, moved});
    auto& keeper = copy.peer < 0 ? hosts_[device] : events_[to_index(copy.peer)];
    keeper.push_back({leaves ? copy.begin : copy.end, -change, MemoryCategory::kActivations, cause, kept});
  }
}

Bytes MemoryWalk::peak_host(int device) const {
  Bytes level = 0;
  Bytes peak = 0;
  for (const Event& event : hosts_[to_index(device)]) {
    level += event.change;
    peak = std::max(peak, level);
  }
  return peak;
}

template <typename Visit>
void MemoryWalk::begin(const Op& op, const Visit& visit) const {
  using What = HeldThing::What;
  const auto activations = [&](What what, Bytes bytes) {
    visit(Change{MemoryCategory::kActivations, {what, op.stage, op.microbatch}, part(bytes, op)});
  };
  if (op.kind == OpKind::kVocabularyLogits) {
    if (costs_.vocabulary) activations(What::kVocabulary, costs_.vocabulary->held);
    return;
  }
  if (op.kind == OpKind::kVocabularyGradient) return;
  const StageCost& cost = cost_of(op);
  if (op.kind == OpKind::kForward) {
    if (is_recomputed(op)) {
      activations(What::kCheckpoint, cost.checkpoint);
    } else {
      activations(What::kActivation, cost.activation);
    }
  }
  if (op.kind == OpKind::kRecompute) activations(What::kActivation, cost.activation);
  visit(Change{MemoryCategory::kWorkspace, {What::kWorkspace, op.stage, op.microbatch}, part(cost.workspace, op)});
}

template <typename Visit>
void MemoryWalk::end(const Op& op, const Visit& visit) const {
  using What = HeldThing::What;
  const auto change = [&](MemoryCategory category, What what, Bytes bytes) {
    visit(Change{category, {what, op.stage, op.microbatch}, bytes});
  };
  if (op.kind == OpKind::kVocabularyLogits) return;
  if (op.kind == OpKind::kVocabularyGradient) {
    if (costs_.vocabulary) change(MemoryCategory::kActivations, What::kVocabulary, -part(costs_.vocabulary->held, op));
    return;
  }
  const StageCost& cost = cost_of(op);
  change(MemoryCategory::kWorkspace, What::kWorkspace, -part(cost.workspace, op));
  if (makes_input_gradient(op.kind)) {
    change(MemoryCategory::kActivations, What::kActivation, -part(cost.activation, op));
    if (is_recomputed(op)) change(MemoryCategory::kActivations, What::kCheckpoint, -part(cost.checkpoint, op));
  }
  const Bytes held = part(cost.weight_grad_held, op);
  if (op.kind == OpKind::kInputGrad) change(MemoryCategory::kHeldForWeightGrad, What::kWeightGradInputs, held);
  if (op.kind == OpKind::kWeightGrad) change(MemoryCategory::kHeldForWeightGrad, What::kWeightGradInputs, -held);
}

// A pair gives back what both leave before either takes more.
template <typename Visit>
void MemoryWalk::end_members(const Op& op, const Op* partner, const Visit& visit) const {
  for (const bool takes : {false, true}) {
    for_each_op(op, partner, [&](const Op& member) {
      end(member, [&](const Change& change) {
        if ((change.bytes > 0) == takes) visit(change);
      });
    });
  }
}

template <typename Changed, typename Settled>
void MemoryWalk::walk(int device, const Changed& changed, const Settled& settled) const {
  const auto& events = events_[to_index(device)];
  std::size_t next = 0;
  const auto run_next = [&] {
    const Event& event = events[next++];
    changed(event.at, event.cause, Change{event.category, event.thing, event.change});
    settled(event.at, event.cause);
  };
  const auto first = static_cast<std::size_t>(timeline_.device_begin[to_index(device)]);
  const auto last = static_cast<std::size_t>(timeline_.device_begin[static_cast<std::size_t>(device) + 1]);
  for (std::size_t k = first; k < last; ++k) {
    const Span& span = timeline_.spans[k];
    const Gate cause{Gate::Kind::kSpan, static_cast<std::int32_t>(k)};
    while (next < events.size() && events[next].at <= span.begin) run_next();
    for_each_op(span.op, timeline_.partner(span),
                [&](const Op& op) { begin(op, [&](const Change& change) { changed(span.begin, cause, change); }); });
    settled(span.begin, cause);
    while (next < events.size() && events[next].at < span.end) run_next();
    changed(span.end, cause,
            Change{MemoryCategory::kReceived, {HeldThing::What::kReceived, -1, cause.index}, -received_[k]});
    end_members(span.op, timeline_.partner(span), [&](const Change& change) { changed(span.end, cause, change); });
    settled(span.end, cause);
  }
  while (next < events.size()) run_next();
}

void MemoryWalk::run(int device, const MemoryObserver& observe) const {
  BytesByCategory bytes = resident(device);
  walk(
      device, [&](Nanoseconds, const Gate&, const Change& change) { bytes_in(bytes, change.category) += change.bytes; },
      [&](Nanoseconds at, const Gate& cause) { observe(at, bytes, cause); });
}

void MemoryWalk::run_changes(int device, const ChangeObserver& observe) const {
  walk(
      device,
      [&](Nanoseconds at, const Gate& cause, const Change& change) {
        if (change.bytes != 0) observe(at, change.thing, change.bytes, cause);
      },
      [](Nanoseconds, const Gate&) {});
}

std::vector<std::vector<MemoryPoint>> memory_curves(const Timeline& timeline, const Schedule& schedule,
                                                    const StageCosts& costs) {
  const MemoryWalk walk(timeline, schedule, costs);
  std::vector<std::vector<MemoryPoint>> curves(static_cast<std::size_t>(timeline.devices));
  for (int device = 0; device < timeline.devices; ++device) {
    auto& curve = curves[to_index(device)];
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
