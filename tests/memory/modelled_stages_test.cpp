// From layers to stages: what profiled_costs makes of a modelled layer's own sizes.
#include "cost_models/profiled.hpp"
#include "tests/memory/models.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

namespace debubble::testing {
namespace {

ProfileLayer layer(Bytes activation, Bytes workspace) {
  ProfileLayer one;
  one.backward = TimeStatistics{};
  one.activation = activation;
  one.workspace = workspace;
  one.parameters = 100;
  one.gradients = 200;
  one.optimizer = 30;
  one.checkpoint = 7;
  one.activation_tensors = 3;
  one.forward_collective = 5;
  one.backward_collective = 11;
  return one;
}

TEST_CASE("a modelled layer's own gradients, state, checkpoint and tensors count") {
  Profile profile;
  profile.layers = {layer(40, 0), layer(60, 0)};
  std::vector<Assumption> assumptions;
  const StageCost stage = profiled_costs(profile, {2}, {}, 1.0, assumptions).stages.front();
  CHECK(stage.weights == 200);
  CHECK(stage.gradients == 400);
  CHECK(stage.optimizer == 60);
  CHECK(stage.checkpoint == 7);
  CHECK(stage.activation_tensors == 6);
  CHECK(stage.forward_collective == 10);
  CHECK(stage.backward_collective == 22);
  CHECK(std::none_of(assumptions.begin(), assumptions.end(),
                     [](const Assumption& assumption) { return assumption.key == "gradients"; }));
}

TEST_CASE("layers that say nothing about their states follow the rule beside those that do") {
  Profile profile;
  profile.layers = {layer(40, 0), layer(60, 0)};
  profile.layers[1].gradients.reset();
  profile.layers[1].optimizer.reset();
  std::vector<Assumption> assumptions;
  const StageCost stage = profiled_costs(profile, {2}, {1.0, 6.0}, 1.0, assumptions).stages.front();
  CHECK(stage.gradients == 200 + 100);
  CHECK(stage.optimizer == 30 + 600);
  CHECK(std::any_of(assumptions.begin(), assumptions.end(),
                    [](const Assumption& assumption) { return assumption.key == "gradients"; }));
}

TEST_CASE("a layer's transients and the activations behind it are never there together") {
  Profile profile;
  profile.layers = {layer(40, 500), layer(60, 90), layer(100, 20)};
  std::vector<Assumption> assumptions;
  // The first is at its most when 160 of the rest is not there: 340.
  CHECK(profiled_costs(profile, {3}, {}, 1.0, assumptions).stages.front().workspace == 340);
  profile.layers[0].workspace = 150;
  CHECK(profiled_costs(profile, {3}, {}, 1.0, assumptions).stages.front().workspace == 20);
  // Measured layers do not say when: the largest counts.
  for (ProfileLayer& one : profile.layers) one.gradients.reset();
  CHECK(profiled_costs(profile, {3}, {}, 1.0, assumptions).stages.front().workspace == 150);
}

TEST_CASE("layers of a stage share buffers of one name, and so do the stages of a device") {
  Profile profile;
  profile.layers.assign(5, layer(40, 0));
  profile.layers[0].buffers = {{"workspace", 32}, {"gradient", 100}};
  profile.layers[1].buffers = {{"workspace", 48}, {"gradient", 100}};
  profile.layers[2].buffers = {{"workspace", 32}};
  std::vector<Assumption> assumptions;
  profile.layers[4].buffers = {{"workspace", 16}};
  const StageCosts costs = profiled_costs(profile, {2, 1, 1, 1}, {}, 1.0, assumptions);
  CHECK(costs.stages[0].comm_buffers == 148);
  CHECK(costs.stages[1].comm_buffers == 32);
  CHECK(costs.stages[2].comm_buffers == 0);

  // Stages 1 and 3 on one device: the larger buffers serve both.
  const Schedule schedule = build("interleaved", 2, 2, 2);
  const EngineRun run = run_engine(schedule, costs, {});
  const auto buffers = static_cast<std::size_t>(MemoryCategory::kCommBuffers);
  CHECK(run.report.devices.at(0).peak_by_category.at(buffers) == 148);
  CHECK(run.report.devices.at(1).peak_by_category.at(buffers) == 32);
  for (std::size_t d = 0; d < 2; ++d) CHECK(run.report.devices[d].peak_memory == run.totals.devices[d].peak_memory);
  CHECK(disagreement(schedule, costs, {}, P2p::kOverlapped) == "");
}

}  // namespace
}  // namespace debubble::testing
