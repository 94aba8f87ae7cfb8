#include "cost_models/profiled.hpp"
#include "cost_models/uniform.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

TimeStatistics median(Nanoseconds time) { return {time, {}, {}, 0}; }

// Three layers: one with halves, one with the whole backward only, one with all three.
Profile mixed() {
  Profile profile;
  profile.model = "mixed";
  profile.origin.times = Source::kPublished;
  profile.origin.citation = "a paper";
  profile.origin.memory = Source::kModelled;
  ProfileLayer halves;
  halves.forward = median(10);
  halves.input_grad = median(11);
  halves.weight_grad = median(12);
  halves.activation = 1000;
  halves.weight_grad_held = 300;
  halves.output = 70;
  halves.parameters = 500;
  halves.workspace = 40;
  ProfileLayer whole;
  whole.forward = median(20);
  whole.backward = median(41);
  whole.activation = 2001;
  whole.output = 80;
  whole.parameters = 600;
  whole.workspace = 30;
  ProfileLayer all = halves;
  all.backward = median(22);
  profile.layers = {halves, whole, all};
  return profile;
}

std::string complaint(const Profile& profile, const std::vector<int>& partition, TrainingState state = {},
                      double share = 1) {
  return problems_of([&] {
    std::vector<Assumption> assumptions;
    (void)profiled_costs(profile, partition, state, share, assumptions);
  });
}

TEST_CASE("a stage is the sum of its layers, its workspace the largest, its output the last") {
  std::vector<Assumption> assumptions;
  const StageCosts costs = profiled_costs(mixed(), {2, 1}, {1.0, 2.0}, 0.5, assumptions);
  REQUIRE(costs.stages.size() == 2);
  const StageCost& first = costs.stages[0];
  CHECK(first.forward == 30);
  CHECK(first.backward == 23 + 41);
  CHECK(first.input_grad == 11 + 20);
  CHECK(first.weight_grad == 12 + 21);  // an odd nanosecond stays in the sum
  CHECK(first.activation == 3001);
  CHECK(first.weight_grad_held == 300 + 1001);  // half of 2001 rounded up
  CHECK(first.output == 80);
  CHECK(first.weights == 1100);
  CHECK(first.gradients == 1100);
  CHECK(first.optimizer == 2200);
  CHECK(first.workspace == 40);
  const StageCost& second = costs.stages[1];
  CHECK(second.backward == 22);  // measured as a whole: not the 23 of its halves
  CHECK(second.input_grad == 11);
  CHECK(second.weight_grad == 12);
}

TEST_CASE("every default is named, with the number of layers it touches") {
  std::vector<Assumption> assumptions;
  (void)profiled_costs(mixed(), {1, 1, 1}, {1.0, 0.1}, 0.5, assumptions);
  std::string text;
  for (const Assumption& assumption : assumptions) {
    text += label(assumption) + ": " + full_text(assumption) + " [" + to_string(assumption.source) + "]\n";
  }
  CHECK(text ==
        "layer times: mixed, a paper [published]\n"
        "layer sizes: mixed [modelled]\n"
        "input and weight gradient time: half of the backward each, in 1 of 3 layers [default]\n"
        "backward time: input gradient + weight gradient, in 1 of 3 layers [modelled]\n"
        "memory held for the weight gradient: 0.5 of the activation, in 1 of 3 layers [default]\n"
        "gradients: 1 byte per byte of weights [default]\n"
        "optimizer state: 0.1 bytes per byte of weights [default]\n");
}

TEST_CASE("nothing is assumed where everything was measured") {
  Profile profile = mixed();
  profile.layers = {profile.layers[2]};
  profile.origin.times = profile.origin.memory = Source::kMeasured;
  profile.origin.device = "NVIDIA H200";
  std::vector<Assumption> assumptions;
  (void)profiled_costs(profile, {1}, {}, 1.0, assumptions);
  REQUIRE(assumptions.size() == 4);
  CHECK(full_text(assumptions[0]) == "mixed on NVIDIA H200");
  CHECK(assumptions[1].source == Source::kMeasured);
}

TEST_CASE("the partition must place every layer once") {
  CHECK(complaint(mixed(), {2, 2}) ==
        "error[L006]: layers in model / layers placed: 3 / 4\n"
        "  = help: the stages must hold every layer once\n");
  CHECK(complaint(mixed(), {4, -1}) == "error[L004]: a stage gets -1 layers\n");
  CHECK(complaint(mixed(), {3, 0}).empty());  // as Megatron-LM has stages without layers
}

TEST_CASE("sums that overflow are input errors") {
  Profile profile = mixed();
  profile.layers[1].forward.median = kLongestDuration;
  CHECK(complaint(profile, {1, 1, 1}).empty());
  CHECK(complaint(profile, {1, 2}) ==
        "error[L007]: the time of stage 1 overflows\n"
        "  = help: check the layers' numbers or the sizes that a --model was given, or cut it into more stages\n");
  profile = mixed();
  profile.layers[1].activation = kLargestSize;
  CHECK(complaint(profile, {3}).find("error[L007]: the activation of stage 0 overflows") == 0);
  profile = mixed();
  profile.layers[1].parameters = kLargestSize;
  CHECK(complaint(profile, {1, 1, 1}, {1.0, 2.0}).find("error[L007]: the optimizer state of stage 1 overflows") == 0);
  CHECK(complaint(profile, {1, 1, 1}, {1.0, 1.0}).empty());
}

TEST_CASE("shares and factors must make sense") {
  CHECK(complaint(mixed(), {3}, {}, 1.5) ==
        "error[L009]: the share held for the weight gradient must be from 0 to 1; got 1.5\n"
        "  = help: 1 keeps the whole activation until W, 0 frees it after I\n");
  CHECK(complaint(mixed(), {3}, {}, std::numeric_limits<double>::quiet_NaN()).find("error[L009]") == 0);
  CHECK(complaint(mixed(), {3}, {-1.0, 2.0}) ==
        "error[L009]: bytes of training state per byte of weights must be at least 0; got -1\n"
        "  = help: Adam in the weights' own precision needs 2\n");
}

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
