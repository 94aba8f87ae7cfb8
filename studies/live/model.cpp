#include "studies/live/model.hpp"

#include <cstdint>

#include "cost_models/partition/framework_cuts.hpp"
#include "formats/files/read_file.hpp"
#include "formats/model/model_config.hpp"
#include "sim/core/model_presets.hpp"

namespace debubble {

namespace {

// Multiplications of a forward pass for one token, as a weight: parameters that are multiplied with, and attention.
std::int64_t block_weight(const TransformerShape& shape, const WorkloadSize& size) {
  return block_parameters(shape) + 2 * size.sequence * shape.heads * shape.head_size;
}

// A profile whose times are weights: the balance sees nothing else.
Profile weighed_layers(const TransformerShape& shape, const WorkloadSize& size) {
  Profile profile;
  const auto add = [&](std::int64_t weight, std::int64_t parameters) {
    ProfileLayer& layer = profile.layers.emplace_back();
    layer.parameters = parameters;
    layer.forward.median = weight;
    layer.backward = TimeStatistics{2 * weight, {}, {}, 0};
  };
  add(shape.hidden, embedding_parameters(shape));  // the embedding copies a row
  for (std::int64_t k = 0; k < shape.layers; ++k) add(block_weight(shape, size), block_parameters(shape));
  add(head_parameters(shape), head_parameters(shape));
  profile.layers.front().kind = "embedding";
  profile.layers.back().kind = "head";
  return profile;
}

}  // namespace

TransformerShape model_shape(const std::string& model) {
  const bool is_file = model.ends_with(".json") || model.find('/') != std::string::npos;
  return is_file ? read_model_config(read_file(model, "--model"), model) : model_preset(model);
}

std::vector<int> model_partition(const TransformerShape& shape, const WorkloadSize& size, const CutRule& choice,
                                 int stages, std::vector<Assumption>& assumptions) {
  const bool automatic = choice.automatic();
  const Profile weighed = weighed_layers(shape, size);
  LayersToCut layers{&weighed, stages};
  layers.sizes = cut_sizes(shape, 1);
  std::vector<int> partition = cut_layers(choice, layers).layers;
  assumptions.push_back({"model",
                         shape.name + ", microbatch " + std::to_string(size.microbatch) + " x " +
                             std::to_string(size.sequence) + ", " + to_string(size.type),
                         Source::kGiven});
  assumptions.push_back({std::string(assumption_key::kPartition),
                         partition_text(partition) + (automatic ? " (auto: counted matmuls)" : ""),
                         automatic ? Source::kModelled : Source::kGiven});
  return partition;
}

}  // namespace debubble
