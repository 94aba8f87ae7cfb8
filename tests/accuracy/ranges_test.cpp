// Ranges of modelled step times: their closed form, what tells two runs apart, their file, and the errors of formulas
// that they take.
#include <fstream>

#include "cost_models/transformer/kernel_time.hpp"
#include "sim/core/split.hpp"
#include "studies/accuracy/ranges.hpp"
#include "studies/uncertainty/range_constants.hpp"
#include "studies/uncertainty/step_range.hpp"
#include "studies/uncertainty/time_kinds.hpp"
#include "tests/cli/inputs.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using testing::replaced;

const RangeEnds kEnds{false, "", -1, 2, 10, 2};

RangeConstants range_constants(double repeat) {
  RangeConstants constants;
  constants.repeat = repeat;
  constants.ends = {kEnds};
  return constants;
}

constexpr const char* kRanges = R"({
  "schema": "debubble.ranges/1",
  "repeat": 0.03, "repeated": 3, "apart": 1.5, "pairs": 20,
  "ends": [
    {"experts": false, "left_out": null, "low": -1.25, "high": 1, "records": 10, "sources": 2},
    {"experts": false, "left_out": "toy", "low": -1, "high": 1.5, "records": 4, "sources": 1}
  ]
}
)";

std::string codes_of_ranges(const std::string& text) {
  std::string codes;
  for (const Diagnostic& problem : diagnostics_of([&] { (void)read_ranges(text, "ranges.json"); }))
    codes += (codes.empty() ? "" : " ") + problem.code;
  return codes;
}

TEST_CASE("ranges: a step of one kind of work is as uncertain as that") {
  const StepRange range = step_range(1'000'000'000, {{"products", 1, 0.05}}, range_constants(0), kEnds);
  CHECK(range.scatter == doctest::Approx(0.05));
  CHECK(range.low == std::llround(1e9 * std::exp(-0.05)));
  CHECK(range.high == std::llround(1e9 * std::exp(0.10)));
  CHECK(range.coverage == 0.8);
  CHECK(range.records == 10);
}

TEST_CASE("ranges: kinds are independent, and a measured step repeats to a few per cent itself") {
  const std::vector<TimeKind> kinds{{"passes", 0.2, 0.1}, {"products", 0.8, 0.05}};
  CHECK(step_scatter(kinds, 0) == doctest::Approx(std::sqrt(0.02 * 0.02 + 0.04 * 0.04)));
  CHECK(step_scatter(kinds, 0.03) == doctest::Approx(std::sqrt(0.02 * 0.02 + 0.04 * 0.04 + 0.03 * 0.03)));
  const StepRange range = step_range(1'000, kinds, range_constants(0.03), kEnds);
  CHECK(range.kinds.front().name == "products");  // the largest part first
}

TEST_CASE("ranges: of two runs only what they do not share tells") {
  const std::vector<TimeKind> one{{"passes", 0.2, 0.1}, {"products", 0.8, 0.05}};
  const std::vector<TimeKind> other{{"attention", 0.1, 0.2}, {"passes", 0.2, 0.1}, {"products", 0.7, 0.05}};
  CHECK(ratio_scatter(one, one, 0) == 0);
  CHECK(ratio_scatter(one, one, 0.03) == doctest::Approx(0.03 * std::sqrt(2.0)));
  CHECK(ratio_scatter(one, other, 0) == doctest::Approx(std::sqrt(0.005 * 0.005 + 0.02 * 0.02)));
}

TEST_CASE("ranges: ends judge sources, and those that they do not know") {
  std::vector<ResultRecord> records(20);
  std::vector<RangedRecord> ranged;
  for (std::size_t k = 0; k < records.size(); ++k) {
    records[k].id = "r" + std::to_string(k);
    records[k].source = k < 10 ? "first" : "second";
    records[k].arguments = {std::to_string(k)};
    const double measured = std::exp(0.01 * static_cast<double>(k));  // the second source's are longer than predicted
    records[k].measured = {{Quantity::kStepTime, measured}};
    ranged.push_back({&records[k], measured, 1, {{"products", 1, 0.1}}, false, records[k].source});
  }
  // Quantiles between 20 equally spaced ones: 1.9 and 17.1 of them lie below. The other sources' ends are beyond.
  RangeConstants constants;
  constants.apart = 1;
  constants.pairs = 90;
  constants.ends = {
      {false, "", 0.19, 1.71, 20, 2}, {false, "first", 1.09, 1.81, 10, 1}, {false, "second", 0.09, 0.81, 10, 1}};
  const JudgedRanges judged = judge_ranges(ranged, constants);
  CHECK(judged.counts.inside == 16);
  CHECK(judged.counts.below == 2);
  CHECK(judged.counts.above == 2);
  REQUIRE(judged.sources.size() == 2);
  CHECK(judged.sources[0].left_out.below == 10);  // all shorter than those of the second
  CHECK(judged.sources[1].left_out.above == 10);
  CHECK(judged.sources[0].pairs.close == 45);  // equal predictions are never told apart
}

TEST_CASE("ranges: the file as it is read, and what is wrong is refused") {
  const RangeConstants constants = read_ranges(kRanges, "ranges.json");
  CHECK(constants.ends_of(false)->low == -1.25);
  CHECK(constants.ends_of(false, "toy")->high == 1.5);
  CHECK(codes_of_ranges("{") == "P001");
  CHECK(codes_of_ranges(replaced(kRanges, "ranges/1", "ranges/2")) == "P010");
  CHECK(codes_of_ranges(replaced(kRanges, "\"repeat\": 0.03", "\"repeat\": -1")) == "P012");
  CHECK(codes_of_ranges(replaced(kRanges, "\"low\": -1.25", "\"low\": 7")) == "P012");
  CHECK(codes_of_ranges(replaced(kRanges, "null", "\"all\"")) == "P012");
}

// Of H100, H200, B300, GB200 and GB300, whose formulas have another GPU's shares; products as training has them.
TEST_CASE("ranges: formulas are as far off products as is assumed where there is no table") {
  std::ifstream file(DEBUBBLE_LEFT_OUT);
  std::string line;
  std::getline(file, line);
  std::vector<double> errors;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = split(line);
    if (fields[1] != "bf16" || fields[0] == "a100" || fields[0] == "b200") continue;
    KernelModel model;
    model.hardware = *find_hardware(fields[0]);
    model.efficiency = usual_efficiency(model.hardware);
    LayerOp op;
    op.m = std::stoll(fields[2]);
    op.n = std::stoll(fields[3]);
    op.k = std::stoll(fields[4]);
    if (std::min({op.m, op.n, op.k}) < 1024) continue;
    op.flops = 2.0 * static_cast<double>(op.m) * static_cast<double>(op.n) * static_cast<double>(op.k);
    op.bytes = 2 * (op.m * op.n + op.m * op.k + op.n * op.k);
    const double told = static_cast<double>(kernel_time(op, model)) / 1e9;
    errors.push_back(std::abs(told / (std::stod(fields[5]) * 1e-6) - 1));
  }
  REQUIRE(errors.size() > 150);
  std::sort(errors.begin(), errors.end());
  CHECK(errors[errors.size() * 9 / 10] == doctest::Approx(scatter::kFormulas).epsilon(0.03));
}

}  // namespace
}  // namespace debubble
