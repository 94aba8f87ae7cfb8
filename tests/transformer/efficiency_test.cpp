// Tables of measured kernels: the reader, the tables that come with debubble, and what is made of a shape between.
#include <fstream>

#include "cost_models/transformer/measured_shapes.hpp"
#include "scenario/request/efficiency_file.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  REQUIRE_FALSE(text.str().empty());
  return text.str();
}

EfficiencyTable table_of(const char* name) {
  return read_efficiency(file_text(std::string(DEBUBBLE_EFFICIENCY) + name), name);
}

LayerOp matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, std::int64_t batch = 1) {
  LayerOp op;
  op.batch = batch;
  op.m = rows;
  op.n = columns;
  op.k = inner;
  op.flops = 2.0 * static_cast<double>(batch * rows) * static_cast<double>(columns) * static_cast<double>(inner);
  return op;
}

std::string refusal(const std::string& text) {
  return problems_of([&] { (void)read_efficiency(text, "table.json"); });
}

}  // namespace

TEST_CASE("the tables that come with debubble are complete and say where they are from") {
  const EfficiencyTable b200 = table_of("b200-simumax.json");
  CHECK(b200.hardware == "b200");
  CHECK(b200.shapes.size() == 524);
  CHECK(table_of("a100-pcie-simumax.json").shapes.size() == 213);
  for (const MeasuredShape& shape : b200.shapes) CHECK((shape.efficiency > 0 && shape.efficiency < 1));
  const EfficiencyTable v100 = table_of("v100-aceso.json");
  CHECK(v100.hardware == "v100");
  CHECK(v100.shapes.size() == 200);
  for (const MeasuredShape& shape : v100.shapes) CHECK((shape.efficiency > 0 && shape.efficiency < 1));
}

TEST_CASE("passes over memory take what the same machine's took: their bytes, and a latency for each kernel") {
  KernelModel model;
  model.hardware.memory_bandwidth = 8'000'000'000'000;
  model.efficiency.per_kernel = 1000;
  model.passes = table_of("b200-simumax.json").passes;
  CHECK(model.passes.bandwidth == doctest::Approx(5328e9));
  LayerOp pass;
  pass.kind = LayerOp::Kind::kElementwise;
  pass.bytes = 532'800'000;
  pass.kernels = 2;
  CHECK(kernel_time(pass, model) == 100'000 + 2 * 30'000);
  pass.bytes = 0;
  CHECK(kernel_time(pass, model) == 0);
  CHECK(table_of("v100-aceso.json").passes.bandwidth == 0);
}

TEST_CASE("a measured shape takes what was measured") {
  KernelModel model;
  model.hardware = *find_hardware("b200");
  model.efficiency = usual_efficiency(model.hardware);
  model.measured = table_of("b200-simumax.json").shapes;
  // The table's first line: 4096 x 10240 from 8192, 0.64516 of 2250 TFLOP/s.
  const LayerOp op = matmul(4096, 10240, 8192);
  const double seconds = op.flops / (2250e12 * 0.64516);
  const auto fixed = static_cast<double>(model.efficiency.per_kernel);
  CHECK(static_cast<double>(kernel_time(op, model)) == doctest::Approx(seconds * 1e9 + fixed).epsilon(1e-6));
}

TEST_CASE("between measured shapes the waves decide") {
  std::vector<MeasuredShape> measured(1);
  measured[0].m = 4096;
  measured[0].n = 4096;
  measured[0].k = 4096;
  measured[0].efficiency = 0.6;
  const Hardware& a100 = *find_hardware("a100-80");
  const auto waves = [&](const LayerOp& op) { return wave_efficiency(op.batch, op.m, op.n, a100); };
  CHECK(measured_share(matmul(4096, 4096, 4096), measured, waves) == 0.6);
  // Half the rows: .790 for .948.
  const std::optional<double> half = measured_share(matmul(2048, 4096, 4096), measured, waves);
  REQUIRE(half);
  CHECK(*half == doctest::Approx(0.6 * 0.7901 / 0.9481).epsilon(0.001));
  // Far away, of another kind or phase: the model alone.
  CHECK_FALSE(measured_share(matmul(512, 4096, 4096), measured, waves));
  CHECK_FALSE(measured_share(matmul(4096, 4096, 4096, 8), measured, waves));
  LayerOp gradient = matmul(4096, 4096, 4096);
  gradient.phase = LayerOp::Phase::kWeightGrad;
  CHECK_FALSE(measured_share(gradient, measured, waves));
}

TEST_CASE("a staircase: time grows with each wave, and never falls") {
  std::vector<MeasuredShape> measured(1);
  measured[0].m = 2048;
  measured[0].n = 4096;
  measured[0].k = 4096;
  measured[0].efficiency = 0.6;
  const Hardware& a100 = *find_hardware("a100-80");
  const auto waves = [&](const LayerOp& op) { return wave_efficiency(op.batch, op.m, op.n, a100); };
  double last = 0;
  for (std::int64_t rows = 1024; rows <= 4096; rows += 128) {
    const LayerOp op = matmul(rows, 4096, 4096);
    const std::optional<double> share = measured_share(op, measured, waves);
    REQUIRE(share);
    const double time = op.flops / *share;
    CHECK(time >= last * (1 - 1e-12));
    last = time;
  }
}

TEST_CASE("tables that are none are refused, row by row") {
  CHECK(contains(refusal("{"), "table.json"));
  CHECK(contains(refusal("{}"), "P007"));
  CHECK(contains(refusal("{}"), "P010"));
  const std::string head =
      R"({"format": "debubble.efficiency/1", "hardware": "b200", "device": "B200", "source": "x", )";
  const std::string empty = refusal(head + R"("shapes": []})");
  CHECK(contains(empty, "P016"));
  CHECK(contains(empty, "no shapes"));
  const std::string bad = refusal(head + R"("shapes": [["matrix", "forward", 1, 2, 3, 4, 1.5],
    ["matrix", "backward", 1, 2, 3, 4, 0.5], ["matrix", "forward", 1, 0, 3, 4, 0.5], ["matrix"]]})");
  for (const char* row : {"/shapes/0", "/shapes/1", "/shapes/2", "/shapes/3"}) CHECK(contains(bad, row));
  CHECK(refusal(head + R"("shapes": [["matrix", "forward", 1, 2, 3, 4, 0.5]]})").empty());
  for (const char* passes : {R"({})", R"({"bandwidth_gb_per_s": 0, "latency_us": 1})", R"({"bandwidth_gb_per_s": 1})",
                             R"({"bandwidth_gb_per_s": 1, "latency_us": -1})", R"([1, 2])"}) {
    CAPTURE(passes);
    const std::string none =
        refusal(head + R"("passes": )" + passes + R"(, "shapes": [["matrix", "forward", 1, 2, 3, 4, 0.5]]})");
    CHECK(contains(none, "/passes"));
  }
  const std::string more = refusal(head + R"("shape": 1, "shapes": [["matrix", "forward", 1, 2, 3, 4, 0.5]]})");
  CHECK(contains(more, "P005"));
  CHECK(contains(more, "unknown key"));
}

}  // namespace debubble
