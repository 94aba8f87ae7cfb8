#include "cost_models/partition/blocks.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace debubble {

LayerRole role_of(std::string_view kind) {
  constexpr std::array<std::pair<std::string_view, LayerRole>, 7> kRoles{{{"embedding", LayerRole::kEmbedding},
                                                                          {"predictor", LayerRole::kPredictor},
                                                                          {"mtp", LayerRole::kPredictor},
                                                                          {"head", LayerRole::kHead},
                                                                          {"loss", LayerRole::kHead},
                                                                          {"lm_head", LayerRole::kHead},
                                                                          {"output", LayerRole::kHead}}};
  const auto found = std::find_if(kRoles.begin(), kRoles.end(), [&](const auto& one) { return one.first == kind; });
  return found == kRoles.end() ? LayerRole::kBlock : found->second;
}

LayerCounts count_layers(const std::vector<LayerRole>& roles) {
  const auto first =
      std::find_if(roles.begin(), roles.end(), [](LayerRole role) { return role != LayerRole::kEmbedding; });
  auto end = roles.end();
  const auto take = [&](LayerRole role) {
    int count = 0;
    for (; end != first && *(end - 1) == role; --end) ++count;
    return count;
  };
  LayerCounts counts;
  counts.predictors = take(LayerRole::kPredictor);
  counts.head = take(LayerRole::kHead);
  counts.predictors_last = counts.predictors > 0 && counts.head > 0;
  counts.predictors += take(LayerRole::kPredictor);
  counts.embedding = static_cast<int>(first - roles.begin());
  counts.blocks = static_cast<int>(end - first);
  return counts;
}

LayerCounts count_layers(const Profile& profile) {
  std::vector<LayerRole> roles;
  roles.reserve(profile.layers.size());
  for (const ProfileLayer& layer : profile.layers) roles.push_back(role_of(layer.kind));
  return count_layers(roles);
}

std::optional<std::vector<int>> even_cut(const LayerCounts& counts, int stages, const BlockWeights& weights) {
  const int all = counts.blocks + weights.embedding + weights.head + counts.predictors * weights.predictor;
  if (stages < 1 || all < stages || all % stages != 0) return std::nullopt;
  std::vector<int> layers(static_cast<std::size_t>(stages), all / stages);
  layers.front() += counts.embedding - weights.embedding;
  layers.back() += counts.head - weights.head + counts.predictors * (1 - weights.predictor);
  if (*std::min_element(layers.begin(), layers.end()) < 1) return std::nullopt;
  return layers;
}

}  // namespace debubble
