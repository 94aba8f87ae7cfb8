#include "cost_models/transformer/modelled_profile.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "cost_models/transformer/layer_memory.hpp"
#include "cost_models/transformer/layer_ops.hpp"

namespace debubble {
namespace {

using ProfilePhase = LayerOp::Phase;

// Times ops; the same collective of another layer is planned once.
class Clock {
 public:
  explicit Clock(const ModelRequest& request) : request_(request) {}

  OpTime time(const LayerOp& op) {
    if (op.kind != LayerOp::Kind::kCollective) return {kernel_time(op, request_.kernels), 0};
    const auto key = std::tuple{op.group, op.collective, op.collective_bytes, op.imbalance};
    const auto found = planned_.find(key);
    if (found != planned_.end()) return found->second;
    return planned_.emplace(key, collective_time(op, request_)).first->second;
  }

 private:
  const ModelRequest& request_;
  std::map<std::tuple<Dimension, CollectiveKind, Bytes, double>, OpTime> planned_;
};

// A time, and how much of it is collectives that nothing hides.
struct PhaseTime {
  Nanoseconds total = 0;
  Nanoseconds collective = 0;
};

// A collective that overlaps a kernel: both end when the longer one does; the kernel is slowed as long as the
// collective runs.
Nanoseconds beside(Nanoseconds collective, Nanoseconds kernel, double slow_down) {
  const double slowed = static_cast<double>(kernel) * (1 + slow_down);
  if (slowed <= static_cast<double>(collective)) return collective;
  return collective + static_cast<Nanoseconds>((slowed - static_cast<double>(collective)) / (1 + slow_down) + 0.5);
}

// Sums the ops that `wanted` takes.
template <typename Wanted>
PhaseTime phase_sum(const std::vector<LayerOp>& ops, const std::vector<OpTime>& times, const Wanted& wanted) {
  PhaseTime sum;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (!wanted(ops[k])) continue;
    const bool collective = ops[k].kind == LayerOp::Kind::kCollective;
    Nanoseconds exposed = collective ? times[k].alone : 0;
    const bool hides = collective && ops[k].beside_next && k + 1 < ops.size() && wanted(ops[k + 1]) &&
                       ops[k + 1].kind != LayerOp::Kind::kCollective;
    if (hides) exposed = beside(times[k].alone, times[k + 1].alone, times[k].slow_down) - times[k + 1].alone;
    sum.total += collective ? exposed : times[k].alone;
    sum.collective += exposed;
  }
  return sum;
}

TimeStatistics statistics(Nanoseconds median) {
  TimeStatistics time;
  time.median = median;
  return time;
}

// By name, the longest in total first.
std::vector<KernelSummary> summaries(const std::vector<LayerOp>& ops, const std::vector<OpTime>& times) {
  std::vector<KernelSummary> list;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    auto same = std::find_if(list.begin(), list.end(), [&](const KernelSummary& s) { return s.name == ops[k].name; });
    if (same == list.end()) same = list.insert(list.end(), KernelSummary{ops[k].name, 0, 0});
    same->count += ops[k].kernels;
    same->total += times[k].alone;
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const KernelSummary& a, const KernelSummary& b) { return a.total > b.total; });
  return list;
}

const char* kind_name(const LayerPlace& place) {
  switch (place.kind) {
    case LayerPlace::Kind::kEmbedding:
      return "embedding";
    case LayerPlace::Kind::kBlock:
      return place.moe ? "transformer with experts" : "transformer";
    case LayerPlace::Kind::kHead:
      return "head";
    case LayerPlace::Kind::kPredictor:
      return "predictor";
  }
  return "";
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
  return kind_name(place);
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

ProfileLayer model_layer(const ModelRequest& request, const LayerPlace& place, Clock& clock) {
  const std::vector<LayerOp> ops = layer_ops(request.setup, place);
  std::vector<OpTime> times;
  times.reserve(ops.size());
  for (const LayerOp& op : ops) times.push_back(clock.time(op));
  const auto phase_time = [&](const auto& wanted) { return phase_sum(ops, times, wanted); };

  ProfileLayer layer;
  layer.kind = kind_name(place);
  const PhaseTime forward = phase_time([](const LayerOp& op) { return op.phase == ProfilePhase::kForward; });
  const PhaseTime backward = phase_time([](const LayerOp& op) { return op.phase != ProfilePhase::kForward; });
  layer.forward = statistics(forward.total);
  layer.backward = statistics(backward.total);
  layer.input_grad =
      statistics(phase_time([](const LayerOp& op) { return op.phase == ProfilePhase::kInputGrad; }).total);
  layer.weight_grad =
      statistics(phase_time([](const LayerOp& op) { return op.phase == ProfilePhase::kWeightGrad; }).total);
  layer.forward_collective = forward.collective;
  layer.backward_collective = backward.collective;
  for (const LayerOp& op : ops) {
    if (op.phase == ProfilePhase::kForward) layer.forward_flops += op.flops;
  }
  layer.model_flops = model_flops(request.setup, place) * static_cast<double>(request.setup.microbatch_size);
  // A study keeps what it found for thousands of runs, none of which is asked for its kernels.
  if (request.layers == nullptr) layer.kernels = summaries(ops, times);
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
  Clock clock(request);
  // Blocks of one kind cost the same.
  std::map<std::pair<LayerPlace::Kind, bool>, ProfileLayer> known;
  const std::vector<LayerPlace> places = layer_places(request.setup.shape);
  profile.layers.reserve(places.size());
  for (const LayerPlace& place : places) {
    const auto key = std::pair{place.kind, place.moe};
    if (!known.contains(key)) known.emplace(key, model_layer(request, place, clock));
    profile.layers.push_back(known.at(key));
    profile.layers.back().name = layer_name(place);
  }
  return profile;
}

double peak_flops(const Hardware& hardware, NumberFormat format) {
  switch (format) {
    case NumberFormat::kFp32:
      return hardware.fp32_flops;
    case NumberFormat::kFp16:
    case NumberFormat::kBf16:
      return hardware.half_flops;
    case NumberFormat::kFp8:
      return hardware.fp8_flops;
  }
  return 0;
}

}  // namespace debubble
