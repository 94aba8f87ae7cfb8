#include "cost_models/transformer/layer_cost.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "cost_models/transformer/host_pace.hpp"

namespace debubble {
namespace {

using CostedPhase = LayerOp::Phase;

// A collective that overlaps a kernel: both end when the longer one does; the kernel is slowed as long as the
// collective runs.
Nanoseconds beside(Nanoseconds collective, Nanoseconds kernel, double slow_down) {
  const double slowed = static_cast<double>(kernel) * (1 + slow_down);
  if (slowed <= static_cast<double>(collective)) return collective;
  return collective + static_cast<Nanoseconds>((slowed - static_cast<double>(collective)) / (1 + slow_down) + 0.5);
}

Nanoseconds rounded_share(Nanoseconds time, int parts) { return (time + parts / 2) / parts; }

bool is_collective(const OpCost& cost) { return cost.op.kind == LayerOp::Kind::kCollective; }

// What a collective costs beside `room` of another pass's kernels, which it uses up: what they do not hide of it, and
// how much it slows them.
Nanoseconds beside_pass(const OpTime& collective, Nanoseconds& room) {
  const Nanoseconds hidden = std::min(collective.alone, room);
  room -= hidden;
  const double slowed = static_cast<double>(hidden) * collective.slow_down / (1 + collective.slow_down);
  return collective.alone - hidden + static_cast<Nanoseconds>(slowed + 0.5);
}

// What a gather adds to the product behind it, whose parts are one for each rank: a share that arrives is beside the
// part of the share before it. Copy engines move it, which leaves compute alone.
Nanoseconds gathered_beside(Nanoseconds gather, Nanoseconds product, int parts) {
  const Nanoseconds step = rounded_share(gather, parts - 1);
  return (parts - 1) * std::max<Nanoseconds>(0, step - rounded_share(product, parts));
}

// What the sums of a product's parts add to it: all but the last are beside the part that follows.
Nanoseconds summed_beside(const OpTime& sum, Nanoseconds product, int parts) {
  const Nanoseconds step = rounded_share(sum.alone, parts);
  const Nanoseconds part = rounded_share(product, parts);
  return (parts - 1) * (beside(step, part, sum.slow_down) - part) + step;
}

template <typename Wanted>
Nanoseconds kernels_alone(const std::vector<OpCost>& ops, const Wanted& wanted) {
  Nanoseconds sum = 0;
  for (const OpCost& cost : ops) sum += wanted(cost.op.phase) && !is_collective(cost) ? cost.own.alone : 0;
  return sum;
}

template <typename Wanted>
std::vector<HostStep> host_steps(const std::vector<OpCost>& ops, Nanoseconds OpCost::*part, Nanoseconds host_launch,
                                 const Wanted& wanted) {
  std::vector<HostStep> steps;
  for (const OpCost& cost : ops) {
    if (!wanted(cost.op.phase)) continue;
    const std::int64_t launches = std::max(1, cost.op.kernels) + cost.op.further_launches;
    steps.push_back({host_time(cost.op, host_launch), launches, cost.*part, cost.op.host_waits});
  }
  return steps;
}

// Sums the ops that `wanted` takes, and writes what each adds into `part`. `room`: what the other pass's kernels take.
template <typename Wanted>
PhaseCost phase_sum(std::vector<OpCost>& ops, Nanoseconds OpCost::*part, Nanoseconds host_launch, Nanoseconds room,
                    const Wanted& wanted) {
  PhaseCost sum;
  Nanoseconds host = 0;
  bool host_waits = false;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    OpCost& cost = ops[k];
    if (!wanted(cost.op.phase)) continue;
    host += host_time(cost.op, host_launch);
    host_waits = host_waits || cost.op.host_waits;
    cost.*part = cost.own.alone;
    if (is_collective(cost)) {
      const bool gathers = cost.op.collective == CollectiveKind::kAllGather;
      const bool hides =
          cost.op.beside_next && k + 1 < ops.size() && wanted(ops[k + 1].op.phase) && !is_collective(ops[k + 1]);
      if (cost.op.parts > 1) {
        const Nanoseconds product = ops[gathers ? k + 1 : k - 1].own.alone;
        cost.*part = gathers ? gathered_beside(cost.own.alone, product, cost.op.parts)
                             : summed_beside(cost.own, product, cost.op.parts);
      } else if (hides) {
        const Nanoseconds kernel = ops[k + 1].own.alone;
        cost.*part = beside(cost.own.alone, kernel, cost.own.slow_down) - kernel;
      } else if (cost.op.beside_other_pass) {
        cost.*part = beside_pass(cost.own, room);
      }
      sum.collective += cost.*part;
    }
    sum.total += cost.*part;
  }
  // The host runs ahead of the GPU, but no further than a phase: kernels that are shorter than their launches wait.
  sum.launches = host_waits && host > 0 ? device_waits(host_steps(ops, part, host_launch, wanted))
                                        : std::max<Nanoseconds>(0, host - sum.total);
  sum.total += sum.launches;
  return sum;
}

OpBound op_bound(const OpCost& cost, const PhaseCost& phase, const ModelRequest& request) {
  if (is_collective(cost)) return OpBound::kNetwork;
  if (phase.launches > 0 && host_time(cost.op, request.host_launch) > cost.own.alone) return OpBound::kHost;
  if (cost.op.quantises && cost.own.alone == 0) return OpBound::kProducts;  // of its product, which has it in
  switch (kernel_bound(cost.op, request.kernels)) {
    case KernelBound::kProducts:
      return OpBound::kProducts;
    case KernelBound::kMemory:
      return OpBound::kMemory;
    case KernelBound::kLaunch:
      break;
  }
  return OpBound::kLaunch;
}

}  // namespace

const char* to_string(OpClass kind) {
  constexpr std::array<const char*, 6> kNames{"products",    "attention", "normalisation",
                                              "elementwise", "network",   "host"};
  return kNames.at(static_cast<std::size_t>(kind));
}

const char* to_string(OpBound bound) {
  constexpr std::array<const char*, 5> kNames{"products", "memory", "launch", "host", "network"};
  return kNames.at(static_cast<std::size_t>(bound));
}

OpClass class_of(const LayerOp& op) {
  switch (op.kind) {
    case LayerOp::Kind::kMatmul:
      return OpClass::kProduct;
    case LayerOp::Kind::kAttention:
      return OpClass::kAttention;
    case LayerOp::Kind::kCollective:
      return OpClass::kNetwork;
    case LayerOp::Kind::kElementwise:
      break;
  }
  return op.normalises ? OpClass::kNormalisation : OpClass::kElementwise;
}

OpTime OpClock::time(const LayerOp& op) {
  if (op.kind != LayerOp::Kind::kCollective) return {kernel_time(op, request_.kernels), 0};
  if (request_.setup.change.free_collectives) return {};
  if (op.parts > 1 && op.collective != CollectiveKind::kAllGather) {
    LayerOp one = op;  // a part's output is summed by itself
    one.parts = 1;
    one.collective_bytes = (op.collective_bytes + op.parts - 1) / op.parts;
    OpTime all = time(one);
    all.alone *= op.parts;
    return all;
  }
  const auto key = std::tuple{op.group, op.collective, op.collective_bytes, op.imbalance};
  const auto found = planned_.find(key);
  if (found != planned_.end()) return found->second;
  return planned_.emplace(key, collective_time(op, request_)).first->second;
}

LayerCost timed_layer(const ModelRequest& request, const LayerPlace& place, OpClock& clock) {
  LayerCost layer;
  layer.place = place;
  std::vector<LayerOp> ops = layer_ops(request.setup, place);
  layer.ops.reserve(ops.size());
  for (LayerOp& op : ops) {
    const OpTime own = clock.time(op);
    layer.ops.push_back({std::move(op), own, 0, 0, OpBound::kMemory});
  }
  const auto in_forward = [](CostedPhase phase) { return phase == CostedPhase::kForward; };
  const auto in_backward = [](CostedPhase phase) { return phase != CostedPhase::kForward; };
  const Nanoseconds forward = kernels_alone(layer.ops, in_forward);
  const Nanoseconds backward = kernels_alone(layer.ops, in_backward);
  const auto sum = [&](Nanoseconds OpCost::*part, Nanoseconds room, const auto& wanted) {
    return phase_sum(layer.ops, part, request.host_launch, room, wanted);
  };
  layer.forward = sum(&OpCost::whole, backward, in_forward);
  layer.backward = sum(&OpCost::whole, forward, in_backward);
  layer.input_grad = sum(&OpCost::halved, forward, [](CostedPhase phase) { return phase == CostedPhase::kInputGrad; });
  layer.weight_grad = sum(&OpCost::halved, 0, [](CostedPhase phase) { return phase == CostedPhase::kWeightGrad; });
  return layer;
}

std::vector<LayerCost> layer_costs(const ModelRequest& request) {
  check_setup(request.setup);
  OpClock clock(request);
  std::vector<LayerCost> layers;
  for (const LayerPlace& place : layer_places(request.setup.shape)) {
    const auto same = std::find_if(layers.begin(), layers.end(), [&](const LayerCost& layer) {
      return layer.place.kind == place.kind && layer.place.moe == place.moe && layer.place.variant == place.variant;
    });
    if (same != layers.end()) {
      ++same->layers;
      continue;
    }
    layers.push_back(timed_layer(request, place, clock));
    LayerCost& layer = layers.back();
    for (OpCost& cost : layer.ops) {
      const bool forward = cost.op.phase == CostedPhase::kForward;
      if (forward) cost.halved = cost.whole;
      cost.bound = op_bound(cost, forward ? layer.forward : layer.backward, request);
    }
  }
  return layers;
}

std::string layer_kind(const LayerPlace& place) {
  switch (place.kind) {
    case LayerPlace::Kind::kEmbedding:
      return "embedding";
    case LayerPlace::Kind::kBlock:
      return std::string("transformer") + (place.moe ? " with experts" : "") +
             (place.variant == 0   ? ""
              : place.variant == 1 ? ", window"
                                   : ", kind " + std::to_string(place.variant - 2));
    case LayerPlace::Kind::kHead:
      return "head";
    case LayerPlace::Kind::kPredictor:
      return "predictor";
  }
  return "";
}

}  // namespace debubble
