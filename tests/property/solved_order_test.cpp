// The MILP of the schedule optimal: its optimum is that of our own exact search, and with copies to the host that of
// every order with every plan of copies; what it plans is what the engine runs.
#include "schedules/optimal/program/solved_order.hpp"
#include "schedules/optimal.hpp"
#include "schedules/optimal/copies/copied_order.hpp"
#include "schedules/optimal/order_search.hpp"
#include "sim/core/topology.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/every_plan.hpp"
#include "tests/support/planned.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Where a test runs is not where debubble is: the plugin is named.
void name_solver_plugin() { ::setenv("DEBUBBLE_CBC_PLUGIN", DEBUBBLE_CBC_PLUGIN_FILE, 1); }  // NOLINT: one thread

Nanoseconds solved_unaided(const OrderProblem& problem, bool copies) {
  OrderBudget budget(100'000'000);
  const std::vector<OrderStart> starts{{"one microbatch at a time", one_at_a_time(problem)}};
  const SolvedOrder solved = solve_order(problem, starts, {copies, false}, budget);
  REQUIRE(solved.plan.exhausted);
  return solved.plan.cost;
}

}  // namespace

TEST_CASE("the MILP without copies has the optimum of our exact search") {
  name_solver_plugin();
  int cases = 0;
  const auto agree = [&](int devices, int microbatches, int chunks, int count) {
    for (int seed = 1; seed <= count; ++seed) {
      Dice dice(static_cast<std::uint64_t>(10'000 * devices + 1000 * microbatches + 100 * chunks + seed));
      CAPTURE(devices);
      CAPTURE(microbatches);
      CAPTURE(chunks);
      CAPTURE(seed);
      const bool split = !dice.once_in(4);
      const OrderProblem problem = copied_case(dice, devices, microbatches, chunks)
                                       .problem(split, dice.once_in(3) ? OrderGoal::kSpan : OrderGoal::kStep);
      OrderBudget budget(10'000'000);
      const OrderPlan searched = search_orders(problem, {{"one microbatch at a time", one_at_a_time(problem)}}, budget);
      REQUIRE(searched.proven());
      REQUIRE(solved_unaided(problem, false) == searched.cost);
      ++cases;
    }
  };
  agree(1, 3, 1, 10);
  agree(2, 2, 1, 20);
  agree(2, 3, 1, 20);
  agree(3, 2, 1, 10);
  agree(2, 2, 2, 10);
  agree(3, 3, 1, 5);
  MESSAGE(cases << " cases agree");
}

TEST_CASE("the MILP with copies has the optimum of all orders and all plans of copies") {
  name_solver_plugin();
  int cases = 0;
  int shorter = 0;
  const auto agree = [&](int devices, int microbatches, int count) {
    for (int seed = 1; seed <= count; ++seed) {
      Dice dice(static_cast<std::uint64_t>(10'000 * devices + 1000 * microbatches + seed));
      CAPTURE(devices);
      CAPTURE(microbatches);
      CAPTURE(seed);
      const CopiedCase of = tight_copied_case(dice, devices, microbatches);
      const OrderProblem problem = of.problem(microbatches < 3, OrderGoal::kStep);
      const Nanoseconds solved = solved_unaided(problem, true);
      REQUIRE(solved == best_of_every_plan(problem));
      OrderBudget budget(2'000'000);
      const std::vector<OrderStart> starts{{"one microbatch at a time", one_at_a_time(problem)}};
      const CopiedPlan searched = search_copied_orders(problem, starts, std::nullopt, false, budget);
      REQUIRE(searched.order.has_value());
      REQUIRE(searched.order->cost == solved);
      REQUIRE(searched.bound.cost == solved);
      shorter += solved < solved_unaided(problem, false) ? 1 : 0;
      ++cases;
    }
  };
  agree(1, 2, 10);
  agree(1, 3, 10);
  agree(2, 2, 20);
  agree(2, 3, 20);
  MESSAGE(cases << " cases agree; copies make " << shorter << " of them shorter");
  CHECK(shorter >= 5);
}

namespace {

// All orders enumerated by a program of others: stages, microbatches, F, I and W, hop, and by limit in halves of an
// activation (2, 3, ...) the makespan; 0: not given.
struct EnumeratedRow {
  int devices, microbatches;
  Nanoseconds forward, input_grad, weight_grad, hop;
  std::vector<std::pair<Bytes, Nanoseconds>> makespans;
};

const std::vector<EnumeratedRow> kEnumerated{
    {2, 2, 2, 2, 2, 0, {{2, 20}, {3, 18}, {4, 14}, {5, 14}, {6, 14}, {8, 14}}},
    {2, 3, 2, 2, 2, 0, {{2, 30}, {3, 26}, {4, 20}, {5, 20}, {6, 20}, {8, 20}}},
    {2, 3, 2, 2, 2, 1, {{2, 36}, {3, 32}, {4, 24}, {5, 22}, {6, 21}, {8, 21}}},
    {3, 3, 2, 2, 2, 0, {{2, 42}, {3, 38}, {4, 28}, {5, 26}, {6, 22}}},
    {2, 4, 2, 2, 2, 0, {{2, 40}, {3, 34}, {4, 26}, {5, 26}}},
    {2, 3, 4, 6, 2, 0, {{2, 66}, {3, 62}, {4, 44}, {5, 42}, {6, 42}, {8, 42}}},
};

}  // namespace

TEST_CASE("golden: enumerated makespans, by our search and by the MILP, which copies only shorten") {
  name_solver_plugin();
  for (const EnumeratedRow& row : kEnumerated) {
    for (const auto& given : row.makespans) {
      const Bytes limit = given.first;
      const Nanoseconds makespan = given.second;
      CAPTURE(row.devices);
      CAPTURE(row.microbatches);
      CAPTURE(limit);
      const Case of =
          equal_case(row.devices, row.microbatches, {row.forward, row.input_grad, row.weight_grad, 2, 1}, row.hop);
      PlanningCosts known = of.known();
      for (StageCost& stage : known.costs.stages) stage.copy = 1;
      const std::vector<Bytes> limits(static_cast<std::size_t>(row.devices), limit);
      const OrderProblem problem = order_problem(known, loop_placement(row.devices, row.devices), row.microbatches,
                                                 limits, true, OrderGoal::kStep);
      OrderBudget budget(1'000'000);
      const OrderPlan plan = search_orders(problem, {{"", one_at_a_time(problem)}}, budget);
      REQUIRE(plan.proven());
      REQUIRE(plan.cost == makespan);
      REQUIRE(solved_unaided(problem, false) == makespan);
      if (row.devices * row.microbatches > 6 || limit % 2 != 0) continue;  // with copies it takes long
      REQUIRE(solved_unaided(problem, true) <= makespan);
    }
  }
}

TEST_CASE("our search with copies has the MILP's optimum where both devices have too little memory") {
  name_solver_plugin();
  struct SolvedRow {
    int microbatches;
    bool split;
    Bytes limit;  // activations of 2 bytes
  };
  for (const SolvedRow& row : std::vector<SolvedRow>{
           {2, false, 2}, {2, false, 3}, {2, true, 2}, {2, true, 3}, {3, false, 2}, {3, false, 3}, {3, false, 4}}) {
    CAPTURE(row.microbatches);
    CAPTURE(row.split);
    CAPTURE(row.limit);
    PlanningCosts known = equal_case(2, row.microbatches, {1, 1, 1, 2, 1}, 2).known();
    for (StageCost& stage : known.costs.stages) stage.copy = 1;
    const OrderProblem problem = order_problem(known, loop_placement(2, 2), row.microbatches, {row.limit, row.limit},
                                               row.split, OrderGoal::kStep);
    const std::vector<OrderStart> starts{{"one microbatch at a time", one_at_a_time(problem)}};
    OrderBudget nodes(1'000'000'000);
    const SolvedOrder solved = solve_order(problem, starts, {.copies = true}, nodes);
    REQUIRE(solved.plan.proven());
    OrderBudget budget(2'000'000);
    const CopiedPlan searched = search_copied_orders(problem, starts, std::nullopt, false, budget);
    REQUIRE(searched.order.has_value());
    REQUIRE(searched.order->cost == solved.plan.cost);
    REQUIRE(searched.bound.cost == solved.plan.cost);
  }
}

TEST_CASE("what the MILP plans with copies is what the engine runs, within the memory") {
  name_solver_plugin();
  int copied = 0;
  for (int seed = 1; seed <= 12; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    CAPTURE(seed);
    Case of{2, 3, {}, dice.from(0, 2)};
    for (int s = 0; s < 2; ++s) of.passes.push_back({dice.from(2, 9), dice.from(2, 9), dice.from(2, 9), 4, 2});
    PlanningCosts known = of.known();
    for (StageCost& stage : known.costs.stages) stage.copy = dice.from(1, 3);
    ScheduleRequest request{2, 3, 1, {{"memory_limit", "8B,4B"}, {"solver", "cbc"}, {"offload", "yes"}}};
    request.costs = &known;
    const OptimalSchedule made = search_optimal(request);
    for (const ScheduleProblem& problem : find_problems(made.schedule)) REQUIRE_EQ(problem.message, "");
    const auto lowered_rows = lower(made.schedule);
    const Totals totals = simulate_totals(std::get<Program>(lowered_rows), known.costs, Topology::ideal(of.hop, 0));
    REQUIRE(totals.makespan == made.proof.time);
    REQUIRE(totals.devices[0].peak_activation <= 8);
    REQUIRE(totals.devices[1].peak_activation <= 4);
    copied += made.schedule.copies.empty() ? 0 : 1;
  }
  CHECK(copied > 0);
}
