// Runs whose numbers do not fit 64 bits are refused, from both sides of the limit; nothing wraps around.
#include "schedules/catalog.hpp"
#include "sim/engine/simulate.hpp"
#include "tests/support/test.hpp"

using namespace debubble;

namespace {

struct Case {
  Schedule schedule = build_schedule("gpipe", {.devices = 40, .microbatches = 1, .chunks = 0, .params = {}});
  StageCosts costs{std::vector<StageCost>(40), std::nullopt, std::nullopt};
  Topology topology;

  [[nodiscard]] std::string code() const {
    const Program program = std::get<Program>(lower(schedule));
    try {
      (void)simulate_totals(program, costs, topology);
    } catch (const InputError& error) {
      return error.diagnostics().at(0).code;
    }
    return "none";
  }
};

}  // namespace

TEST_CASE("devices times the makespan must fit, for reports add it up") {
  Case run;
  const Nanoseconds most = std::numeric_limits<Nanoseconds>::max() / 4 / 40 / 40;  // forwards of 40 stages, one by one
  for (StageCost& stage : run.costs.stages) stage.forward = most;
  CHECK_EQ(run.code(), "none");
  for (StageCost& stage : run.costs.stages) stage.forward = most + 1;
  CHECK_EQ(run.code(), "X001");
}

TEST_CASE("a transfer that would take centuries is refused, not wrapped around") {
  Case run;
  for (StageCost& stage : run.costs.stages) stage.output = kLargestSize;
  run.topology = Topology::ideal(0, 1);
  CHECK_EQ(run.topology.transfer(0, 1, kLargestSize).serialisation, Nanoseconds{1} << 62);
  CHECK_EQ(run.code(), "X001");
  run.topology = Topology::ideal(0, 1'000'000'000'000);
  CHECK_EQ(run.code(), "none");
}

TEST_CASE("resident state of many large stages is refused before it wraps around") {
  Case run;
  run.schedule = build_schedule("interleaved", {.devices = 2, .microbatches = 2, .chunks = 2048, .params = {}});
  run.costs.stages.assign(4096, StageCost{});
  for (StageCost& stage : run.costs.stages) stage.weights = kLargestSize;
  CHECK_EQ(run.code(), "X001");
  for (StageCost& stage : run.costs.stages) stage.weights = kLargestSize / 8;
  CHECK_EQ(run.code(), "none");
}

TEST_CASE("a schedule that is not the one that was lowered is our own mistake") {
  const Case run;
  const Program program = std::get<Program>(lower(run.schedule));
  const Schedule other = build_schedule("gpipe", {.devices = 40, .microbatches = 2, .chunks = 0, .params = {}});
  CHECK_THROWS_AS((void)simulate(program, other, run.costs, run.topology), std::logic_error);
}
