// Orders with copies to the host, found by our own search: the optimum of all orders with all plans of copies, exactly
// what the engine runs, never beyond a limit, never worse than without copies, and never below a bound.
#include "schedules/optimal/copies/copied_order.hpp"
#include "schedules/optimal.hpp"
#include "schedules/optimal/copies/copy_tree.hpp"
#include "schedules/optimal/order_search.hpp"
#include "sim/core/topology.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/every_plan.hpp"
#include "tests/support/planned.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr Nanoseconds kNoCost = std::numeric_limits<Nanoseconds>::max() / 4;

std::vector<OrderStart> one_start(const OrderProblem& problem) {
  return {{"one microbatch at a time", one_at_a_time(problem)}};
}

CopiedPlan searched(const OrderProblem& problem, std::int64_t nodes) {
  OrderBudget budget(nodes);
  return search_copied_orders(problem, one_start(problem), std::nullopt, false, budget);
}

}  // namespace

TEST_CASE("the exact search has the optimum of all orders and all plans of copies, and so has the whole search") {
  int cases = 0;
  int copied = 0;
  const auto agree = [&](int devices, int microbatches, int count) {
    for (int seed = 1; seed <= count; ++seed) {
      Dice dice(static_cast<std::uint64_t>(10'000 * devices + 1000 * microbatches + seed));
      CAPTURE(devices);
      CAPTURE(microbatches);
      CAPTURE(seed);
      const CopiedCase of = tight_copied_case(dice, devices, microbatches);
      const OrderProblem problem = of.problem(microbatches < 3, dice.once_in(4) ? OrderGoal::kSpan : OrderGoal::kStep);
      REQUIRE(CopyTree::applies(problem));
      const Nanoseconds best = best_of_every_plan(problem);
      OrderBudget budget(20'000'000);
      const CopyTree::Result exact = CopyTree(problem).search(kNoCost, budget);
      REQUIRE(exact.complete);
      REQUIRE(exact.found);
      REQUIRE(exact.best.cost == best);
      REQUIRE(copied_memory_bound(problem).cost <= best);
      const CopiedPlan plan = searched(problem, 2'000'000);
      REQUIRE(plan.order.has_value());
      REQUIRE(plan.order->cost == best);
      REQUIRE(plan.bound.cost == best);
      const CopiedTimes times = time_with_copies(problem, plan.order->orders, plan.order->copies);
      REQUIRE(times.runs);
      REQUIRE(times.over == 0);
      REQUIRE(times.cost == best);
      OrderBudget without(10'000'000);
      const OrderPlan plain = search_orders(problem, one_start(problem), without);
      REQUIRE(plain.proven());
      copied += best < plain.cost ? 1 : 0;
      ++cases;
    }
  };
  agree(1, 2, 20);
  agree(1, 3, 10);
  agree(2, 2, 60);
  agree(2, 3, 60);
  MESSAGE(cases << " cases agree; copies make " << copied << " of them shorter");
  CHECK(copied >= 15);
}

TEST_CASE("closed: copies let a device run ahead as far as its lane is free, and the optimum is what it can be") {
  // Two stages, whole backwards of 2, forwards of 1, copies of 1, hops of h: with all memory the step is that of the
  // last device, which waits for its first input and works on, or of one microbatch's whole way.
  struct ClosedRow {
    int microbatches;
    Nanoseconds hop;
    Bytes limit;  // activations of 2 bytes
    Nanoseconds without, with;
  };
  for (const ClosedRow& row : std::vector<ClosedRow>{{2, 2, 2, 20, 20},     // one at a time, nothing to gain
                                                     {3, 2, 4, 20, 16},     // 1 + h + 3 x 3 + h + 2
                                                     {4, 2, 4, 23, 19},     // 1 + h + 4 x 3 + h + 2
                                                     {3, 6, 4, 36, 24},     // 1 + h + 3 x 3 + h + 2
                                                     {4, 2, 6, 20, 19}}) {  // 1 + h + 4 x 3 + h + 2
    CAPTURE(row.microbatches);
    CAPTURE(row.hop);
    CAPTURE(row.limit);
    PlanningCosts costs;
    for (int s = 0; s < 2; ++s) {
      StageCost stage;
      stage.forward = stage.input_grad = stage.weight_grad = stage.copy = 1;
      stage.backward = 2;
      stage.activation = stage.weight_grad_held = 2;
      costs.costs.stages.push_back(stage);
    }
    costs.hops = {row.hop};
    const OrderProblem problem =
        order_problem(costs, loop_placement(2, 2), row.microbatches, {row.limit, row.limit}, false, OrderGoal::kStep);
    OrderBudget budget(1'000'000);
    const OrderPlan plain = search_orders(problem, one_start(problem), budget);
    CHECK(plain.proven());
    CHECK(plain.cost == row.without);
    const CopiedPlan plan = searched(problem, 2'000'000);
    REQUIRE(plan.order.has_value());
    CHECK(plan.order->cost == row.with);
    CHECK(plan.bound.cost == row.with);
  }
}

TEST_CASE("what is planned with copies is what the engine runs, within the memory, and no worse than without copies") {
  int copied = 0;
  int shorter = 0;
  int only = 0;
  int cases = 0;
  for (int seed = 1; seed <= 150; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    CAPTURE(seed);
    const int devices = dice.from(1, 4);
    const int chunks = dice.from(1, 2);
    Case of{devices, dice.from(1, 8), {}, dice.from(0, 9)};
    const bool odd = dice.once_in(4);  // ops and copies that take no time, and more held for W than was made
    for (int s = 0; s < devices * chunks; ++s) {
      const int least = odd ? 0 : 1;
      const int activation = dice.from(2, 6);
      of.passes.push_back({dice.from(least, 9), dice.from(least, 9), dice.from(least, 9), activation,
                           dice.from(0, odd ? activation + 2 : activation)});
    }
    PlanningCosts known = of.known();
    for (StageCost& stage : known.costs.stages) stage.copy = dice.from(odd ? 0 : 1, 6);
    ScheduleRequest request{devices, of.microbatches, chunks, {{"budget", "3k"}}};
    std::string limits;
    for (int d = 0; d < devices; ++d) limits += (d == 0 ? "" : ",") + std::to_string(dice.from(4, 24)) + "B";
    request.params["memory_limit"] = limits;
    if (dice.once_in(3)) request.params["goal"] = "span";
    request.costs = &known;
    const auto tried = [&](const char* offload) -> std::optional<OptimalSchedule> {
      request.params["offload"] = offload;
      try {
        return search_optimal(request);
      } catch (const InputError& error) {
        REQUIRE(error.diagnostics().front().code == "S042");
        return std::nullopt;
      }
    };
    const auto plain = tried("no");
    const auto made = tried("yes");
    if (plain) REQUIRE(made.has_value());
    if (!made) continue;
    ++cases;
    for (const ScheduleProblem& problem : find_problems(made->schedule)) REQUIRE_EQ(problem.message, "");
    const auto lowered_rows = lower(made->schedule);
    const Totals totals = simulate_totals(std::get<Program>(lowered_rows), known.costs, Topology::ideal(of.hop, 0));
    if (!made->proof.span) REQUIRE(totals.makespan == made->proof.time);
    for (std::size_t d = 0; d < totals.devices.size(); ++d) {
      Bytes limit = 0;
      std::size_t begin = 0;
      for (std::size_t k = 0; k < d; ++k) begin = limits.find(',', begin) + 1;
      limit = std::stoll(limits.substr(begin));
      REQUIRE(totals.devices[d].peak_activation <= limit);
    }
    REQUIRE(made->proof.bound <= made->proof.time);
    copied += made->schedule.copies.empty() ? 0 : 1;
    if (!plain) {
      ++only;
      continue;
    }
    REQUIRE(made->proof.time <= plain->proof.time);
    REQUIRE(made->proof.bound <= plain->proof.time);
    shorter += made->proof.time < plain->proof.time ? 1 : 0;
  }
  MESSAGE(cases << " cases, " << copied << " with copies, " << shorter << " shorter by them, " << only
                << " that fit with them only");
  CHECK(shorter >= 20);
  CHECK(only >= 1);
}
