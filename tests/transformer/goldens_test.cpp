// Published figures of transformer sizes and FLOPs: Narayanan et al., SC 2021 (table 1), Korthikanti et al., MLSys 2023
// (table 5); and closed forms that hold for every GPT.
#include "cost_models/transformer/kernel_time.hpp"
#include "cost_models/transformer/layer_ops.hpp"
#include "cost_models/transformer/model_catalog.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

TransformerShape model(const std::string& name) {
  for (const CatalogModel& known : model_catalog()) {
    if (known.shape.name == name) return known.shape;
  }
  FAIL("no model " << name);
  return {};
}

TrainingSetup setup_of(const TransformerShape& shape, std::int64_t sequence, std::int64_t batch = 1) {
  TrainingSetup setup;
  setup.shape = shape;
  setup.sequence = sequence;
  setup.microbatch_size = batch;
  setup.flash_attention = false;
  return setup;
}

double billions(const TransformerShape& shape) { return static_cast<double>(model_parameters(shape)) / 1e9; }

double sample_flops(const TrainingSetup& setup) {
  double sum = 0;
  for (const LayerPlace& place : layer_places(setup.shape)) sum += model_flops(setup, place);
  return sum;
}

double ops_flops(const std::vector<LayerOp>& ops, LayerOp::Phase phase) {
  double sum = 0;
  for (const LayerOp& op : ops) {
    if (op.phase == phase) sum += op.flops;
  }
  return sum;
}

}  // namespace

TEST_CASE("parameters of the SC 2021 models are 12 L h^2 (1 + 13/(12h) + (V + s)/(12Lh))") {
  for (const auto& [name, published] :
       {std::pair{"gpt-145b-sc21", 145.62}, std::pair{"gpt-530b-sc21", 529.6}, std::pair{"gpt-1t-sc21", 1008.0}}) {
    const char* const preset = name;
    CAPTURE(preset);
    const TransformerShape shape = model(name);
    CHECK(billions(shape) == doctest::Approx(published).epsilon(0.0001));
    const auto layers = static_cast<double>(shape.layers);
    const auto hidden = static_cast<double>(shape.hidden);
    const double closed =
        12 * layers * hidden * hidden *
        (1 + 13 / (12 * hidden) + static_cast<double>(shape.vocabulary + shape.positions) / (12 * layers * hidden));
    // The formula leaves out the last norm.
    CHECK(static_cast<double>(model_parameters(shape)) == doctest::Approx(closed + 2 * hidden).epsilon(1e-12));
    CHECK(block_parameters(shape) == 12 * shape.hidden * shape.hidden + 13 * shape.hidden);
  }
}

TEST_CASE("parameters of models with experts and latent attention are the published ones") {
  CHECK(billions(model("mixtral-8x7b")) == doctest::Approx(46.7).epsilon(0.001));
  CHECK(billions(model("deepseek-v2")) == doctest::Approx(235.7).epsilon(0.001));
  TransformerShape v3 = model("deepseek-v3");
  v3.predicted_tokens = 0;
  CHECK(billions(v3) == doctest::Approx(671.0).epsilon(0.001));
  CHECK(billions(model("llama3-405b")) == doctest::Approx(405.85).epsilon(0.0001));
}

TEST_CASE("a GPT layer's forward is 24bsh^2 + 4bs^2h, its input gradient 24 and 8, its weight gradient 24bsh^2") {
  const TransformerShape shape = model("gpt3-175b");
  for (const std::int64_t batch : {1, 4}) {
    const std::vector<LayerOp> ops = layer_ops(setup_of(shape, 2048, batch), {LayerPlace::Kind::kBlock, 0, false});
    const auto hidden = static_cast<double>(shape.hidden);
    const double tokens = 2048.0 * static_cast<double>(batch);
    const double weights = 24 * tokens * hidden * hidden;
    const double pairs = 4 * tokens * 2048 * hidden;
    CHECK(ops_flops(ops, LayerOp::Phase::kForward) == weights + pairs);
    CHECK(ops_flops(ops, LayerOp::Phase::kInputGrad) == weights + 2 * pairs);
    CHECK(ops_flops(ops, LayerOp::Phase::kWeightGrad) == weights);
  }
}

TEST_CASE("fused attention skips what the mask hides and computes scores twice: 2bs^2h forward, 5bs^2h backward") {
  TrainingSetup setup = setup_of(model("gpt3-175b"), 2048);
  setup.flash_attention = true;
  double forward = 0;
  double backward = 0;
  for (const LayerOp& op : layer_ops(setup, {})) {
    if (op.kind != LayerOp::Kind::kAttention) continue;
    (op.phase == LayerOp::Phase::kForward ? forward : backward) += op.flops;
  }
  const double pairs = 2048.0 * 2048.0 * 12288.0;
  CHECK(forward == 2 * pairs);
  CHECK(backward == 5 * pairs);
}

TEST_CASE("recomputation adds one forward, or attention's two products") {
  TrainingSetup setup = setup_of(model("gpt3-175b"), 2048);
  const double plain = ops_flops(layer_ops(setup, {}), LayerOp::Phase::kInputGrad);
  const double forward = ops_flops(layer_ops(setup, {}), LayerOp::Phase::kForward);
  setup.recompute = Recompute::kFull;
  CHECK(ops_flops(layer_ops(setup, {}), LayerOp::Phase::kInputGrad) == plain + forward);
  setup.recompute = Recompute::kSelective;
  const double selective = ops_flops(layer_ops(setup, {}), LayerOp::Phase::kInputGrad) - plain;
  CHECK(selective == 4.0 * 2048 * 2048 * 12288);
  // s / (6h + s) of the forward: 2.7 % of GPT-3's, 1.6 % of the 530 B model's.
  CHECK(selective / forward == doctest::Approx(0.027).epsilon(0.02));
  setup.shape = model("gpt3-530b");
  const double large = ops_flops(layer_ops(setup, {}), LayerOp::Phase::kInputGrad);
  setup.recompute = Recompute::kNone;
  const double without = ops_flops(layer_ops(setup, {}), LayerOp::Phase::kInputGrad);
  CHECK((large - without) / ops_flops(layer_ops(setup, {}), LayerOp::Phase::kForward) ==
        doctest::Approx(0.016).epsilon(0.03));
}

TEST_CASE("an iteration is 72 B s L h^2 (1 + s/(6h) + V/(12Lh)), and utilisation the published one") {
  struct Row {
    const char* name;
    double gpus, batch, seconds, percent, full_seconds, full_percent;
  };
  // Korthikanti et al., table 5, on A100s of 312 TFLOP/s: selective recomputation with sequence parallelism, and full.
  const Row rows[] = {{"gpt3-22b", 8, 4, 1.10, 41.5, 1.42, 32.2},
                      {"gpt3-175b", 64, 64, 13.75, 51.35, 18.13, 38.9},
                      {"gpt3-530b", 280, 280, 37.83, 56.0, 49.05, 43.2},
                      {"gpt3-1t", 512, 512, 71.49, 56.3, 94.42, 42.6}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const TransformerShape shape = model(row.name);
    const double flops = sample_flops(setup_of(shape, 2048));
    const auto layers = static_cast<double>(shape.layers);
    const auto hidden = static_cast<double>(shape.hidden);
    const double closed =
        72.0 * 2048 * layers * hidden * hidden * (1 + 2048 / (6 * hidden) + 51200 / (12 * layers * hidden));
    CHECK(flops == doctest::Approx(closed).epsilon(1e-12));
    const double peak = row.gpus * 312e12;
    // Times are rounded to 0.01 s, and the last digit of the percentages is cut.
    const auto check = [&](double seconds, double percent) {
      CAPTURE(seconds);
      CHECK(std::abs(100 * flops * row.batch / (seconds * peak) - percent) < 0.1 + percent * 0.005 / seconds);
    };
    check(row.seconds, row.percent);
    check(row.full_seconds, row.full_percent);
  }
}

TEST_CASE("the SC 2021 table's TFLOP/s give the step times that its formula implies") {
  struct Row {
    const char* name;
    double gpus, batch, teraflops, seconds;
  };
  // With full recomputation a block's forward runs twice: 96 for 72, and the head is not recomputed.
  const Row rows[] = {{"gpt-145b-sc21", 1536, 2304, 148, 24.8},
                      {"gpt-530b-sc21", 2520, 2520, 163, 54.1},
                      {"gpt-1t-sc21", 3072, 3072, 163, 102.6}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    TrainingSetup setup = setup_of(model(row.name), 2048);
    setup.recompute = Recompute::kFull;
    double flops = 0;
    for (const LayerPlace& place : layer_places(setup.shape)) {
      for (const LayerOp& op : layer_ops(setup, place)) flops += op.flops;
    }
    const double seconds = flops * row.batch / (row.gpus * row.teraflops * 1e12);
    CHECK(std::abs(seconds - row.seconds) < 0.06);
  }
}

TEST_CASE("the head in units of a 12h^2 layer: V/(12h + 2s) of its FLOPs, V/(12h + 13) of its parameters") {
  struct Row {
    std::int64_t hidden, vocabulary, sequence;
    double flops, parameters;
  };
  const Row rows[] = {{12288, 51200, 2048, 0.34, 0.35},
                      {4096, 32000, 4096, 0.56, 0.65},
                      {4096, 128256, 8192, 1.96, 2.61},
                      {8192, 128256, 8192, 1.12, 1.31}};
  for (const Row& row : rows) {
    CAPTURE(row.hidden);
    TransformerShape shape = model_families().front();
    shape.layers = 1;
    shape.hidden = row.hidden;
    shape.heads = row.hidden / 128;
    shape.vocabulary = row.vocabulary;
    complete_shape(shape);
    const TrainingSetup setup = setup_of(shape, row.sequence);
    const double head = model_flops(setup, {LayerPlace::Kind::kHead, 0, false});
    const double block = model_flops(setup, {LayerPlace::Kind::kBlock, 0, false});
    CHECK(head / block == doctest::Approx(row.flops).epsilon(0.01));
    const auto norm = static_cast<double>(2 * shape.hidden);
    CHECK((static_cast<double>(head_parameters(shape)) - norm) / static_cast<double>(block_parameters(shape)) ==
          doctest::Approx(row.parameters).epsilon(0.01));
  }
}

TEST_CASE("wave quantisation of the A100 and the H100") {
  const Hardware& a100 = *find_hardware("a100-80");
  const auto a100_share = [&](std::int64_t rows, std::int64_t columns) {
    return wave_efficiency(1, rows, columns, a100);
  };
  CHECK(std::abs(a100_share(2048, 4096) - 0.790) < 0.0006);
  CHECK(std::abs(a100_share(2048, 12288) - 0.889) < 0.0006);
  CHECK(std::abs(a100_share(4096, 4096) - 0.948) < 0.0006);
  CHECK(std::abs(a100_share(8192, 8192) - 0.998) < 0.0006);
  CHECK(std::abs(a100_share(1024, 4096) - 0.593) < 0.0006);
  CHECK(std::abs(a100_share(512, 4096) - 0.593) < 0.0006);
  const Hardware& h100 = *find_hardware("h100");
  for (const auto& [rows, columns] : {std::pair{2048, 4096}, std::pair{2048, 12288}, std::pair{4096, 4096},
                                      std::pair{8192, 8192}, std::pair{1024, 4096}}) {
    CHECK(std::abs(wave_efficiency(1, rows, columns, h100) - 0.970) < 0.0006);
  }
  CHECK(std::abs(wave_efficiency(1, 512, 4096, h100) - 0.485) < 0.0006);
}

}  // namespace debubble
