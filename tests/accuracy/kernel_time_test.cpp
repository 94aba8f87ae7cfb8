// Kernel times: waves of tiles, the roofline, measured shapes, and what each of them may not do.
#include "cost_models/transformer/kernel_time.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

LayerOp matmul(std::int64_t batch, std::int64_t rows, std::int64_t columns, std::int64_t inner) {
  LayerOp op;
  op.batch = batch;
  op.m = rows;
  op.n = columns;
  op.k = inner;
  op.flops = 2.0 * static_cast<double>(batch * rows) * static_cast<double>(columns) * static_cast<double>(inner);
  op.bytes = 2 * batch * (rows * inner + inner * columns + rows * columns);
  return op;
}

KernelModel a100() {
  KernelModel model;
  model.hardware = *find_hardware("a100");
  model.efficiency = usual_efficiency(model.hardware);
  return model;
}

double share_reached(const LayerOp& op, const KernelModel& model) {
  return op.flops / (static_cast<double>(kernel_time(op, model)) * 1e-9 * model.hardware.half_flops);
}

TEST_CASE("waves of tiles: the table of the reference") {
  struct Row {
    std::int64_t rows, columns;
    double a100, h100;
  };
  // 108 multiprocessors and tiles of 256 x 128; 132 and 128 x 256. Three decimals.
  const std::array<Row, 6> table{{{2048, 4096, .790, .970},
                                  {2048, 12288, .889, .970},
                                  {4096, 4096, .948, .970},
                                  {8192, 8192, .998, .970},
                                  {1024, 4096, .593, .970},
                                  {512, 4096, .593, .485}}};
  Hardware ampere = *find_hardware("a100");
  ampere.tile_rows = 256;
  ampere.tile_columns = 128;
  Hardware hopper = *find_hardware("h100");
  hopper.tile_rows = 128;
  hopper.tile_columns = 256;
  for (const Row& row : table) {
    CAPTURE(row.rows);
    CAPTURE(row.columns);
    CHECK(std::abs(wave_efficiency(1, row.rows, row.columns, ampere) - row.a100) < 0.0006);
    CHECK(std::abs(wave_efficiency(1, row.rows, row.columns, hopper) - row.h100) < 0.0006);
  }
}

TEST_CASE("a batch of products fills waves together") {
  const Hardware hardware = *find_hardware("a100");
  CHECK(wave_efficiency(27, 512, 256, hardware) == doctest::Approx(1.0));  // 27 x 4 tiles on 108 multiprocessors
  CHECK(wave_efficiency(1, 512, 256, hardware) == doctest::Approx(4.0 / 108));
}

TEST_CASE("a better tile never loses to the usual one") {
  const Hardware hardware = *find_hardware("a100");
  for (std::int64_t rows = 64; rows <= 8192; rows += 320) {
    for (std::int64_t columns = 64; columns <= 8192; columns += 448) {
      const double best = best_wave_efficiency(1, rows, columns, hardware);
      REQUIRE(best >= wave_efficiency(1, rows, columns, hardware));
      REQUIRE(best <= 1.0);
    }
  }
}

TEST_CASE("a product's time: peak, waves, inner size, and launch") {
  KernelModel model = a100();
  model.efficiency = Efficiency{};
  const LayerOp op = matmul(1, 8192, 8192, 8192);
  const double seconds = op.flops / (model.hardware.half_flops * best_wave_efficiency(1, 8192, 8192, model.hardware));
  CHECK(kernel_time(op, model) == std::llround(seconds * 1e9));
  model.efficiency.half_k = 8192;
  CHECK(kernel_time(op, model) == std::llround(2 * seconds * 1e9));
  model.efficiency.compute_scale = 2;
  CHECK(kernel_time(op, model) == std::llround(seconds * 1e9));
  model.efficiency.per_kernel = 3000;
  CHECK(kernel_time(op, model) == std::llround(seconds * 1e9) + 3000);
}

TEST_CASE("a thin product waits for memory") {
  KernelModel model = a100();
  model.efficiency = Efficiency{};
  const LayerOp op = matmul(1, 8, 16384, 16384);
  const double seconds = static_cast<double>(op.bytes) / static_cast<double>(model.hardware.memory_bandwidth);
  CHECK(kernel_time(op, model) == std::llround(seconds * 1e9));
}

TEST_CASE("power caps a large product, not a small one") {
  KernelModel model = a100();
  const LayerOp large = matmul(1, 16384, 16384, 16384);
  const LayerOp small = matmul(1, 512, 4096, 512);
  const Nanoseconds large_before = kernel_time(large, model);
  const Nanoseconds small_before = kernel_time(small, model);
  model.efficiency.sustained = 0.6;
  CHECK(kernel_time(large, model) > large_before);
  CHECK(kernel_time(small, model) == small_before);
}

TEST_CASE("measured A100 products: the model is within a tenth of SimuMax's table") {
  // rows, columns, inner, share reached; configs/system/a100_pcie.json, layout TN, large ones are capped by power.
  struct Row {
    std::int64_t rows, columns, inner;
    double share;
  };
  const std::array<Row, 8> table{{{4096, 4096, 4096, .721},
                                  {4096, 5120, 3072, .718},
                                  {4096, 4096, 2048, .682},
                                  {4096, 8192, 2048, .679},
                                  {4096, 32768, 512, .618},
                                  {4096, 7168, 2048, .681},
                                  {4096, 5120, 16384, .749},
                                  {4096, 1536, 5120, .788}}};
  KernelModel model = a100();
  model.efficiency.sustained = 0.755;
  for (const Row& row : table) {
    CAPTURE(row.columns);
    CAPTURE(row.inner);
    CHECK(share_reached(matmul(1, row.rows, row.columns, row.inner), model) / row.share ==
          doctest::Approx(1.0).epsilon(0.1));
  }
}

TEST_CASE("a measured shape wins, in its own phase only") {
  KernelModel model = a100();
  LayerOp op = matmul(1, 4096, 4096, 4096);
  const Nanoseconds modelled = kernel_time(op, model);
  model.measured.push_back({1, 4096, 4096, 4096, LayerOp::Phase::kForward, 0.5});
  const double seconds = op.flops / (0.5 * model.hardware.half_flops);
  CHECK(kernel_time(op, model) == std::llround(seconds * 1e9) + model.efficiency.per_kernel);
  op.phase = LayerOp::Phase::kWeightGrad;
  CHECK(kernel_time(op, model) == modelled);
}

TEST_CASE("elementwise ops take their bytes' time, attention fills up with heads") {
  KernelModel model = a100();
  LayerOp op;
  op.kind = LayerOp::Kind::kElementwise;
  op.bytes = 1'000'000'000;
  op.kernels = 2;
  const double seconds = 1e9 / (static_cast<double>(model.hardware.memory_bandwidth) * model.efficiency.memory);
  CHECK(kernel_time(op, model) == std::llround(seconds * 1e9) + 2 * model.efficiency.per_kernel);

  const auto attention = [&](std::int64_t heads) {
    LayerOp flash;
    flash.kind = LayerOp::Kind::kAttention;
    flash.batch = heads;
    flash.m = 4096;
    flash.flops = static_cast<double>(heads) * 4.3e9;
    return share_reached(flash, model);
  };
  // SimuMax's table counts no mask, the kernel skips half: 1.187, .991 and .777 of the peak at 64, 16 and 8 heads.
  CHECK(attention(64) == doctest::Approx(1.187 / 2).epsilon(0.1));
  CHECK(attention(16) == doctest::Approx(0.991 / 2).epsilon(0.1));
  CHECK(attention(8) == doctest::Approx(0.777 / 2).epsilon(0.1));
}

TEST_CASE("a collective is no kernel") {
  LayerOp op;
  op.kind = LayerOp::Kind::kCollective;
  CHECK_THROWS_AS((void)kernel_time(op, a100()), std::logic_error);
}

TEST_CASE("every preset has shares with a source") {
  for (const Hardware& hardware : hardware_presets()) {
    CAPTURE(hardware.name);
    const Efficiency shares = usual_efficiency(hardware);
    CHECK(shares.matrix > 0);
    CHECK(shares.matrix <= 1);
    CHECK(shares.memory > 0);
    CHECK(shares.memory <= 1);
    CHECK_FALSE(efficiency_source(hardware).empty());
  }
  CHECK(contains(efficiency_source(*find_hardware("v100")), "want of measurements"));
}

}  // namespace
}  // namespace debubble
