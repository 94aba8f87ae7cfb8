// The layers of a model from those of its stages; join.hpp has the rules.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/profile.hpp"

namespace debubble {

struct StageLayers {
  std::string label;
  std::vector<ProfileLayer> layers;  // in the order of the stage
};

struct JoinedLayers {
  std::vector<ProfileLayer> layers;
  std::vector<std::size_t> stage;  // of each layer
};

// Appends to `notes` which stage has which blocks, and what is not known. Throws InputError (L020) for a block that is
// in two stages.
[[nodiscard]] JoinedLayers join_layers(std::vector<StageLayers> stages, std::vector<std::string>& notes);

}  // namespace debubble
