// Activations as Korthikanti et al. (arXiv 2205.05198) print them, out of whole simulated pipelines.
#include "cost_models/transformer/layer_memory.hpp"
#include "tests/memory/models.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

namespace debubble::testing {
namespace {

struct Published {
  const char* name = "";
  std::int64_t layers = 0, hidden = 0, heads = 0;
  int stages = 1, chunks = 1, samples = 1;
  double none = 0, both = 0;    // GiB on the first device: all kept; sequence parallel with selective recomputation
  double states = 0;            // GiB at 18 bytes per number of 12 h^2 per layer
  std::vector<double> percent;  // of `none`: sequence parallel, selective, both, full
};

const std::vector<Published>& published() {
  static const std::vector<Published> rows{
      {"22B", 48, 6144, 64, 1, 1, 4, 59.25, 9.5625, 45.5625, {66.77, 49.37, 16.14, 7.59}},
      {"175B", 96, 12288, 96, 8, 3, 1, 66.84375, 12.3515625, 45.5625, {61.96, 56.52, 18.48, 8.70}},
      {"530B", 105, 20480, 128, 35, 3, 1, 114.0234375, 23.076171875, 31.640625, {58.33, 61.90, 20.24, 9.52}},
      {"1T", 128, 25600, 160, 64, 1, 1, 131.25, 26.5625, 32.958984375, {58.33, 61.90, 20.24, 9.52}}};
  return rows;
}

TrainingSetup setup_of(const Published& row, bool sequence, Recompute recompute) {
  TrainingSetup setup = gpt(row.layers, row.hidden, row.heads, 2048, row.samples);
  setup.parallel.tensor = 8;
  setup.parallel.pipeline = row.stages;
  setup.parallel.sequence = sequence;
  setup.recompute = recompute;
  return setup;
}

// What the first device holds when it holds most, of the blocks alone as in the paper.
double first_device_gib(const Published& row, bool sequence, Recompute recompute) {
  const TrainingSetup setup = setup_of(row, sequence, recompute);
  const int stages = row.stages * row.chunks;
  const std::vector<int> partition(static_cast<std::size_t>(stages), static_cast<int>(row.layers) / stages);
  const StageCosts costs = stages_of(blocks_of(setup), partition);
  const Schedule schedule = row.chunks > 1 ? build("interleaved", row.stages, 2 * row.stages, row.chunks)
                                           : build("1f1b", row.stages, 2 * row.stages);
  return static_cast<double>(totals_of(schedule, costs).devices.front().peak_activation) / kGibibyte;
}

TEST_CASE("activations of the first device, in GiB, to the last digit") {
  for (const Published& row : published()) {
    CAPTURE(row.name);
    CHECK(first_device_gib(row, false, Recompute::kNone) == row.none);
    CHECK(first_device_gib(row, true, Recompute::kSelective) == row.both);
  }
}

double rounded_percent(double part, double whole) { return std::round(10000 * part / whole) / 100; }

TEST_CASE("shares of the activations that sequence parallelism and recomputation leave, as printed") {
  for (const Published& row : published()) {
    CAPTURE(row.name);
    const double none = first_device_gib(row, false, Recompute::kNone);
    CHECK(rounded_percent(first_device_gib(row, true, Recompute::kNone), none) == row.percent.at(0));
    CHECK(rounded_percent(first_device_gib(row, false, Recompute::kSelective), none) == row.percent.at(1));
    CHECK(rounded_percent(first_device_gib(row, true, Recompute::kSelective), none) == row.percent.at(2));
    CHECK(rounded_percent(first_device_gib(row, false, Recompute::kFull), none) == row.percent.at(3));
  }
}

TEST_CASE("18 bytes per number: weights, 32-bit gradients and Adam of 12 h^2 per layer") {
  for (const Published& row : published()) {
    CAPTURE(row.name);
    const std::int64_t numbers = 12 * row.hidden * row.hidden * row.layers / (8 * row.stages);
    const TrainingStates states = training_states(numbers, setup_of(row, false, Recompute::kNone), 1);
    CHECK(static_cast<double>(states.weights + states.gradients + states.optimizer) / kGibibyte == row.states);
  }
}

// s b h (34 + 5 a s / h) and its forms; s = 64, b = 3, h = 512, a = 8.
TEST_CASE("a GPT block's activations follow the formulas of the paper") {
  TrainingSetup setup = gpt(2, 512, 8, 64, 3);
  const LayerPlace block{LayerPlace::Kind::kBlock, 0, false};
  const Bytes plane = 64 * 3 * 512;
  const Bytes scores = 5 * 8 * 64 * 64 * 3;
  CHECK(layer_memory(setup, block).activation == 34 * plane + scores);
  setup.parallel.tensor = 4;
  CHECK(layer_memory(setup, block).activation == 16 * plane + scores / 4);  // 10 + 24 / 4
  setup.recompute = Recompute::kSelective;
  CHECK(layer_memory(setup, block).activation == 16 * plane);
  setup.parallel.sequence = true;
  CHECK(layer_memory(setup, block).activation == 34 * plane / 4);
  setup.recompute = Recompute::kNone;
  CHECK(layer_memory(setup, block).activation == (34 * plane + scores) / 4);
  setup.recompute = Recompute::kFull;
  CHECK(layer_memory(setup, block).activation == 2 * plane / 4);
  setup.parallel.sequence = false;
  CHECK(layer_memory(setup, block).activation == 2 * plane);
  setup.parallel.tensor = 1;
  setup.recompute = Recompute::kNone;
  setup.flash_attention = true;
  CHECK(layer_memory(setup, block).activation == 34 * plane + 4 * 8 * 3 * 64);
  setup.dropout = false;
  CHECK(layer_memory(setup, block).activation == 32 * plane + 4 * 8 * 3 * 64);
}

TEST_CASE("zero bubble's W needs 32 bytes per token and hidden number of a GPT block") {
  const TrainingSetup setup = gpt(2, 512, 8, 64, 3);
  CHECK(layer_memory(setup, {LayerPlace::Kind::kBlock, 0, false}).weight_grad_held == 32 * 64 * 3 * 512);
}

TEST_CASE("the head keeps 4 s b h (1 + V / h) / t bytes, and a 16-bit copy of its logits for a while") {
  TrainingSetup setup = gpt(2, 512, 8, 64, 3);
  setup.parallel.tensor = 4;
  setup.parallel.sequence = true;
  const ModelledMemory head = layer_memory(setup, {LayerPlace::Kind::kHead, 0, false});
  CHECK(head.activation == 4 * 64 * 3 * (512 + 51200) / 4);
  CHECK(head.workspace == 2 * 64 * 3 * 51200 / 4);
}

TEST_CASE("the embedding keeps 8 bytes per token, and a mask where there is dropout") {
  TrainingSetup setup = gpt(2, 512, 8, 64, 3);
  CHECK(layer_memory(setup, {LayerPlace::Kind::kEmbedding, 0, false}).activation == 64 * 3 * (8 + 512));
  setup.dropout = false;
  CHECK(layer_memory(setup, {LayerPlace::Kind::kEmbedding, 0, false}).activation == 64 * 3 * 8);
}

// s b h (12 + 4 g / a) + 6 s b f + 4 a b s: 1.063 GiB per block of LLaMA 3 8B at 8192 tokens.
TEST_CASE("a LLaMA block's activations with flash attention and grouped heads") {
  const TrainingSetup setup = llama(32, 4096, 14336, 32, 8, 8192);
  const Bytes activation = layer_memory(setup, {LayerPlace::Kind::kBlock, 0, false}).activation;
  CHECK(activation == 8192 * (13 * 4096 + 6 * 14336 + 4 * 32));
  CHECK(std::round(1000 * static_cast<double>(activation) / kGibibyte) / 1000 == 1.063);
}

}  // namespace
}  // namespace debubble::testing
