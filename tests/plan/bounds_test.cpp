// The bounds of a plan never exceed what the engine finds: on random orders and costs, and on modelled training jobs.
#include "studies/plan/bounds.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/step.hpp"
#include "schedules/catalog.hpp"
#include "sim/engine/program.hpp"
#include "studies/plan/space.hpp"
#include "studies/simulate/simulate.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// "" when the bounds of `order` hold for what was simulated.
std::string broken_bound(const OrderSummary& order, const StageCosts& costs, const StepWork& step,
                         const Report& report) {
  const Nanoseconds bound = step_bound(order, costs, step, report.schedule.microbatches);
  if (bound > report.makespan) {
    return "step bound " + std::to_string(bound) + " above " + std::to_string(report.makespan);
  }
  const std::vector<Bytes> memory = memory_bound(order, costs);
  for (const DeviceReport& device : report.devices) {
    const Bytes least = memory[static_cast<std::size_t>(device.device)];
    if (least > device.peak_memory) {
      return "memory bound of device " + std::to_string(device.device) + ", " + std::to_string(least) + ", above " +
             std::to_string(device.peak_memory);
    }
  }
  return "";
}

// Of so many microbatches, or fewer where the row refuses them.
std::optional<Schedule> built(const ScheduleEntry& entry, int devices, int microbatches, int chunks) {
  try {
    ScheduleRequest request;
    request.devices = devices;
    request.microbatches = microbatches;
    request.chunks = chunks;
    return build_schedule(entry.name, request);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// Slow links and long transfers together may last longer than 64 bits of nanoseconds say.
std::optional<EngineRun> run_if_short(const Schedule& schedule, const StageCosts& costs, const HopFigures& link) {
  try {
    return run_engine(schedule, costs, link);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// Rows with a flush, with random costs and links. How many of the seeds were tried: others have no such order.
int try_random_costs(std::uint64_t seeds) {
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Dice dice(seed);
    const auto catalog = schedule_catalog();
    const ScheduleEntry& entry = catalog[static_cast<std::size_t>(dice.from(0, static_cast<int>(catalog.size()) - 1))];
    if (entry.family == ScheduleFamily::kAsynchronous || entry.uses_costs) continue;
    const int devices = static_cast<int>(dice.from(1, 6));
    const int microbatches = static_cast<int>(dice.from(1, 5 * devices));
    const int chunks = entry.chunk_step > 0 && entry.default_chunks > 1
                           ? entry.default_chunks + entry.chunk_step * static_cast<int>(dice.from(0, 1))
                           : 0;
    const auto schedule = built(entry, devices, microbatches, chunks);
    const auto pattern = built(entry, devices, std::min(microbatches, 2 * devices), chunks);
    if (!schedule || !pattern) continue;
    const StageCosts costs = random_costs(schedule->stages, dice);
    const std::optional<EngineRun> run = run_if_short(*schedule, costs, random_link(dice));
    if (!run || run->deadlock) continue;
    CAPTURE(seed);
    CAPTURE(entry.name);
    CAPTURE(devices);
    CAPTURE(microbatches);
    REQUIRE_EQ(broken_bound(summarise(*schedule), costs, {}, run->report), "");
    PlanChoice row;
    row.schedule = entry.name;
    REQUIRE_EQ(broken_bound(summary_for(row, *pattern), costs, {}, run->report), "");
    REQUIRE_LE(walk_bound(*schedule, std::get<Program>(lower(*schedule)), costs), run->report.makespan);
    ++tried;
  }
  return tried;
}

}  // namespace

TEST_CASE("bounds by a pattern of the order hold for every synchronous row, with random costs") {
  CHECK(try_random_costs(4000) > 1000);
}

TEST_CASE("bounds by a pattern of the order hold with a hundred thousand random costs" * doctest::skip()) {
  CHECK(try_random_costs(200'000) >= 100'000);
}

TEST_CASE("the walk of an order on ideal links is its step there") {
  const Schedule gems = build("gems", 4, 8);
  const StageCosts costs = toy_costs(gems, 1, 2);
  const Nanoseconds step = run_engine(gems, costs, {}).report.makespan;
  CHECK_EQ(walk_bound(gems, std::get<Program>(lower(gems)), costs), step);
  CHECK_LT(step_bound(summarise(gems), costs, StepWork{}, 8),
           step);  // its devices wait for each other most of the time
}

TEST_CASE("the step bound of 1f1b with equal stages is its step, and every unit above it would be too much") {
  const Schedule schedule = build("1f1b", 4, 8);
  const StageCosts costs = toy_costs(schedule, 1, 2);
  const EngineRun run = run_engine(schedule, costs, {});
  CHECK_EQ(step_bound(summarise(schedule), costs, StepWork{}, 8), run.report.makespan);
  CHECK_EQ(step_bound(summarise(build("1f1b", 4, 4)), costs, StepWork{}, 8), run.report.makespan);
  StepWork step;
  StepTask reduce;
  reduce.duration = 20 * kUnit;
  reduce.after_stages = {{0, 0}};
  step.tasks.push_back(reduce);
  CHECK_EQ(step_bound(summarise(schedule), costs, step, 8), (8 * 3 + 20) * kUnit);  // device 0 works without a gap
}

namespace {

PlanRequest cluster_request() {
  PlanRequest request;
  request.job.transformer.model = "gpt2-small";
  request.job.transformer.sequence = 1024;
  request.job.cluster.topology = "dgx-h100:2";
  request.gpus = 16;
  request.global_batch = 64;
  request.alike = 8;
  request.layers = 14;
  request.heads = 12;
  request.sequence = 1024;
  return request;
}

// Of how many random choices of the space the bounds were checked.
int check_bounds(const PlanRequest& request, std::uint64_t seeds) {
  const PlanSpace space = plan_space(request);
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Dice dice(seed);
    const auto pick = [&](std::size_t count) {
      return static_cast<std::size_t>(dice.from(0, static_cast<int>(count) - 1));
    };
    PlanChoice choice = space.bases[pick(space.bases.size())];
    const std::vector<PlanVariant>& variants = space.variants_of(choice);
    const PlanVariant& variant = variants[pick(variants.size())];
    choice.schedule = variant.schedule;
    choice.chunks = variant.chunks;
    choice.params = variant.params;
    const std::vector<int> zeros = space.zeros_of(choice);
    choice.zero = zeros[pick(zeros.size())];
    try {
      NoProgress nobody;
      Scenario scenario = check_scenario(flags_of(choice, request.job));
      const Simulated run = simulate(scenario, choice.schedule, nobody);
      if (run.result.report.deadlock) continue;
      scenario.microbatches = std::min(choice.microbatches, 2 * choice.pipeline);
      const Job pattern = prepare(scenario, choice.schedule, nobody);
      const std::string text = to_string(choice);
      CAPTURE(text);
      const OrderSummary order = summary_for(choice, pattern.schedule);
      REQUIRE_EQ(broken_bound(order, pattern.costs, pattern.step, run.result.report), "");
      const Job& job = run.job;
      const auto program = std::get<Program>(lower(job.schedule, job.p2p));
      REQUIRE_LE(walk_bound(job.schedule, program, job.costs), run.result.report.makespan);
      const std::vector<Bytes> memory = memory_bound(order, pattern.costs);
      if (missing_memory(memory, run.job.memory.capacities) > 0) REQUIRE(run.result.report.memory_fit->spare < 0);
      ++tried;
    } catch (const InputError&) {
      continue;  // no such run
    }
  }
  return tried;
}

}  // namespace

TEST_CASE("bounds hold for modelled training jobs with a step, on a cluster") {
  REQUIRE(plan_space(cluster_request()).bases.size() > 50);
  CHECK(check_bounds(cluster_request(), 300) > 100);
}

TEST_CASE("bounds hold for orders that depend on the times, with every usual value of their parameters") {
  PlanRequest request = cluster_request();
  request.allowed["schedule"] = {"zb-auto", "zb-v-auto", "dapple", "pipeoffload", "optimal"};
  request.allowed["pp"] = {"2", "4"};
  request.allowed["budget"] = {"100"};  // of optimal's search
  CHECK(check_bounds(request, 200) > 100);
  request.allowed["schedule"] = {"pipeoffload"};
  request.allowed.erase("budget");
  request.allowed["offload_chunks"] = {"auto", "0", "1", "2"};
  CHECK(check_bounds(request, 100) > 50);
}

TEST_CASE("states of a measured layer count as ZeRO leaves them on a rank, modelled ones as they are") {
  Scenario scenario;
  scenario.cluster.sizes.data = 2;
  scenario.cluster.sizes.context = 2;
  ProfileLayer layer;
  layer.parameters = 8;
  layer.gradients = 16;
  layer.optimizer = 32;
  const auto states = [&](int zero) {
    scenario.cluster.sizes.zero = zero;
    return least_states(scenario, layer);
  };
  CHECK_EQ(states(0), 8 + 16 + 32);
  CHECK_EQ(states(1), 8 + 16 + 8);
  CHECK_EQ(states(2), 8 + 4 + 8);
  CHECK_EQ(states(3), 2 + 4 + 8);
  scenario.transformer.setup = TrainingSetup{};
  CHECK_EQ(states(3), 8 + 16 + 32);
}
