// LayerCost: every op of a layer with its time, in sums that are the modelled profile's.
//
// The ops of a phase and the phase's wait for the host add up to the phase, to the nanosecond: a kernel counts with all
// its time, a collective with what nothing hides of it. F and B are phases as a whole; where a schedule splits B, I and
// W are phases of their own, in which a collective may have nothing to hide behind.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "cost_models/transformer/layer_ops.hpp"
#include "cost_models/transformer/modelled_profile.hpp"

namespace debubble {

// Kinds of work, as Ivanov et al., Data Movement Is All You Need (MLSys 2021), tell operators apart, and two that are
// none. Their dropout of attention is a part of the softmax; here it is elementwise.
enum class OpClass : std::uint8_t { kProduct, kAttention, kNormalisation, kElementwise, kNetwork, kHost };
[[nodiscard]] const char* to_string(OpClass kind);  // "products", "attention", "normalisation", ...
[[nodiscard]] OpClass class_of(const LayerOp& op);  // never kHost

// What an op waits for most: the matrix units, the memory, its own launch on the device, the host, the links.
enum class OpBound : std::uint8_t { kProducts, kMemory, kLaunch, kHost, kNetwork };
[[nodiscard]] const char* to_string(OpBound bound);  // "products", "memory", "launch", "host", "network"

struct OpCost {
  LayerOp op;
  OpTime own;              // with nothing else around
  Nanoseconds whole = 0;   // of F or B
  Nanoseconds halved = 0;  // of F, I or W
  OpBound bound = OpBound::kMemory;
};

// A time, how much of it is collectives that nothing hides, and how much waiting for the host.
struct PhaseCost {
  Nanoseconds total = 0;
  Nanoseconds collective = 0;
  Nanoseconds launches = 0;
};

struct LayerCost {
  LayerPlace place;         // of the first of them
  std::int64_t layers = 1;  // that are alike
  bool recomputed = false;  // recomputes its forward, in whole or part, where other stages do not
  std::vector<OpCost> ops;  // in running order
  PhaseCost forward, backward, input_grad, weight_grad;
};

// Times ops; the same collective of another layer is planned once. Keeps a reference to the request.
class OpClock {
 public:
  explicit OpClock(const ModelRequest& request) : request_(request) {}
  [[nodiscard]] OpTime time(const LayerOp& op);

 private:
  const ModelRequest& request_;
  std::map<std::tuple<Dimension, CollectiveKind, Bytes, double>, OpTime> planned_;
};

// Without what bounds the ops.
[[nodiscard]] LayerCost timed_layer(const ModelRequest& request, const LayerPlace& place, OpClock& clock);

// Of each kind of layer one, with how many there are, in the model's order. Throws as modelled_profile does.
[[nodiscard]] std::vector<LayerCost> layer_costs(const ModelRequest& request);

// "embedding", "transformer", "transformer with experts", "head", "predictor"; of a block that is otherwise than the
// model's sizes say ", window" or ", kind 3" behind it.
[[nodiscard]] std::string layer_kind(const LayerPlace& place);

}  // namespace debubble
