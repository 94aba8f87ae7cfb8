// What `lower` makes of schedules that are not whole: an InputError that says what is wrong, never a crash.
#include "schedules/catalog.hpp"
#include "sim/engine/program.hpp"
#include "sim/engine/simulate.hpp"
#include "tests/support/test.hpp"

using namespace debubble;

namespace {

Schedule two_stages() {
  Schedule schedule;
  schedule.name = "two";
  schedule.devices = schedule.stages = 2;
  schedule.microbatches = 1;
  schedule.placement = loop_placement(2, 2);
  schedule.replica_of = {0};
  schedule.rows = {{{OpKind::kForward, false, 0, 0}, {OpKind::kBackward, false, 0, 0}},
                   {{OpKind::kForward, false, 1, 0}, {OpKind::kBackward, false, 1, 0}}};
  return schedule;
}

std::string first_code(const Schedule& schedule) {
  try {
    (void)lower(schedule);
  } catch (const InputError& error) {
    return error.diagnostics().at(0).code;
  }
  return "none";
}

}  // namespace

TEST_CASE("a whole schedule is lowered to one node per op") {
  const auto lowered = lower(two_stages());
  CHECK_EQ(std::get<Program>(lowered).nodes.size(), 4);
}

TEST_CASE("parts that disagree are refused before anything is read") {
  Schedule schedule = two_stages();
  schedule.replica_of.clear();
  CHECK_EQ(first_code(schedule), "T001");
  schedule = two_stages();
  schedule.replica_of = {7};
  CHECK_EQ(first_code(schedule), "T001");
  schedule = two_stages();
  schedule.rows.pop_back();
  CHECK_EQ(first_code(schedule), "T001");
  schedule = two_stages();
  schedule.placement = Placement(1, 2, {0, 5});
  CHECK_EQ(first_code(schedule), "T001");
}

TEST_CASE("a schedule far too large for its ops takes no memory for it") {
  Schedule schedule = two_stages();
  schedule.stages = 1'000'000;
  schedule.placement = loop_placement(2, 1'000'000);
  CHECK_EQ(first_code(schedule), "T004");
}

TEST_CASE("missing, doubled and misplaced ops are refused") {
  Schedule schedule = two_stages();
  schedule.rows[1].pop_back();
  CHECK_EQ(first_code(schedule), "T004");
  schedule = two_stages();
  schedule.rows[0].push_back({OpKind::kForward, false, 0, 0});
  CHECK_EQ(first_code(schedule), "T003");
  schedule = two_stages();
  schedule.rows[0].push_back({OpKind::kForward, false, 1, 0});
  CHECK(first_code(schedule) != "none");
}

TEST_CASE("rows that wait for each other are a deadlock, not an error") {
  Schedule schedule = two_stages();
  schedule.microbatches = 2;
  schedule.replica_of = {0, 0};
  schedule.rows = {{{OpKind::kForward, false, 0, 0},
                    {OpKind::kBackward, false, 0, 0},
                    {OpKind::kForward, false, 0, 1},
                    {OpKind::kBackward, false, 0, 1}},
                   {{OpKind::kForward, false, 1, 1},
                    {OpKind::kForward, false, 1, 0},
                    {OpKind::kBackward, false, 1, 0},
                    {OpKind::kBackward, false, 1, 1}}};
  const auto lowered = lower(schedule);
  REQUIRE(std::holds_alternative<Deadlock>(lowered));
  CHECK_EQ(std::get<Deadlock>(lowered).cycle.size(), 2);
}

// Runs whose numbers do not fit 64 bits are refused, from both sides of the limit; nothing wraps around.

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
