// What 8-bit matmuls keep for their backwards, and what recomputation by module gives up: bytes per token, and the ops
// that run again.
#include "cost_models/transformer/layer_memory.hpp"
#include "cost_models/transformer/layer_ops.hpp"
#include "tests/memory/models.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

constexpr std::int64_t kTokenCount = 64;
constexpr std::int64_t kWidth = 256;

LayerPlace dense_block() { return {LayerPlace::Kind::kBlock, 0, false}; }
LayerPlace expert_block() { return {LayerPlace::Kind::kBlock, 1, true}; }

// 16 experts of 96, 2 per token, shared ones of 160; 128 heads of 128 + 64 and 128, latents of 1536 and 512 + 64.
TrainingSetup latent_model() { return deepseek(2, kWidth, 512, {16, 2, 96, 160}, 1024, kTokenCount); }

TrainingSetup with_modules(TrainingSetup setup, const std::vector<bool RecomputeModules::*>& modules) {
  setup.recompute = Recompute::kSelective;
  setup.modules.core_attn = false;
  for (bool RecomputeModules::*module : modules) setup.modules.*module = true;
  return setup;
}

Bytes per_token(const TrainingSetup& setup, const LayerPlace& place) {
  return layer_memory(setup, place).activation / kTokenCount;
}

// Names of the ops that a module's recomputation runs again.
std::vector<std::string> run_again(const TrainingSetup& setup, const LayerPlace& place) {
  std::vector<std::string> names;
  for (const LayerOp& op : layer_ops(setup, place)) {
    if (op.recompute) names.push_back(op.name);
  }
  return names;
}

TEST_CASE("8-bit matmuls keep their inputs in 8 bits, attention and activation functions theirs in 16") {
  TrainingSetup setup = llama(2, kWidth, 512, 2, 1, kTokenCount);
  // Norms' inputs and outputs, queries, keys and values, sums of rows, attention's result, both halves of up, its
  // product.
  CHECK(per_token(setup, dense_block()) ==
        2 * (2 + 2) * kWidth + 2 * (256 + 128 + 128) + 4 * 2 + 2 * 256 + 2 * 1024 + 2 * 512);
  setup.compute = NumberFormat::kFp8;
  CHECK(per_token(setup, dense_block()) ==
        2 * (2 + 1) * kWidth + 2 * (256 + 128 + 128) + 4 * 2 + (2 + 1) * 256 + 2 * 1024 + 512);
}

TEST_CASE("8-bit latent attention and experts: each matmul has its own copy, the router keeps 16 bits") {
  TrainingSetup setup = latent_model();
  setup.compute = NumberFormat::kFp8;
  constexpr std::int64_t kAttention = (2 + 2 * 1) * kWidth + (2 + 1) * 1536 + 2 * (512 + 64) + 512 +
                                      2 * 128 * (192 + 192 + 128) + (2 + 1) * 128 * 128 + 4 * 128;
  CHECK(per_token(setup, dense_block()) == kAttention + (2 + 1) * kWidth + (4 + 1) * 512);
  constexpr std::int64_t kRouted = 2 * (kWidth + (4 + 1) * 96);
  CHECK(per_token(setup, expert_block()) == kAttention + 4 * kWidth + 9 * 16 + kRouted + kWidth + (4 + 1) * 160);
}

TEST_CASE("the head stays in 16 bits") {
  TrainingSetup setup = llama(2, kWidth, 512, 2, 1, kTokenCount);
  const LayerPlace head{LayerPlace::Kind::kHead, 0, false};
  const Bytes wide = layer_memory(setup, head).activation;
  setup.compute = NumberFormat::kFp8;
  CHECK(layer_memory(setup, head).activation == wide);
  CHECK(eight_bit_weights(setup, head) == 0);
}

TEST_CASE("8-bit copies of the weights: 2 bytes per number of a matrix, none of norms and router") {
  TrainingSetup setup = latent_model();
  CHECK(eight_bit_weights(setup, expert_block()) == 0);
  const Bytes wide = layer_memory(setup, expert_block()).weights;
  setup.compute = NumberFormat::kFp8;
  const RankParameters numbers = rank_parameters(setup, expert_block());
  const std::int64_t norms = 2 * kWidth + 1536 + 512;
  const std::int64_t matrices = numbers.dense + numbers.experts - norms - kWidth * 16;
  CHECK(eight_bit_weights(setup, expert_block()) == 2 * matrices);
  CHECK(layer_memory(setup, expert_block()).weights == wide + 2 * matrices);
  setup.eight_bit_weights_alone = true;
  CHECK(layer_memory(setup, expert_block()).weights == wide);
}

TEST_CASE("weights that ZeRO-3 fetches for each use have 8-bit copies for as long") {
  TrainingSetup setup = llama(2, kWidth, 512, 2, 1, kTokenCount);
  setup.parallel.data = 4;
  setup.parallel.zero = 3;
  setup.compute = NumberFormat::kFp8;
  const ModelledMemory beside = layer_memory(setup, dense_block());
  setup.eight_bit_weights_alone = true;
  const ModelledMemory alone = layer_memory(setup, dense_block());
  CHECK(beside.weights == alone.weights);
  setup.eight_bit_weights_alone = false;
  CHECK(beside.workspace == alone.workspace + eight_bit_weights(setup, dense_block()));
}

TEST_CASE("modules whose outputs are given up: activation of experts, norms, latent attention's projections") {
  const TrainingSetup none = latent_model();
  const Bytes kept = per_token(none, expert_block());
  const TrainingSetup act = with_modules(none, {&RecomputeModules::moe_act});
  CHECK(per_token(act, expert_block()) == kept - 2 * 2 * 96);
  CHECK(run_again(act, expert_block()) == std::vector<std::string>{"experts activation"});
  const TrainingSetup norms = with_modules(none, {&RecomputeModules::layernorm});
  CHECK(per_token(norms, expert_block()) == kept - 2 * 2 * kWidth);
  CHECK(per_token(norms, dense_block()) == per_token(none, dense_block()) - 2 * kWidth);  // the MLP's is a part of it
  CHECK(run_again(norms, expert_block()).size() == 2);
  const TrainingSetup up = with_modules(none, {&RecomputeModules::mla_up_proj});
  CHECK(per_token(up, expert_block()) == kept - 2 * (1536 + 512) - 2 * 128 * (192 + 192 + 128));
  CHECK(run_again(up, expert_block()) == std::vector<std::string>{"key and value norm", "key and value up",
                                                                  "rotary positions and joining", "query norm",
                                                                  "query up"});
}

TEST_CASE("modules that run again from their inputs: dense MLP, experts, shared experts") {
  const TrainingSetup none = latent_model();
  const TrainingSetup mlp = with_modules(none, {&RecomputeModules::mlp});
  CHECK(per_token(mlp, dense_block()) == per_token(none, dense_block()) - 2 * kWidth - 6 * 512);
  CHECK(per_token(mlp, expert_block()) == per_token(none, expert_block()));
  CHECK(run_again(mlp, dense_block()) ==
        std::vector<std::string>{"norm before the mlp", "mlp up", "mlp activation", "mlp down"});
  const TrainingSetup shared = with_modules(none, {&RecomputeModules::shared_experts});
  CHECK(per_token(shared, expert_block()) == per_token(none, expert_block()) - 6 * 160);
  CHECK(run_again(shared, expert_block()).size() == 3);
  const TrainingSetup moe = with_modules(none, {&RecomputeModules::moe, &RecomputeModules::shared_experts});
  CHECK(per_token(moe, expert_block()) ==
        per_token(none, expert_block()) - 9 * 16 - 2 * (2 * kWidth + 6 * 96) - 6 * 160);
  // Nothing runs twice where one module holds the other.
  std::vector<std::string> names = run_again(moe, expert_block());
  CHECK(std::count(names.begin(), names.end(), "shared experts up") == 1);
  CHECK(std::count(names.begin(), names.end(), "router") == 1);
  CHECK(run_again(moe, dense_block()).empty());
}

TEST_CASE("what is made again is there while the layer's backward runs") {
  const TrainingSetup none = deepseek(2, 8192, 512, {16, 8, 96, 160}, 1024, kTokenCount);
  const Bytes before = layer_memory(none, expert_block()).workspace;
  const TrainingSetup act = with_modules(none, {&RecomputeModules::moe_act});
  CHECK(layer_memory(act, expert_block()).workspace == before + kTokenCount * 8 * 2 * 96);
}

TEST_CASE("full recomputation knows no modules") {
  TrainingSetup setup = latent_model();
  setup.recompute = Recompute::kFull;
  const ModelledMemory usual = layer_memory(setup, expert_block());
  setup.modules.moe = setup.modules.mla_up_proj = true;
  CHECK(layer_memory(setup, expert_block()).activation == usual.activation);
  CHECK(layer_memory(setup, expert_block()).workspace == usual.workspace);
  CHECK(run_again(setup, expert_block()).size() > 10);
}

}  // namespace
}  // namespace debubble::testing
