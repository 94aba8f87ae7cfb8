#include "cost_models/output_layer.hpp"

#include <cmath>
#include <string>

#include "cost_models/partition/partition.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

Bytes scaled_size(Bytes size, double factor) { return std::llround(static_cast<double>(size) * factor); }

}  // namespace

OutputShard take_output_layer(Profile& profile, int devices, int barriers, const TrainingState& state,
                              std::vector<Assumption>& assumptions) {
  if (profile.layers.size() < 2 || profile.layers.back().kind != "head") {
    const std::string kind = profile.layers.empty() ? "none" : "of kind \"" + profile.layers.back().kind + "\"";
    throw InputError(
        Diagnostic{"M007", "--profile",
                   "the last layer of the profile is " + kind + ", and only a head can be cut along the vocabulary",
                   "profile the model with its output layer as a last layer of kind \"head\""});
  }
  const ProfileLayer head = profile.layers.back();
  profile.layers.pop_back();
  const Nanoseconds backward = whole_backward(head);
  const Nanoseconds input_grad = head.input_grad ? head.input_grad->median : backward / 2;
  const Nanoseconds logits = head.forward.median + (barriers == 1 ? input_grad : 0);
  OutputShard shard;
  shard.cost.logits = piece_of(logits, devices);
  shard.cost.gradient = piece_of(head.forward.median + backward - logits, devices);
  shard.cost.held = piece_of(head.activation, devices);
  shard.weights = piece_of(head.parameters, devices);
  shard.gradients =
      head.gradients ? piece_of(*head.gradients, devices) : scaled_size(shard.weights, state.gradients_per_weight);
  shard.optimizer =
      head.optimizer ? piece_of(*head.optimizer, devices) : scaled_size(shard.weights, state.optimizer_per_weight);
  assumptions.push_back(
      {"output layer",
       "layer \"" + head.name + "\" in " + std::to_string(devices) + " equal shards; " +
           (barriers == 1 ? "S: forward and input gradient, T: weight gradient" : "S: forward, T: backward"),
       Source::kModelled});
  return shard;
}

}  // namespace debubble
