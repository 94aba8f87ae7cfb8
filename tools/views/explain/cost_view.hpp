// Where the time of a modelled job's layers goes, op by op, and what changes would bring its step.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cost_models/transformer/layer_cost.hpp"
#include "studies/explain/cost_trials.hpp"
#include "tools/views/style.hpp"

namespace debubble {

struct CostStory {
  std::vector<LayerCost> layers;
  std::vector<CostTrial> changes;
  Nanoseconds step = 0;
  bool fits = true;                    // into the devices' memory, where that is known
  std::size_t classes_of_devices = 1;  // whose collectives inside layers take other links
};

// Of one class: F and B of a layer together. The times of all classes are the layer's.
struct ClassCost {
  Nanoseconds time = 0;
  double flops = 0;
  Bytes bytes = 0;  // of the device's memory; kNetwork: of the ranks' buffers
};
[[nodiscard]] std::array<ClassCost, 6> class_costs(const LayerCost& layer);  // by OpClass

// "F", "I", "W", and "R" of what runs again.
[[nodiscard]] const char* pass_of(const LayerOp& op);
// Of an op in either kind of units.
[[nodiscard]] double all_flops(const LayerOp& op);
[[nodiscard]] Bytes moved_bytes(const LayerOp& op);
// "transformer with experts, recomputed".
[[nodiscard]] std::string layer_words(const LayerCost& layer);

[[nodiscard]] std::string cost_story_text(const CostStory& story, const ViewStyle& style);

}  // namespace debubble
