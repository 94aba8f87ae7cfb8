#include "cost_models/transformer/modelled_profile.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "cost_models/transformer/layer_cost.hpp"
#include "cost_models/transformer/layer_memory.hpp"
#include "cost_models/transformer/layer_ops.hpp"
#include "cost_models/transformer/tabled_time.hpp"

namespace debubble {
namespace {

TimeStatistics statistics(Nanoseconds median) {
  TimeStatistics time;
  time.median = median;
  return time;
}

// By name, the longest in total first.
std::vector<KernelSummary> summaries(const std::vector<OpCost>& ops) {
  std::vector<KernelSummary> list;
  for (const OpCost& cost : ops) {
    auto same = std::find_if(list.begin(), list.end(), [&](const KernelSummary& s) { return s.name == cost.op.name; });
    if (same == list.end()) same = list.insert(list.end(), KernelSummary{cost.op.name, 0, 0});
    same->count += cost.op.kernels;
    same->total += cost.own.alone;
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const KernelSummary& a, const KernelSummary& b) { return a.total > b.total; });
  return list;
}

std::string layer_name(const LayerPlace& place) {
  switch (place.kind) {
    case LayerPlace::Kind::kBlock:
      return "block " + std::to_string(place.number);
    case LayerPlace::Kind::kPredictor:
      return "predictor " + std::to_string(place.number);
    case LayerPlace::Kind::kEmbedding:
    case LayerPlace::Kind::kHead:
      break;
  }
  return layer_kind(place);
}

void set_memory(const ModelledMemory& memory, ProfileLayer& layer) {
  layer.activation = memory.activation;
  layer.weight_grad_held = memory.weight_grad_held;
  layer.output = memory.output;
  layer.parameters = memory.weights;
  layer.workspace = memory.workspace;
  layer.gradients = memory.gradients;
  layer.optimizer = memory.optimizer;
  layer.checkpoint = memory.checkpoint;
  layer.buffers = memory.buffers;
  layer.activation_tensors = memory.activation_tensors;
}

ProfileLayer model_layer(const ModelRequest& request, const LayerPlace& place, OpClock& clock) {
  const LayerCost cost = timed_layer(request, place, clock);
  ProfileLayer layer;
  layer.kind = layer_kind(place);
  layer.forward = statistics(cost.forward.total);
  layer.backward = statistics(cost.backward.total);
  layer.input_grad = statistics(cost.input_grad.total);
  layer.weight_grad = statistics(cost.weight_grad.total);
  layer.forward_collective = cost.forward.collective;
  layer.backward_collective = cost.backward.collective;
  layer.forward_launches = cost.forward.launches;
  layer.backward_launches = cost.backward.launches;
  for (const OpCost& one : cost.ops) {
    if (one.op.phase == LayerOp::Phase::kForward) layer.forward_flops += one.op.flops;
  }
  layer.model_flops = model_flops(request.setup, place) * static_cast<double>(request.setup.microbatch_size);
  // A study keeps what it found for thousands of runs, none of which is asked for its kernels.
  if (request.layers == nullptr) layer.kernels = summaries(cost.ops);
  set_memory(layer_memory(request.setup, place), layer);
  return layer;
}

}  // namespace

Profile modelled_profile(const ModelRequest& request) {
  check_setup(request.setup);
  Profile profile;
  profile.model = request.setup.shape.name;
  profile.dtype = to_string(request.setup.compute);
  profile.microbatch_size = request.setup.microbatch_size;
  profile.sequence_length = request.setup.sequence;
  profile.peak_flops = peak_flops(request.kernels.hardware, request.setup.compute);
  profile.origin.times = Source::kModelled;
  profile.origin.memory = Source::kModelled;
  profile.origin.device = request.kernels.hardware.name;
  profile.origin.method = "sum of modelled kernels and of collectives that nothing hides";
  OpClock clock(request);
  // Blocks of one kind cost the same; what the first predictor and the last block hold beside is theirs alone.
  std::map<std::tuple<LayerPlace::Kind, bool, std::int64_t, bool>, ProfileLayer> known;
  const std::vector<LayerPlace> places = layer_places(request.setup.shape);
  profile.layers.reserve(places.size());
  for (const LayerPlace& place : places) {
    const bool last_block = place.kind == LayerPlace::Kind::kBlock && place.number + 1 == request.setup.shape.layers;
    const bool alone = last_block ? request.setup.shape.predictor_place != PredictorPlace::kBehindHead
                                  : place.kind == LayerPlace::Kind::kPredictor && place.number == 0;
    const auto key = std::tuple{place.kind, place.moe, place.variant, alone};
    if (!known.contains(key)) known.emplace(key, model_layer(request, place, clock));
    profile.layers.push_back(known.at(key));
    profile.layers.back().name = layer_name(place);
  }
  return profile;
}

double peak_flops(const Hardware& hardware, NumberFormat format) {
  // Of hardware without 8-bit units none, where format_flops has what such products run at.
  return format == NumberFormat::kFp8 ? hardware.fp8_flops : format_flops(hardware, format);
}

}  // namespace debubble
