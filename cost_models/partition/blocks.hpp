// Embedding, blocks, predictors and head of a model: counted here alone, and weighed in blocks where a cut is even.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/core/profile.hpp"

namespace debubble {

enum class LayerRole : std::uint8_t { kBlock, kEmbedding, kPredictor, kHead };

// Of a profile's layer of that kind: "embedding"; "predictor" and "mtp"; "head", "loss", "lm_head" and "output"; all
// others are blocks.
[[nodiscard]] LayerRole role_of(std::string_view kind);

// By place: only leading layers are the embedding, and only trailing ones predictors and head, so that every layer is
// counted once.
struct LayerCounts {
  int embedding = 0;
  int blocks = 0;
  int predictors = 0;
  int head = 0;
  bool predictors_last = false;  // behind the head, as in a modelled profile: each has a head of its own
};
[[nodiscard]] LayerCounts count_layers(const std::vector<LayerRole>& roles);
[[nodiscard]] LayerCounts count_layers(const Profile& profile);

// What embedding, head and each predictor weigh, in blocks. Megatron-LM's cut: nothing, or 1 with its flags
// --account-for-embedding-in-pipeline-split and --account-for-loss-in-pipeline-split.
struct BlockWeights {
  int embedding = 0;
  int head = 0;
  int predictor = 0;
};

// Layers per stage where every stage weighs as much: the embedding is on the first stage, what follows the blocks on
// the last. Nothing where that does not divide, or a stage would have no layer.
[[nodiscard]] std::optional<std::vector<int>> even_cut(const LayerCounts& counts, int stages,
                                                       const BlockWeights& weights = {});

}  // namespace debubble
