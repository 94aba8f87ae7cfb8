#include "cost_models/partition/blocks.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

LayerCounts counts_of(const std::vector<std::string>& kinds) {
  Profile profile;
  for (const std::string& kind : kinds) profile.layers.emplace_back().kind = kind;
  return count_layers(profile);
}

std::vector<int> even_layers_of(const std::vector<std::string>& kinds, int stages, const BlockWeights& weights = {}) {
  return even_cut(counts_of(kinds), stages, weights).value_or(std::vector<int>{});
}

TEST_CASE("every layer is counted once, by its place") {
  const LayerCounts counts = counts_of({"embedding", "embedding", "a", "b", "mtp", "lm_head", "loss"});
  CHECK(counts.embedding == 2);
  CHECK(counts.blocks == 2);
  CHECK(counts.predictors == 1);
  CHECK(counts.head == 2);
  CHECK_FALSE(counts.predictors_last);
  CHECK(counts_of({"a", "head", "predictor"}).predictors_last);
  CHECK(counts_of({"embedding", "a", "embedding", "head", "a", "head"}).blocks == 4);  // an encoder and a decoder
  CHECK(counts_of({"embedding", "embedding"}).blocks == 0);
  CHECK(counts_of({"head"}).head == 1);
}

TEST_CASE("an even cut shares the blocks, or the blocks and what the ends weigh") {
  const std::vector<std::string> kinds{"embedding", "a", "a", "a", "a", "a", "a", "head", "predictor"};
  CHECK(even_layers_of(kinds, 2) == std::vector<int>{4, 5});
  CHECK(even_layers_of(kinds, 4).empty());
  CHECK(even_layers_of(kinds, 4, {1, 1}) == std::vector<int>{2, 2, 2, 3});
  CHECK(even_layers_of(kinds, 3, {1, 1, 1}) == std::vector<int>{3, 3, 3});
  CHECK(even_layers_of(kinds, 7, {1, 0}) == std::vector<int>{1, 1, 1, 1, 1, 1, 3});
  CHECK(even_layers_of({"a", "a", "a"}, 4, {1, 0}).empty());  // a first stage without a layer
  CHECK(even_layers_of(kinds, 0).empty());
  CHECK(even_layers_of({"a", "a", "a", "head", "loss"}, 3) == std::vector<int>{1, 1, 3});
}

}  // namespace
}  // namespace debubble
