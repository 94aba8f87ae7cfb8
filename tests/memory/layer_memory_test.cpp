// Layers beyond GPT: latent attention, experts, prediction modules, buffers.
#include "cost_models/transformer/layer_memory.hpp"

#include "cost_models/transformer/layer_ops.hpp"
#include "tests/memory/models.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

constexpr std::int64_t kTokens = 64;
constexpr std::int64_t kHidden = 256;

LayerPlace block(bool moe) { return {LayerPlace::Kind::kBlock, moe ? 1 : 0, moe}; }

TrainingSetup small_deepseek() { return deepseek(2, kHidden, 512, {16, 2, 96, 160}, 1024, kTokens); }

// Heads of 128 + 64 for queries and keys, 128 for values; latents of 1536 and of 512 beside 64 positions.
constexpr std::int64_t kLatentAttention =
    4 * kHidden + 4 * 1536 + 2 * (512 + 64) + 2 * 512 + 2 * 128 * (192 + 192 + 128 + 128) + 4 * 128;

TEST_CASE("predictors before the head, apart from it: tables, the norm behind the last block, output layers") {
  TrainingSetup setup;
  TransformerShape& shape = setup.shape;
  shape.layers = 2;
  shape.hidden = shape.feed_forward = 64;
  shape.heads = shape.kv_heads = 4;
  shape.head_size = 16;
  shape.vocabulary = 256;
  shape.norm = NormKind::kRmsNorm;
  shape.biases = false;
  shape.predicted_tokens = 2;
  setup.sequence = 16;
  setup.parallel.pipeline = 4;
  const auto numbers = [&](LayerPlace::Kind kind, std::int64_t number) {
    return rank_parameters(setup, {kind, number, false}).dense;
  };
  const std::int64_t table = 256 * 64;
  for (const bool tied : {false, true}) {
    shape.tied_embedding = tied;
    shape.predictor_place = PredictorPlace::kBehindHead;
    const std::int64_t block = numbers(LayerPlace::Kind::kBlock, 1);
    const std::int64_t head = numbers(LayerPlace::Kind::kHead, 0);
    const std::int64_t second = numbers(LayerPlace::Kind::kPredictor, 1);
    CHECK(head == table + 64);
    CHECK(numbers(LayerPlace::Kind::kPredictor, 0) == second + (tied ? 0 : table));
    for (const PredictorPlace place : {PredictorPlace::kWithHead, PredictorPlace::kApart}) {
      shape.predictor_place = place;
      const bool apart = place == PredictorPlace::kApart;
      CHECK(numbers(LayerPlace::Kind::kBlock, 0) == block);
      CHECK(numbers(LayerPlace::Kind::kBlock, 1) == block + 64);
      CHECK(numbers(LayerPlace::Kind::kHead, 0) == table);
      CHECK(numbers(LayerPlace::Kind::kPredictor, 0) == second + (tied && !apart ? 0 : table));
      CHECK(layer_places(shape).back().kind == LayerPlace::Kind::kHead);
      CHECK(output_layers(shape, {LayerPlace::Kind::kHead, 0, false}) == (apart ? 3 : 1));
    }
  }
}

TEST_CASE("latent attention keeps its narrow tensors, full queries, keys and values, and its result") {
  const TrainingSetup setup = small_deepseek();
  CHECK(layer_memory(setup, block(false)).activation == kTokens * (kLatentAttention + 4 * kHidden + 6 * 512));
}

TEST_CASE("experts keep their tokens' copies, shared experts work on all tokens") {
  const TrainingSetup setup = small_deepseek();
  const std::int64_t router = 9 * 16;
  const std::int64_t routed = 2 * (2 * kHidden + 6 * 96);
  const std::int64_t shared = 6 * 160;
  CHECK(layer_memory(setup, block(true)).activation ==
        kTokens * (kLatentAttention + 4 * kHidden + router + routed + shared));
}

TEST_CASE("four copies of the routed tokens and two of all are there at once") {
  const TrainingSetup setup = deepseek(2, 8192, 512, {16, 8, 96, 160}, 1024, kTokens);
  CHECK(layer_memory(setup, block(true)).workspace == kTokens * (4 * 8 * 2 * 8192 + 2 * 2 * 8192));
}

TEST_CASE("the busiest expert rank, or a capacity, says how many tokens' copies there are") {
  TrainingSetup setup = small_deepseek();
  const Bytes even = layer_memory(setup, block(true)).activation;
  const Bytes routed = kTokens * 2 * (2 * kHidden + 6 * 96);
  setup.expert_imbalance = 1.5;
  CHECK(layer_memory(setup, block(true)).activation == even + routed / 2);
  setup.capacity_factor = 2;
  CHECK(layer_memory(setup, block(true)).activation == even + routed);
}

TEST_CASE("context ranks keep their part of the sequence, and the ring a copy more") {
  TrainingSetup setup = llama(2, kHidden, 512, 2, 1, kTokens);
  const Bytes alone = layer_memory(setup, block(false)).activation;
  setup.parallel.context = 4;
  CHECK(layer_memory(setup, block(false)).activation == alone / 4 + kTokens / 4 * 2 * kHidden);
}

TEST_CASE("full recomputation holds one block's activations while it runs") {
  TrainingSetup setup = llama(2, kHidden, 512, 2, 1, kTokens);
  const ModelledMemory all = layer_memory(setup, block(false));
  setup.recompute = Recompute::kFull;
  const ModelledMemory recomputed = layer_memory(setup, block(false));
  CHECK(recomputed.activation == kTokens * 2 * kHidden);
  CHECK(recomputed.activation_tensors == 1);
  CHECK(recomputed.workspace == all.activation + all.workspace);
  CHECK(recomputed.checkpoint == kTokens * 2 * kHidden);
}

TEST_CASE("an unfused loss keeps 32 bits per logit, a fused one 16") {
  TrainingSetup setup = llama(2, kHidden, 512, 2, 1, kTokens);
  const LayerPlace head{LayerPlace::Kind::kHead, 0, false};
  CHECK(layer_memory(setup, head).activation == kTokens * (4 * kHidden + 4 * 128256));
  CHECK(layer_memory(setup, head).workspace == kTokens * 2 * 128256);
  setup.fused_loss = true;
  CHECK(layer_memory(setup, head).activation == kTokens * (4 * kHidden + 2 * 128256));
  CHECK(layer_memory(setup, head).workspace == kTokens * 2 * kHidden);
}

Bytes buffer(const ModelledMemory& memory, const std::string& name) {
  const auto found = std::find_if(memory.buffers.begin(), memory.buffers.end(),
                                  [&](const SharedBuffer& one) { return one.name == name; });
  return found == memory.buffers.end() ? -1 : found->bytes;
}

TEST_CASE("one empty weight gradient per shape, where products add to 32-bit gradients themselves") {
  TrainingSetup setup = llama(2, kHidden, 512, 2, 1, kTokens);
  const ModelledMemory memory = layer_memory(setup, block(false));
  CHECK(buffer(memory, "512x256") == 512 * 256 * 2);    // queries, keys, values
  CHECK(buffer(memory, "1024x256") == 1024 * 256 * 2);  // gate and up
  CHECK(buffer(memory, "256x512") == 512 * 256 * 2);
  CHECK(buffer(layer_memory(setup, {LayerPlace::Kind::kHead, 0, false}), "128256x256") == 128256 * 256 * 2);
  setup.gradients = NumberFormat::kBf16;
  CHECK(buffer(layer_memory(setup, block(false)), "512x256") == -1);
}

TEST_CASE("the head gathers its input where tokens are split over tensor ranks") {
  TrainingSetup setup = llama(2, kHidden, 512, 2, 2, kTokens);
  const LayerPlace head{LayerPlace::Kind::kHead, 0, false};
  CHECK(buffer(layer_memory(setup, head), "gathered input") == -1);
  setup.parallel.tensor = 2;
  setup.parallel.sequence = true;
  CHECK(buffer(layer_memory(setup, head), "gathered input") == kTokens * 2 * kHidden);
  CHECK(layer_memory(setup, block(false)).output == kTokens / 2 * 2 * kHidden);
}

TEST_CASE("a prediction module is a projection of two normed inputs, a block and a head without weights") {
  TrainingSetup setup = small_deepseek();
  setup.shape.predicted_tokens = 1;
  const LayerPlace predictor{LayerPlace::Kind::kPredictor, 0, true};
  const LayerPlace head{LayerPlace::Kind::kHead, 0, false};
  const Bytes parts = layer_memory(setup, block(true)).activation + layer_memory(setup, head).activation;
  CHECK(layer_memory(setup, predictor).activation == parts + kTokens * (8 + 8 * kHidden));
  setup.parallel.pipeline = 1;
  CHECK(rank_parameters(setup, predictor).dense ==
        rank_parameters(setup, block(true)).dense + 3 * kHidden + 2 * kHidden * kHidden);
  setup.parallel.pipeline = 2;  // it looks up tokens on the last stage, too
  CHECK(rank_parameters(setup, predictor).dense ==
        rank_parameters(setup, block(true)).dense + 3 * kHidden + 2 * kHidden * kHidden + 1024 * kHidden);
}

}  // namespace
}  // namespace debubble::testing
