// Weights, gradients and optimizer state by precision and sharding.
#include "cost_models/transformer/layer_memory.hpp"
#include "sim/core/transformer.hpp"
#include "tests/memory/models.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

double decimal_gigabytes(const TrainingStates& states) {
  return std::round(10 * static_cast<double>(states.weights + states.gradients + states.optimizer) / 1e9) / 10;
}

// Rajbhandari et al., SC 2020, figure 1: 7.5 B numbers on 64 ranks, 16-bit gradients.
TEST_CASE("ZeRO's stages: 120, 31.4, 16.6 and 1.9 GB") {
  TrainingSetup setup;
  setup.gradients = NumberFormat::kBf16;
  const std::vector<double> expected{120, 31.4, 16.6, 1.9};
  for (int level = 0; level <= 3; ++level) {
    setup.parallel.zero = level;
    CHECK(decimal_gigabytes(training_states(7'500'000'000, setup, 64)) == expected.at(static_cast<std::size_t>(level)));
  }
}

TEST_CASE("Megatron's distributed optimizer: 6 + 12 / d bytes per number, without it 18") {
  TrainingSetup setup;
  const auto bytes = [&](std::int64_t ranks) {
    const TrainingStates states = training_states(1200, setup, ranks);
    return states.weights + states.gradients + states.optimizer;
  };
  CHECK(bytes(8) == 18 * 1200);
  setup.parallel.zero = 1;
  CHECK(bytes(1) == 18 * 1200);
  CHECK(bytes(2) == 12 * 1200);
  CHECK(bytes(8) == 6 * 1200 + 12 * 1200 / 8);
  CHECK(bytes(7) == 6 * 1200 + 2058);  // 14400 / 7, rounded up
}

TEST_CASE("32-bit training needs no second copy of the weights") {
  TrainingSetup setup;
  setup.weights = setup.gradients = NumberFormat::kFp32;
  setup.master_weights = false;
  const TrainingStates states = training_states(1000, setup, 1);
  CHECK(states.weights == 4000);
  CHECK(states.gradients == 4000);
  CHECK(states.optimizer == 8000);
  setup.moments = 1;
  CHECK(training_states(1000, setup, 1).optimizer == 4000);
}

TEST_CASE("context ranks hold the same weights and share the optimizer's state, too") {
  TrainingSetup setup = llama(2, 256, 512, 2, 1, 64);
  setup.parallel.zero = 1;
  setup.parallel.data = 2;
  const LayerPlace block{LayerPlace::Kind::kBlock, 0, false};
  const Bytes alone = layer_memory(setup, block).optimizer;
  setup.parallel.context = 4;
  CHECK(layer_memory(setup, block).optimizer == alone / 4);
}

TEST_CASE("experts are split over expert ranks and replicated on the rest of the data ranks") {
  TrainingSetup setup = deepseek(2, 256, 512, {16, 2, 64, 64}, 1024, 64);
  setup.parallel.zero = 1;
  setup.parallel.data = 8;
  setup.parallel.expert = 4;
  const LayerPlace block{LayerPlace::Kind::kBlock, 1, true};
  const RankParameters numbers = rank_parameters(setup, block);
  CHECK(numbers.experts == 4 * 3 * 256 * 64);
  CHECK(numbers.dense == block_parameters(setup.shape, true) - 16 * 3 * 256 * 64);
  const ModelledMemory memory = layer_memory(setup, block);
  CHECK(memory.weights == 2 * (numbers.dense + numbers.experts));
  CHECK(memory.gradients == 4 * (numbers.dense + numbers.experts));
  CHECK(memory.optimizer == 12 * numbers.dense / 8 + 12 * numbers.experts / 2);
}

TEST_CASE("tensor ranks share the products' weights, norms and biases behind them are on each") {
  TrainingSetup setup = gpt(2, 512, 8, 64, 1);
  const LayerPlace block{LayerPlace::Kind::kBlock, 0, false};
  CHECK(rank_parameters(setup, block).dense == 12 * 512 * 512 + 13 * 512);
  setup.parallel.tensor = 4;
  // Two norms of 2 h, two biases of h; the rest is biases of 3 h and 4 h, and the weights.
  CHECK(rank_parameters(setup, block).dense == 6 * 512 + (12 * 512 * 512 + 7 * 512) / 4);
}

TEST_CASE("the embedding is on the first stage, head and last norm on the last, and tied weights on both") {
  TrainingSetup setup = gpt(2, 512, 8, 64, 1);
  const LayerPlace embedding{LayerPlace::Kind::kEmbedding, 0, false};
  const LayerPlace head{LayerPlace::Kind::kHead, 0, false};
  CHECK(rank_parameters(setup, embedding).dense == (51200 + 64) * 512);
  CHECK(rank_parameters(setup, head).dense == 2 * 512);  // one stage has both
  setup.parallel.pipeline = 2;
  CHECK(rank_parameters(setup, head).dense == 2 * 512 + 51200 * 512);
  setup.parallel.pipeline = 1;
  setup.shape.tied_embedding = false;
  CHECK(rank_parameters(setup, head).dense == 2 * 512 + 51200 * 512);
}

TEST_CASE("a vocabulary is filled up to 128 rows per tensor rank") {
  TrainingSetup setup = gpt(2, 512, 8, 64, 1);
  setup.shape.vocabulary = 50257;
  CHECK(padded_vocabulary(setup) == 50304);
  setup.parallel.tensor = 8;
  CHECK(padded_vocabulary(setup) == 51200);
}

// PyTorch's fully_shard: 16-bit gradients and their 32-bit copy for the reduce-scatter; this layer's 16-bit weights and
// the next one's.
TEST_CASE("what ZeRO shards between uses is whole while its layer runs") {
  TrainingSetup setup = gpt(2, 512, 8, 64, 1);
  setup.parallel.data = 4;
  const LayerPlace block{LayerPlace::Kind::kBlock, 0, false};
  setup.parallel.zero = 1;
  const Bytes workspace = layer_memory(setup, block).workspace;
  const std::int64_t numbers = rank_parameters(setup, block).dense;
  setup.parallel.zero = 2;
  CHECK(layer_memory(setup, block).workspace == workspace + (2 + 4) * numbers);
  setup.parallel.zero = 3;
  CHECK(layer_memory(setup, block).workspace == workspace + (2 + 4 + 2 * 2) * numbers);
  setup.whole_during_step = true;
  CHECK(layer_memory(setup, block).workspace == workspace + 2 * numbers);
}

TEST_CASE("16-bit gradients that stay: 2 bytes per number more, on every rank of ZeRO-1") {
  TrainingSetup setup;
  setup.parallel.zero = 1;
  const TrainingStates freed = training_states(1200, setup, 8);
  setup.keeps_low_gradients = true;
  const TrainingStates kept = training_states(1200, setup, 8);
  CHECK(freed.gradients == 4 * 1200);
  CHECK(kept.gradients == (4 + 2) * 1200);
  CHECK(kept.weights == freed.weights);
  CHECK(kept.optimizer == freed.optimizer);
  setup.gradients = NumberFormat::kBf16;
  CHECK(training_states(1200, setup, 8).gradients == (2 + 2) * 1200);
}

TEST_CASE("moments and master weights in 16 bits or none: 12, 10, 8, 6, 4 bytes per number") {
  TrainingSetup setup;
  CHECK(training_states(1200, setup, 1).optimizer == 12 * 1200);
  setup.moment_format = NumberFormat::kBf16;
  CHECK(training_states(1200, setup, 1).optimizer == 10 * 1200);
  setup.second_format = NumberFormat::kBf16;
  CHECK(training_states(1200, setup, 1).optimizer == 8 * 1200);
  setup.master_format = NumberFormat::kBf16;
  CHECK(training_states(1200, setup, 1).optimizer == 6 * 1200);
  setup.master_weights = false;
  CHECK(training_states(1200, setup, 1).optimizer == 4 * 1200);
}

TEST_CASE("Muon keeps one moment of a block's matrices and two of norms, router included, embedding and head not") {
  TrainingSetup setup = llama(2, 256, 512, 2, 8, 64);
  setup.shape.experts = 4;
  setup.shape.experts_per_token = 2;
  setup.shape.expert_feed_forward = 128;
  setup.matrix_momentum = true;
  const LayerPlace block{LayerPlace::Kind::kBlock, 0, true};
  const RankParameters numbers = rank_parameters(setup, block);
  const RankParameters matrices = matrix_parameters(setup, block);
  CHECK(matrices.dense == numbers.dense - 2 * 256);
  CHECK(matrices.experts == numbers.experts);
  CHECK(layer_memory(setup, block).optimizer == 8 * (numbers.dense + numbers.experts) + 4 * 2 * 256);
  setup.moment_format = NumberFormat::kBf16;
  CHECK(layer_memory(setup, block).optimizer == 6 * (numbers.dense + numbers.experts) + 6 * 2 * 256);
  const LayerPlace head{LayerPlace::Kind::kHead, 0, false};
  CHECK(layer_memory(setup, head).optimizer == 12 * rank_parameters(setup, head).dense);
}

TEST_CASE("32-bit weights under 16-bit products: 16 bytes per number, and each microbatch keeps its cast matrices") {
  TrainingSetup setup = llama(2, 256, 512, 2, 8, 64);
  const LayerPlace block{LayerPlace::Kind::kBlock, 0, false};
  const ModelledMemory usual = layer_memory(setup, block);
  setup.weights = NumberFormat::kFp32;
  setup.master_weights = false;
  const ModelledMemory alone = layer_memory(setup, block);
  const std::int64_t numbers = rank_parameters(setup, block).dense;
  CHECK(alone.weights + alone.gradients + alone.optimizer == 16 * numbers);
  CHECK(alone.activation == usual.activation + 2 * (numbers - 2 * 256));
  setup.recompute = Recompute::kFull;
  CHECK(layer_memory(setup, block).activation == usual.checkpoint);
}

}  // namespace
}  // namespace debubble::testing
