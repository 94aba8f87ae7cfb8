// ZeRO-2 and ZeRO-3: what happens inside ops and what is a task of the step.
#include "cost_models/step/step_work.hpp"

#include "tests/collectives/step_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::tests;
using Kind = StepTask::Kind;

TEST_CASE("ZeRO-2 and ZeRO-3 reduce inside ops, unless everything is kept") {
  Case run("1f1b", 2, 4);
  run.give_bytes();
  run.request.parallel.data = 8;
  for (const int zero : {2, 3}) {
    run.request.parallel.zero = zero;
    run.request.options.keep = false;
    const StepWork inside = run.make();
    CHECK(of_kind(inside, Kind::kGradientReduce).empty());
    CHECK(of_kind(inside, Kind::kParameterGather).size() == (zero == 2 ? 2 : 0));
    run.request.options.keep = true;
    const StepWork kept = run.make();
    CHECK(of_kind(kept, Kind::kGradientReduce).size() == 2);
    REQUIRE(of_kind(kept, Kind::kParameterGather).size() == 2);
    CHECK(of_kind(kept, Kind::kParameterGather).at(0).before_stages.size() == (zero == 3 ? 1 : 0));
  }
}

// 4 layers of 250 MB (weights) and 500 MB (gradients) each, 8 ranks at 25 GB/s: 8.75 ms to gather and 17.5 ms to
// scatter one; latencies 0.
TEST_CASE("ZeRO-3: the first layer's weights and the last one's gradients are waited for, the rest runs beside") {
  Case run("1f1b", 2, 4);
  run.topology = Topology::ideal(0, 25'000'000'000);
  run.give_bytes();
  run.request.parallel.data = 8;
  run.request.parallel.zero = 3;
  (void)run.make();
  StageCosts costs;
  costs.stages.assign(2, {});
  for (StageCost& cost : costs.stages) {
    cost.forward = 40'000'000;   // 10 ms a layer: longer than to gather one
    cost.backward = 80'000'000;  // 20 ms a layer: shorter than to gather and scatter
    cost.gradients = 2 * kWeights / 8;
    cost.weights = kWeights / 8;
  }
  const StageCosts sharded = sharded_stage_costs(run.request, costs, {4, 4}, run.assumptions);
  const StageCost& cost = sharded.stages[0];
  CHECK(cost.forward == 40'000'000 + 8'750'000);
  CHECK(cost.forward_collective == 8'750'000);
  CHECK(cost.backward == 80'000'000 + 26'250'000 + 3 * 6'250'000);
  CHECK(cost.backward_collective == 45'000'000);
  // Beside a collective compute takes 10 % longer: of 10 ms, 8.75 run beside one.
  run.request.options.slow_down = 0.1;
  CHECK(sharded_stage_costs(run.request, costs, {4, 4}, run.assumptions).stages[0].forward ==
        40'000'000 + 8'750'000 + 3 * 875'000);
  // ZeRO-2 scatters gradients only.
  run.request.options.slow_down.reset();
  run.request.parallel.zero = 2;
  const StageCost second = sharded_stage_costs(run.request, costs, {4, 4}, run.assumptions).stages[1];
  CHECK(second.forward == 40'000'000);
  CHECK(second.backward == 80'000'000 + 17'500'000);
  // Kept: nothing inside, everything in memory.
  run.request.parallel.zero = 3;
  run.request.options.keep = true;
  const StageCost kept = sharded_stage_costs(run.request, costs, {4, 4}, run.assumptions).stages[0];
  CHECK(kept.forward == 40'000'000);
  CHECK(kept.weights == kWeights);
  CHECK(kept.gradients == 2 * kWeights);
  run.request.parallel.zero = 1;
  CHECK(sharded_stage_costs(run.request, costs, {4, 4}, run.assumptions).stages[0] == costs.stages[0]);
}

TEST_CASE("split backward: weights are gathered for I, gradients scattered after W") {
  Case run("zb-h1", 2, 4);
  run.topology = Topology::ideal(0, 25'000'000'000);
  run.give_bytes();
  run.request.parallel.data = 8;
  run.request.parallel.zero = 3;
  (void)run.make();
  StageCosts costs;
  costs.stages.assign(2, {});
  for (StageCost& cost : costs.stages) cost.input_grad = cost.weight_grad = 100'000'000;
  const StageCost cost = sharded_stage_costs(run.request, costs, {1, 1}, run.assumptions).stages[0];
  CHECK(cost.input_grad == 135'000'000);
  CHECK(cost.weight_grad == 170'000'000);
  CHECK(cost.backward_collective == 105'000'000);
}
