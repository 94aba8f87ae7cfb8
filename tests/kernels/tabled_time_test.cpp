// Kernel times by tables: which table an op takes, and what bounds it beside.
#include "cost_models/transformer/tabled_time.hpp"
#include "cost_models/transformer/layer_ops.hpp"
#include "cost_models/transformer/model_catalog.hpp"
#include "cost_models/transformer/modelled_profile.hpp"
#include "scenario/request/kernel_file.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

KernelModel tabled(const char* hardware) {
  KernelModel model;
  model.hardware = *find_hardware(hardware);
  model.efficiency = usual_efficiency(model.hardware);
  model.tables = installed_kernels(model.hardware.kernels);
  return model;
}

LayerOp product_op(std::int64_t rows, std::int64_t columns, std::int64_t inner) {
  LayerOp op;
  op.m = rows;
  op.n = columns;
  op.k = inner;
  op.flops = 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(inner);
  op.bytes = 2 * (rows * inner + inner * columns + rows * columns);
  return op;
}

double table_seconds(const KernelModel& model, ProductKind kind, const LayerOp& op) {
  MeasuredPeak peak;
  peak.flops = kind == ProductKind::kHalf ? model.hardware.half_flops : model.hardware.fp8_flops;
  peak.bandwidth = static_cast<double>(model.hardware.memory_bandwidth);
  peak.multiprocessors = model.hardware.multiprocessors;
  const ProductShape shape{static_cast<double>(op.m), static_cast<double>(op.n), static_cast<double>(op.k)};
  return model.tables->product(kind).seconds(shape, peak) * model.tables->product(kind).eager;
}

ModelRequest llama(const char* hardware, NumberFormat format = NumberFormat::kBf16) {
  ModelRequest request;
  for (const CatalogModel& model : model_catalog()) {
    if (model.shape.name == "llama3-8b") request.setup.shape = model.shape;
  }
  request.setup.sequence = 4096;
  request.setup.compute = format;
  request.kernels = tabled(hardware);
  return request;
}

Nanoseconds block_time(const ModelRequest& request) {
  const ProfileLayer block = modelled_profile(request).layers[1];
  return block.forward.median + block.backward->median;
}

}  // namespace

TEST_CASE("tabled time: a product takes its table's time, launch included") {
  const KernelModel h100 = tabled("h100");
  const LayerOp op = product_op(1024, 2048, 2048);
  CHECK(kernel_time(op, h100) == std::llround(table_seconds(h100, ProductKind::kHalf, op) * 1e9));
}

TEST_CASE("tabled time: eager kernels of another source are slower on A100 and H100") {
  CHECK(tabled("a100").tables->product(ProductKind::kHalf).eager == doctest::Approx(1.059).epsilon(0.001));
  CHECK(tabled("h100").tables->product(ProductKind::kHalf).eager == doctest::Approx(1.028).epsilon(0.001));
  CHECK(tabled("b200").tables->product(ProductKind::kHalf).eager == 1);  // nobody else measured it
}

TEST_CASE("tabled time: long runs are hot: no product passes the share that power allows") {
  const KernelModel h100 = tabled("h100");
  const LayerOp op = product_op(8192, 8192, 8192);
  CHECK(table_seconds(h100, ProductKind::kHalf, op) < op.flops / (h100.hardware.half_flops * 0.679));
  CHECK(static_cast<double>(kernel_time(op, h100)) ==
        doctest::Approx(op.flops / (h100.hardware.half_flops * 0.679) * 1e9).epsilon(0.001));
}

TEST_CASE("tabled time: export versions have the kernels of the original") {
  const LayerOp op = product_op(4096, 1536, 4096);
  CHECK(kernel_time(op, tabled("h800")) == kernel_time(op, tabled("h100")));
  CHECK(kernel_time(op, tabled("a800")) == kernel_time(op, tabled("a100")));
  CHECK(tabled("h20").tables == nullptr);
  CHECK(tabled("l40s").tables == nullptr);
}

TEST_CASE("tabled time: a gradient that adds to 32 bits shows part of its additional traffic, by tokens on Hopper") {
  const KernelModel h100 = tabled("h100");
  LayerOp op = product_op(4096, 1024, 2048);
  const Nanoseconds plain = kernel_time(op, h100);
  op.phase = LayerOp::Phase::kWeightGrad;
  CHECK(kernel_time(op, h100) == plain);
  const Bytes more = op.m * op.n * 6;
  op.bytes += more;
  // Of 2048 tokens half way by the logs between the 0.98 of 1024 and the 0.43 of 4096.
  const double shown = 0.705 * static_cast<double>(more) / (3350e9 * h100.tables->memory_forward);
  CHECK(std::abs(kernel_time(op, h100) - plain - std::llround(shown * 1e9)) <= 1);
  const AccumulationTable& table = h100.tables->accumulation;
  CHECK(table.share(64) == table.share(1024));
  CHECK(table.share(1024) == doctest::Approx(0.98));
  CHECK(table.share(4096) == doctest::Approx(0.43));
  CHECK(table.share(131072) == table.share(4096));
  // On an A100 less of it shows, on Blackwell more: SimuMax measured both, of 4096 tokens.
  for (const auto& one : {std::pair<const char*, double>{"a100", 0.40}, {"b200", 0.58}, {"gb300", 0.58}}) {
    const char* gpu = one.first;
    const double share = one.second;
    CAPTURE(gpu);
    const KernelModel model = tabled(gpu);
    LayerOp sum = product_op(4096, 1024, 2048);
    sum.phase = LayerOp::Phase::kWeightGrad;
    const Nanoseconds once = kernel_time(sum, model);
    sum.bytes += more;
    const double rate = static_cast<double>(model.hardware.memory_bandwidth) * model.tables->memory_forward;
    CHECK(std::abs(kernel_time(sum, model) - once - std::llround(share * static_cast<double>(more) / rate * 1e9)) <= 1);
  }
}

TEST_CASE("tabled time: what a sum in 32 bits adds comes on top of what power allows its product") {
  const KernelModel h100 = tabled("h100");
  LayerOp op = product_op(8192, 8192, 4096);
  const double allowed = op.flops / (h100.hardware.half_flops * 0.679) * 1e9;
  op.phase = LayerOp::Phase::kWeightGrad;
  CHECK(static_cast<double>(kernel_time(op, h100)) == doctest::Approx(allowed).epsilon(0.001));
  const Bytes more = op.m * op.n * 6;
  op.bytes += more;
  const double shown = 0.43 * static_cast<double>(more) / (3350e9 * h100.tables->memory_forward) * 1e9;
  CHECK(static_cast<double>(kernel_time(op, h100)) == doctest::Approx(allowed + shown).epsilon(0.001));
  // Where the additional bytes bound all of it, they are not counted twice.
  op = product_op(8192, 8192, 64);
  op.phase = LayerOp::Phase::kWeightGrad;
  op.bytes += more;
  const double rate = 3350e9 * h100.tables->memory_forward;
  CHECK(static_cast<double>(kernel_time(op, h100)) >= static_cast<double>(op.bytes) / rate * 1e9);
  CHECK(static_cast<double>(kernel_time(op, h100)) <= static_cast<double>(op.bytes) / rate * 1e9 * 1.1);
}

TEST_CASE("tabled time: 8-bit products are bare or hold their quantisation, never both and never neither") {
  const KernelModel h100 = tabled("h100");
  LayerOp op = product_op(2048, 2048, 2048);
  op.format = NumberFormat::kFp8;
  op.bytes -= op.m * op.k + op.n * op.k;
  CHECK(kernel_time(op, h100) == std::llround(table_seconds(h100, ProductKind::kFp8, op) * 1e9));
  op.recipe = Fp8Recipe::kBlockwise;
  CHECK(kernel_time(op, h100) == std::llround(table_seconds(h100, ProductKind::kFp8Block, op) * 1e9));

  ModelRequest request = llama("h100", NumberFormat::kFp8);
  const auto quantising = [&request] {
    Nanoseconds sum = 0;
    for (const LayerOp& one : layer_ops(request.setup, {LayerPlace::Kind::kBlock, 0, false})) {
      if (one.quantises) sum += kernel_time(one, request.kernels);
    }
    return sum;
  };
  const Nanoseconds delayed = quantising();
  request.setup.fp8_recipe = Fp8Recipe::kTensorwise;
  const Nanoseconds tensorwise = quantising();
  request.setup.fp8_recipe = Fp8Recipe::kBlockwise;
  CHECK(delayed > 0);
  CHECK(tensorwise > delayed);
  CHECK(quantising() == 0);
}

TEST_CASE("tabled time: on Blackwell a training library's MXFP8 products are bare, and its quantisation passes apart") {
  const KernelModel b300 = tabled("b300");
  const ProductTable& table = b300.tables->product(ProductKind::kFp8Block);
  // Transformer Engine, 15,872 tokens of one layer (hidden 4096): 7.161 ms already quantised, 8.984 ms quantising, the
  // weights, too, which training does once a step.
  CHECK(table.eager == doctest::Approx(1.066).epsilon(0.001));
  CHECK(table.quantised_apart);
  CHECK_FALSE(tabled("h100").tables->product(ProductKind::kFp8Block).quantised_apart);
  constexpr std::int64_t kTokens = 15872;
  double seconds = 0;
  for (const auto& [columns, inner] :
       {std::pair<std::int64_t, std::int64_t>{12288, 4096}, {4096, 4096}, {16384, 4096}, {4096, 16384}}) {
    for (LayerOp op : {product_op(kTokens, columns, inner), product_op(kTokens, inner, columns),
                       product_op(columns, inner, kTokens)}) {
      op.format = NumberFormat::kFp8;
      op.recipe = Fp8Recipe::kMxfp8;
      seconds += static_cast<double>(kernel_time(op, b300)) * 1e-9;
    }
    for (const std::int64_t width : {inner, columns}) {
      LayerOp cast;
      cast.kind = LayerOp::Kind::kElementwise;
      cast.quantises = true;
      cast.recipe = Fp8Recipe::kMxfp8;
      cast.bytes = kTokens * width * 4;
      CHECK(kernel_time(cast, b300) > 0);
      seconds += static_cast<double>(kernel_time(cast, b300)) * 1e-9;
    }
  }
  CHECK(seconds > 7.161e-3);
  CHECK(seconds < 8.984e-3);
}

TEST_CASE("tabled time: a quantisation that is in its product's table takes no time beside measured passes, either") {
  KernelModel h100 = tabled("h100");
  h100.passes = {2e12, 1e-5};
  LayerOp cast;
  cast.kind = LayerOp::Kind::kElementwise;
  cast.quantises = true;
  cast.recipe = Fp8Recipe::kBlockwise;
  cast.bytes = 1 << 26;
  CHECK(kernel_time(cast, h100) == 0);
  cast.recipe = Fp8Recipe::kDelayed;
  CHECK(kernel_time(cast, h100) > 0);
}

TEST_CASE("tabled time: what bounds a pass is its bytes at the measured bandwidth where there is one") {
  KernelModel h100 = tabled("h100");
  LayerOp pass;
  pass.kind = LayerOp::Kind::kElementwise;
  pass.bytes = 7'000'000;  // 2.7 us at the tables' bandwidth, 0.7 us at the measured one
  CHECK(kernel_bound(pass, h100) == KernelBound::kMemory);
  h100.passes = {1e13, 0};
  CHECK(kernel_bound(pass, h100) == KernelBound::kLaunch);
}

TEST_CASE("tabled time: each effect that is switched off changes what it says") {
  const KernelModel all = tabled("h100");
  const auto without = [&all](bool ModelEffects::*part) {
    KernelModel model = all;
    model.effects.*part = false;
    return model;
  };
  const LayerOp large = product_op(8192, 8192, 8192);
  const LayerOp small = product_op(256, 1024, 1024);
  CHECK(kernel_time(large, without(&ModelEffects::sustained)) < kernel_time(large, all));
  CHECK(kernel_time(small, without(&ModelEffects::product_sizes)) < kernel_time(small, all));
  CHECK(kernel_time(small, without(&ModelEffects::framework)) < kernel_time(small, all));
  CHECK(kernel_time(small, without(&ModelEffects::measured_products)) != kernel_time(small, all));
  LayerOp sum = large;
  sum.phase = LayerOp::Phase::kWeightGrad;
  sum.k = 1024;
  sum.flops /= 8;
  sum.bytes = 2 * (2 * 8192 * 1024) + 8 * 8192 * 8192;
  CHECK(kernel_time(sum, without(&ModelEffects::accumulation)) < kernel_time(sum, all));
  LayerOp experts = product_op(512, 2048, 1024);  // in groups, below what a long run allows
  experts.batch = 8;
  experts.flops *= 8;
  experts.experts = true;
  CHECK(kernel_time(experts, without(&ModelEffects::grouped_products)) < kernel_time(experts, all));
  LayerOp pass;
  pass.kind = LayerOp::Kind::kElementwise;
  pass.bytes = 1 << 26;
  CHECK(kernel_time(pass, without(&ModelEffects::measured_passes)) != kernel_time(pass, all));
  CHECK(kernel_time(pass, without(&ModelEffects::kernel_gaps)) < kernel_time(pass, all));
  pass.quantises = true;
  CHECK(kernel_time(pass, without(&ModelEffects::quantisation)) == 0);
}

TEST_CASE("tabled time: 8 bits with quantisation are about 1.3 to 1.7 times as fast as 16, not twice") {
  for (const char* gpu : {"h100", "b200", "gb300"}) {
    CAPTURE(gpu);
    ModelRequest half = llama(gpu);
    ModelRequest eighth = llama(gpu, NumberFormat::kFp8);
    const double faster = static_cast<double>(block_time(half)) / static_cast<double>(block_time(eighth));
    CHECK(faster > 1.05);
    CHECK(faster < 1.7);
  }
}

TEST_CASE("tabled time: passes over memory take their bytes at the bandwidth that norms reached") {
  const KernelModel h200 = tabled("h200");
  LayerOp op;
  op.kind = LayerOp::Kind::kElementwise;
  op.bytes = 8192LL * 8192 * 2 * 2;  // cudnn-frontend: 0.071 ms forward
  CHECK(static_cast<double>(kernel_time(op, h200)) == doctest::Approx(71e3).epsilon(0.06));
  op.phase = LayerOp::Phase::kInputGrad;
  op.bytes = 8192LL * 8192 * 2 * 3;  // 0.114 ms backward
  CHECK(static_cast<double>(kernel_time(op, h200)) == doctest::Approx(114e3).epsilon(0.06));
}

TEST_CASE("tabled time: kernels shorter than their launches wait for the host, unless a graph launches them") {
  ModelRequest request = llama("h100");
  TransformerShape& shape = request.setup.shape;
  shape.hidden = 1024;
  shape.heads = shape.kv_heads = 16;
  shape.head_size = 64;
  shape.feed_forward = 2048;
  request.setup.sequence = 128;
  const Nanoseconds graphs = block_time(request);
  request.host_launch = kEagerLaunch;
  const ProfileLayer small = modelled_profile(request).layers[1];
  CHECK(small.forward_launches > 0);
  CHECK(small.forward.median % kEagerLaunch == 0);  // as long as so many launches
  CHECK(block_time(request) > graphs);
  request.setup.sequence = 32768;
  const ProfileLayer large = modelled_profile(request).layers[1];
  CHECK(large.forward_launches == 0);
  CHECK(large.backward_launches == 0);
}

}  // namespace debubble
