#include "cost_models/uniform.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

TEST_CASE("without chunks a stage costs a device share") {
  const StageCosts costs = uniform_costs({}, 4, 1);
  REQUIRE(costs.stages.size() == 4);
  for (const StageCost& stage : costs.stages) {
    CHECK(stage.forward == 1'000'000);
    CHECK(stage.input_grad == 1'000'000);
    CHECK(stage.weight_grad == 1'000'000);
    CHECK(stage.backward == 2'000'000);
    CHECK(stage.activation == kMebibyte);
    CHECK(stage.weight_grad_held == kMebibyte);
    CHECK(stage.output == 0);
    CHECK(stage.weights + stage.gradients + stage.optimizer + stage.workspace == 0);
  }
  CHECK_FALSE(costs.overlapped_pair);
}

TEST_CASE("a chunk costs and holds its part, rounded to nearest") {
  UniformTimes times;
  times.forward = 10;
  times.input_grad = 11;
  times.weight_grad = 13;
  times.overlapped_pair = 31;
  times.weight_share = 0.5;
  const StageCosts costs = uniform_costs(times, 6, 3);
  const StageCost& stage = costs.stages.at(5);
  CHECK(stage.forward == 3);      // 3.33
  CHECK(stage.input_grad == 4);   // 3.67
  CHECK(stage.weight_grad == 4);  // 4.33
  CHECK(stage.backward == 8);     // 24 / 3: the whole is rounded, not its halves
  CHECK(costs.overlapped_pair == 10);
  CHECK(stage.activation == 349'525);
  CHECK(stage.weight_grad_held == 174'763);  // 174762.5
  times.forward = 5;
  CHECK(uniform_costs(times, 2, 2).stages.front().forward == 3);  // 2.5 goes up
}

TEST_CASE("a backward of its own replaces the sum of its halves") {
  UniformTimes times;
  times.backward = 5'000'000;
  const StageCost stage = uniform_costs(times, 1, 1).stages.front();
  CHECK(stage.backward == 5'000'000);
  CHECK(stage.input_grad == 1'000'000);
}

}  // namespace
}  // namespace debubble
