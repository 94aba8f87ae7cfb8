#include "cost_models/profiled.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "cost_models/partition/partition.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

// How many layers lack a number, for the assumptions.
struct Gaps {
  std::size_t whole = 0;  // only the halves of the backward are known
  std::size_t halves = 0;
  std::size_t held = 0;
  std::size_t gradients = 0;
  std::size_t optimizer = 0;
};

// Whether a layer's sizes are a model's: then they say when within the layer they are held.
bool is_modelled(const ProfileLayer& layer) { return layer.gradients.has_value() && layer.optimizer.has_value(); }

[[noreturn]] void complain_overflow(std::size_t stage, const std::string& what) {
  throw InputError({"L007", "", "the " + what + " of stage " + std::to_string(stage) + " overflows",
                    "check the layers' numbers or the sizes that a --model was given, or cut it into more stages"});
}

// Sums one stage's layers; every sum is checked against the largest value an input may have.
class StageSum {
 public:
  explicit StageSum(std::size_t stage) : stage_(stage) {}

  void add(const ProfileLayer& layer, double weight_share, Gaps& gaps) {
    add_time(cost_.forward, layer.forward.median);
    add_backward(layer, gaps);
    add_size(cost_.activation, layer.activation, "activation");
    add_size(cost_.weight_grad_held, held(layer, weight_share, gaps), "memory held for the weight gradient");
    add_size(cost_.weights, layer.parameters, "weights");
    add_workspace(layer);
    cost_.output = layer.output;
    add_states(layer, gaps);
    add_time(cost_.forward_collective, layer.forward_collective);
    add_time(cost_.backward_collective, layer.backward_collective);
    cost_.activation_tensors += layer.activation_tensors;
    for (const SharedBuffer& buffer : layer.buffers) add_buffer(buffer);
  }

  [[nodiscard]] StageCost finish(const TrainingState& state) {
    add_size(cost_.gradients, scaled(state.gradients_per_weight, "gradients", of_gradients_), "gradients");
    add_size(cost_.optimizer, scaled(state.optimizer_per_weight, "optimizer state", of_optimizer_), "optimizer state");
    for (const auto& [name, bytes] : buffers_) add_size(cost_.comm_buffers, bytes, "buffers");
    return cost_;
  }

 private:
  void add_time(Nanoseconds& sum, Nanoseconds time) const {
    if (time > kLongestDuration - sum) complain_overflow(stage_, "time");
    sum += time;
  }

  void add_size(Bytes& sum, Bytes size, const char* what) const {
    if (size > kLargestSize - sum) complain_overflow(stage_, what);
    sum += size;
  }

  // When a modelled layer is at its most, the activations of the layers after it are not there, or not any more: with
  // the workspace of all before, less this one's activation, the stage's peak is that of its worst moment.
  void add_workspace(const ProfileLayer& layer) {
    const Bytes before =
        is_modelled(layer) ? cost_.workspace - std::min(cost_.workspace, layer.activation) : cost_.workspace;
    cost_.workspace = std::max(before, layer.workspace);
  }

  // There are few, and layers of a kind name the same ones.
  void add_buffer(const SharedBuffer& buffer) {
    const auto same =
        std::find_if(buffers_.begin(), buffers_.end(), [&](const auto& known) { return *known.first == buffer.name; });
    if (same == buffers_.end()) {
      buffers_.emplace_back(&buffer.name, buffer.bytes);
    } else {
      same->second = std::max(same->second, buffer.bytes);
    }
  }

  void add_states(const ProfileLayer& layer, Gaps& gaps) {
    if (layer.gradients) {
      add_size(cost_.gradients, *layer.gradients, "gradients");
    } else {
      add_size(of_gradients_, layer.parameters, "weights");
      ++gaps.gradients;
    }
    if (layer.optimizer) {
      add_size(cost_.optimizer, *layer.optimizer, "optimizer state");
    } else {
      add_size(of_optimizer_, layer.parameters, "weights");
      ++gaps.optimizer;
    }
  }

  void add_backward(const ProfileLayer& layer, Gaps& gaps) {
    const bool split = layer.input_grad && layer.weight_grad;
    const Nanoseconds whole = whole_backward(layer);
    gaps.whole += layer.backward ? 0U : 1U;
    gaps.halves += split ? 0U : 1U;
    add_time(cost_.backward, whole);
    add_time(cost_.input_grad, split ? layer.input_grad->median : whole / 2);
    add_time(cost_.weight_grad, split ? layer.weight_grad->median : whole - whole / 2);
  }

  static Bytes held(const ProfileLayer& layer, double weight_share, Gaps& gaps) {
    if (layer.weight_grad_held) return *layer.weight_grad_held;
    ++gaps.held;
    return std::llround(static_cast<double>(layer.activation) * weight_share);
  }

  [[nodiscard]] Bytes scaled(double factor, const char* what, Bytes weights) const {
    const double size = std::round(static_cast<double>(weights) * factor);
    if (!(size <= static_cast<double>(kLargestSize))) complain_overflow(stage_, what);
    return static_cast<Bytes>(size);
  }

  std::size_t stage_;
  StageCost cost_;
  Bytes of_gradients_ = 0;  // weights of the layers that do not say how large their gradients are
  Bytes of_optimizer_ = 0;
  std::vector<std::pair<const std::string*, Bytes>> buffers_;  // by name
};

// Shortest decimal that reads back as the same number: "2", "0.5".
std::string shortest_decimal(double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

std::string layers_text(std::size_t count, std::size_t all) {
  return std::to_string(count) + " of " + std::to_string(all) + " layers";
}

std::string origin_text(const ProfileOrigin& origin, Source source) {
  std::string text;
  if (source == Source::kModelled) return text;
  if (!origin.device.empty()) text += " on " + origin.device;
  if (source == Source::kPublished && !origin.citation.empty()) text += ", " + origin.citation;
  return text;
}

// ", measured on NVIDIA H100"; of modelled numbers nothing.
std::string source_text(const ProfileOrigin& origin, Source source) {
  return source == Source::kModelled ? "" : std::string(", ") + to_string(source) + origin_text(origin, source);
}

// --w-share, or what is used in its place, and who says so.
struct WeightShare {
  double share = 0;
  Source source = Source::kDefault;
};

void explain_profile(const Profile& profile, const TrainingState& state, const WeightShare& held, const Gaps& gaps,
                     std::vector<Assumption>& assumptions) {
  const ProfileOrigin& origin = profile.origin;
  const std::size_t all = profile.layers.size();
  const auto add = [&assumptions](std::string what, std::string value, Source source) {
    assumptions.push_back({std::move(what), std::move(value), source});
  };
  if (profile.derived) {  // no measurement, though made of some; one citation is enough
    const std::string sizes = origin.memory == origin.times ? "" : source_text(origin, origin.memory);
    add("layer times", profile.model + ", " + profile.derived->times + source_text(origin, origin.times),
        Source::kModelled);
    add("layer sizes", profile.model + ", " + profile.derived->sizes + sizes, Source::kModelled);
  } else {
    add("layer times", profile.model + origin_text(origin, origin.times), origin.times);
    add("layer sizes", profile.model + origin_text(origin, origin.memory), origin.memory);
  }
  if (gaps.halves > 0) {
    add("input and weight gradient time", "half of the backward each, in " + layers_text(gaps.halves, all),
        Source::kDefault);
  }
  if (gaps.whole > 0) {
    add("backward time", "input gradient + weight gradient, in " + layers_text(gaps.whole, all), Source::kModelled);
  }
  if (gaps.held > 0) {
    add("memory held for the weight gradient",
        shortest_decimal(held.share) + " of the activation, in " + layers_text(gaps.held, all), held.source);
  }
  if (gaps.gradients > 0) {
    add("gradients",
        shortest_decimal(state.gradients_per_weight) + (state.gradients_per_weight == 1 ? " byte" : " bytes") +
            std::string(" per byte of weights"),
        Source::kDefault);
  }
  if (gaps.optimizer > 0) {
    add("optimizer state", shortest_decimal(state.optimizer_per_weight) + " bytes per byte of weights",
        Source::kDefault);
  }
}

void check_profiled(const LayersInPlace& layers, const std::vector<int>& partition, const TrainingState& state,
                    double weight_share) {
  std::int64_t placed = 0;
  for (const int size : partition) {
    if (size < 0) throw InputError({"L004", "", "a stage gets " + std::to_string(size) + " layers", ""});
    placed += size;
  }
  if (placed != static_cast<std::int64_t>(layers.size())) {
    throw InputError(
        {"L006", "",
         "layers in model / layers placed: " + std::to_string(layers.size()) + " / " + std::to_string(placed),
         "the stages must hold every layer once"});
  }
  for (const ProfileLayer* const layer : layers) {
    if (layer->backward || (layer->input_grad && layer->weight_grad)) continue;
    throw InputError({"L011", "", "layer \"" + layer->name + "\" has no backward time",
                      "give it a backward, or an input and a weight gradient"});
  }
  if (!(weight_share >= 0.0 && weight_share <= 1.0)) {
    throw InputError(
        {"L009", "",
         "the share held for the weight gradient must be from 0 to 1; got " + shortest_decimal(weight_share),
         "1 keeps the whole activation until W, 0 frees it after I"});
  }
  for (const double factor : {state.gradients_per_weight, state.optimizer_per_weight}) {
    if (factor >= 0.0 && factor <= std::numeric_limits<double>::max()) continue;
    throw InputError({"L009", "",
                      "bytes of training state per byte of weights must be at least 0; got " + shortest_decimal(factor),
                      "Adam in the weights' own precision needs 2"});
  }
}

// Of a stage from layer `begin` on: what it keeps instead of its activations is what it was sent.
void set_recomputation(const LayersInPlace& layers, std::size_t begin, StageCost& stage) {
  stage.recompute = stage.forward;
  stage.checkpoint = begin == 0 ? stage.output : layers[begin - 1]->output;
  if (layers[begin]->checkpoint) stage.checkpoint = *layers[begin]->checkpoint;
}

}  // namespace

LayersInPlace layers_of(const Profile& profile) {
  LayersInPlace layers;
  layers.reserve(profile.layers.size());
  for (const ProfileLayer& layer : profile.layers) layers.push_back(&layer);
  return layers;
}

StageCosts profiled_costs(const Profile& profile, const std::vector<int>& partition, const TrainingState& state,
                          double weight_share, std::vector<Assumption>& assumptions, Source share_source) {
  return profiled_costs(profile, layers_of(profile), partition, state, weight_share, assumptions, share_source);
}

StageCosts profiled_costs(const Profile& profile, const LayersInPlace& layers, const std::vector<int>& partition,
                          const TrainingState& state, double weight_share, std::vector<Assumption>& assumptions,
                          Source share_source) {
  check_profiled(layers, partition, state, weight_share);
  StageCosts costs;
  Gaps gaps;
  auto layer = layers.begin();
  for (const int size : partition) {
    StageSum sum(costs.stages.size());
    const auto begin = static_cast<std::size_t>(layer - layers.begin());
    for (int k = 0; k < size; ++k) sum.add(**layer++, weight_share, gaps);
    costs.stages.push_back(sum.finish(state));
    if (size > 0) {
      set_recomputation(layers, begin, costs.stages.back());
    } else if (begin > 0) {
      costs.stages.back().output = layers[begin - 1]->output;  // what it gets goes on
    }
  }
  explain_profile(profile, state, {weight_share, share_source}, gaps, assumptions);
  return costs;
}

std::vector<StageCost> stage_costs_from(const Profile& profile, std::size_t begin, const TrainingState& state,
                                        double weight_share) {
  std::vector<StageCost> costs;
  Gaps gaps;
  StageSum sum(0);
  const LayersInPlace layers = layers_of(profile);
  for (std::size_t k = begin; k < layers.size(); ++k) {
    sum.add(*layers[k], weight_share, gaps);
    costs.push_back(StageSum(sum).finish(state));
    set_recomputation(layers, begin, costs.back());
  }
  return costs;
}

}  // namespace debubble
