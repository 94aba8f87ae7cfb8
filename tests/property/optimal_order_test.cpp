// The schedule optimal: its optimum against every order of tiny pipelines, its bound against random orders, its own
// times against the engine's, and its promise never to be slower than a row with the same memory.
#include "schedules/catalog.hpp"
#include "schedules/optimal.hpp"
#include "schedules/optimal/order_search.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/planned.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

using TinyRow = std::vector<Op>;

// Every order of every device, microbatches in any order, in plain loops: shares nothing with the search.
class EveryRow {
 public:
  EveryRow(const Case& of, const Placement& placement, const std::vector<Bytes>& limits, bool span)
      : of_(of), placement_(placement), limits_(limits), span_(span), rows_(limits.size()) {
    for (int d = 0; d < of.devices; ++d) {
      TinyRow row;
      extend(d, row);
    }
  }

  Nanoseconds best() {
    std::vector<const TinyRow*> chosen;
    choose(chosen);
    return best_;
  }

 private:
  [[nodiscard]] const Pass& pass(int stage) const { return of_.passes[static_cast<std::size_t>(stage)]; }

  void extend(int device, TinyRow& row) {
    std::size_t all = 0;
    for (int s = 0; s < placement_.stages(); ++s) {
      if (placement_.device_of(0, s) != device) continue;
      for (int k = 0; k < of_.microbatches; ++k) {
        for (const OpKind kind : {OpKind::kForward, OpKind::kInputGrad, OpKind::kWeightGrad}) {
          ++all;
          const Op op{kind, false, s, k};
          if (std::find(row.begin(), row.end(), op) != row.end()) continue;
          if (kind == OpKind::kInputGrad && !has(row, {OpKind::kForward, false, s, k})) continue;
          if (kind == OpKind::kWeightGrad && !has(row, {OpKind::kInputGrad, false, s, k})) continue;
          row.push_back(op);
          if (peak(row) <= limits_[static_cast<std::size_t>(device)]) extend(device, row);
          row.pop_back();
        }
      }
    }
    if (row.size() == all) rows_[static_cast<std::size_t>(device)].push_back(row);
  }

  static bool has(const TinyRow& row, const Op& op) { return std::find(row.begin(), row.end(), op) != row.end(); }

  [[nodiscard]] Bytes peak(const TinyRow& row) const {
    Bytes held = 0;
    Bytes most = 0;
    for (const Op& op : row) {
      if (op.kind == OpKind::kForward) held += pass(op.stage).activation;
      most = std::max(most, held);
      if (op.kind == OpKind::kInputGrad) held += pass(op.stage).held - pass(op.stage).activation;
      if (op.kind == OpKind::kWeightGrad) held -= pass(op.stage).held;
      most = std::max(most, held);
    }
    return most;
  }

  void choose(std::vector<const TinyRow*>& chosen) {
    if (chosen.size() == rows_.size()) {
      best_ = std::min(best_, cost(chosen));
      return;
    }
    for (const TinyRow& row : rows_[chosen.size()]) {
      chosen.push_back(&row);
      choose(chosen);
      chosen.pop_back();
    }
  }

  [[nodiscard]] Nanoseconds duration(const Op& op) const {
    const Pass& of = pass(op.stage);
    return op.kind == OpKind::kForward ? of.forward : op.kind == OpKind::kInputGrad ? of.input_grad : of.weight_grad;
  }

  [[nodiscard]] std::size_t slot(OpKind kind, int stage, int microbatch) const {
    const int direction = kind == OpKind::kForward ? 0 : 1;
    return static_cast<std::size_t>((direction * placement_.stages() + stage) * of_.microbatches + microbatch);
  }

  [[nodiscard]] Nanoseconds cost(const std::vector<const TinyRow*>& rows) const {
    std::vector<Nanoseconds> ends(2 * of_.passes.size() * static_cast<std::size_t>(of_.microbatches), -1);
    std::vector<std::size_t> next(rows.size(), 0);
    std::vector<Nanoseconds> free(rows.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t d = 0; d < rows.size(); ++d) {
        for (; next[d] < rows[d]->size(); ++next[d], moved = true) {
          const Op& op = (*rows[d])[next[d]];
          Nanoseconds begin = free[d];
          const int from = op.kind == OpKind::kForward ? op.stage - 1 : op.stage + 1;
          if (op.kind != OpKind::kWeightGrad && from >= 0 && from < placement_.stages()) {
            const Nanoseconds end = ends[slot(op.kind, from, op.microbatch)];
            if (end < 0) break;
            begin = std::max(begin, end + (placement_.device_of(0, from) == static_cast<int>(d) ? 0 : of_.hop));
          }
          free[d] = begin + duration(op);
          if (op.kind != OpKind::kWeightGrad) ends[slot(op.kind, op.stage, op.microbatch)] = free[d];
        }
      }
    }
    Nanoseconds longest = 0;
    for (std::size_t d = 0; d < rows.size(); ++d) {
      if (next[d] < rows[d]->size()) return std::numeric_limits<Nanoseconds>::max();
      longest = std::max(longest, free[d] - (span_ ? head(static_cast<int>(d)) : 0));
    }
    return longest;
  }

  // The earliest begin that a device may have.
  [[nodiscard]] Nanoseconds head(int device) const {
    Nanoseconds now = 0;
    for (int s = 0; placement_.device_of(0, s) != device; ++s) {
      now += pass(s).forward;
      if (placement_.device_of(0, s) != placement_.device_of(0, s + 1)) now += of_.hop;
    }
    return now;
  }

  const Case& of_;
  Placement placement_;
  std::vector<Bytes> limits_;
  bool span_;
  std::vector<std::vector<TinyRow>> rows_;
  Nanoseconds best_ = std::numeric_limits<Nanoseconds>::max();
};

struct Tight {
  Case of;
  std::vector<Bytes> limits;
};

// Unequal stages, some ops without time, W that hold more than the activation did, limits from one microbatch on.
Tight tight_case(Dice& dice, int devices, int microbatches, int chunks) {
  Tight tight;
  tight.of.devices = devices;
  tight.of.microbatches = microbatches;
  tight.of.hop = dice.once_in(3) ? 0 : dice.from(0, 5);
  const int scale = dice.once_in(2) ? 4 : 97;
  for (int s = 0; s < devices * chunks; ++s) {
    Pass pass{dice.from(dice.once_in(6) ? 0 : 1, scale), dice.from(1, scale), dice.from(dice.once_in(6) ? 0 : 1, scale),
              0, 0};
    pass.activation = dice.from(1, 6);
    pass.held = dice.once_in(4) ? dice.from(0, 8) : dice.from(0, static_cast<int>(pass.activation));
    tight.of.passes.push_back(pass);
  }
  for (int d = 0; d < devices; ++d) {
    // Enough for one microbatch after another, whatever the placement.
    Bytes least = 0;
    for (int n = 0; n < devices * chunks; ++n) {
      const Pass& pass = tight.of.passes[static_cast<std::size_t>(n)];
      if (chunks > 1) least += std::max(pass.activation, pass.held);
      if (chunks == 1 && n == d) least = std::max(pass.activation, pass.held);
    }
    tight.limits.push_back(least + dice.from(0, 6 * microbatches));
  }
  return tight;
}

std::string bytes_each(const std::vector<Bytes>& limits) {
  std::string text;
  for (const Bytes limit : limits) text += (text.empty() ? "" : ",") + std::to_string(limit) + "B";
  return text;
}

OptimalSchedule searched(const Tight& tight, Params params) {
  params["memory_limit"] = bytes_each(tight.limits);
  const PlanningCosts known = tight.of.known();
  ScheduleRequest request{tight.of.devices, tight.of.microbatches, tight.of.chunks(), params};
  request.costs = &known;
  return search_optimal(request);
}

void check_against_every_order(int devices, int microbatches, int chunks, int cases) {
  for (int seed = 1; seed <= cases; ++seed) {
    Dice dice(static_cast<std::uint64_t>(1000 * devices + 100 * microbatches + 10 * chunks) * 1000 +
              static_cast<std::uint64_t>(seed));
    const Tight tight = tight_case(dice, devices, microbatches, chunks);
    const bool span = dice.once_in(3);
    const bool zigzag = chunks > 1 && dice.once_in(2);
    CAPTURE(devices);
    CAPTURE(microbatches);
    CAPTURE(seed);
    const auto [schedule, proof] = searched(
        tight, {{"goal", span ? "span" : "step"}, {"backward", "split"}, {"placement", zigzag ? "zigzag" : "loop"}});
    const Nanoseconds best = EveryRow(tight.of, schedule.placement, tight.limits, span).best();
    REQUIRE(proof.proven);
    REQUIRE(proof.time == best);
    REQUIRE(proof.bound == best);
  }
}

}  // namespace

TEST_CASE("optimal: the optimum of tiny pipelines is that of all orders, microbatches in any order") {
  check_against_every_order(1, 3, 1, 30);
  check_against_every_order(2, 2, 1, 200);
  check_against_every_order(3, 2, 1, 40);
  check_against_every_order(1, 2, 2, 30);
  check_against_every_order(2, 1, 2, 200);
}

namespace {

// A legal order at random within the limits: microbatches of a kind in order, as all orders of optimal are.
Orders random_orders(const OrderProblem& problem, Dice& dice) {
  Orders orders(static_cast<std::size_t>(problem.devices));
  std::vector<Bytes> held(orders.size(), 0);
  std::vector<int> counts(problem.queues.size(), 0);
  for (;;) {
    std::vector<std::int32_t> ready;
    for (std::size_t q = 0; q < problem.queues.size(); ++q) {
      const OrderQueue& queue = problem.queues[q];
      const auto done = [&](std::int32_t other) { return other < 0 || at(counts, other) > counts[q]; };
      if (counts[q] == problem.microbatches || !done(queue.needs) || !done(queue.feeder)) continue;
      const Bytes begin = at(held, queue.device) + queue.at_begin;
      if (std::max(begin, begin + queue.at_end) <= at(problem.limits, queue.device))
        ready.push_back(static_cast<std::int32_t>(q));
    }
    if (ready.empty()) break;
    const std::int32_t q = at(ready, dice.from(0, static_cast<int>(ready.size()) - 1));
    const OrderQueue& queue = at(problem.queues, q);
    at(held, queue.device) += queue.at_begin + queue.at_end;
    at(orders, queue.device).push_back(q);
    ++at(counts, q);
  }
  return orders;
}

bool is_whole(const OrderProblem& problem, const Orders& orders) {
  std::size_t ops = 0;
  for (const auto& row : orders) ops += row.size();
  return ops == problem.ops();
}

Schedule as_schedule(const OrderProblem& problem, const Placement& placement, const Orders& orders) {
  const int chunks = problem.stages / problem.devices;
  Schedule schedule = build_schedule("optimal", {problem.devices, problem.microbatches, chunks, {{"budget", "0"}}});
  schedule.placement = placement;
  std::vector<int> next(problem.queues.size(), 0);
  for (std::size_t d = 0; d < orders.size(); ++d) {
    schedule.rows[d].clear();
    for (const std::int32_t q : orders[d]) {
      const OrderQueue& queue = at(problem.queues, q);
      schedule.rows[d].push_back({queue.kind, false, queue.stage, at(next, q)++});
    }
  }
  return schedule;
}

}  // namespace

TEST_CASE("optimal: its own times of random orders are the engine's, and no order is below the bound") {
  int whole = 0;
  for (int seed = 1; seed <= 3000; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    const int chunks = dice.once_in(3) ? dice.from(2, 3) : 1;
    const int devices = dice.from(1, 5);
    const Tight tight = tight_case(dice, devices, dice.from(1, 8), chunks);
    const int stages = devices * chunks;
    const Placement placement = dice.once_in(2) ? loop_placement(devices, stages) : zigzag_placement(devices, stages);
    const bool split = !dice.once_in(4);
    const bool span = dice.once_in(3);
    const OrderProblem problem = order_problem(tight.of.known(), placement, tight.of.microbatches, tight.limits, split,
                                               span ? OrderGoal::kSpan : OrderGoal::kStep);
    const Orders orders = random_orders(problem, dice);
    if (!is_whole(problem, orders)) continue;  // out of memory on the way
    ++whole;
    CAPTURE(seed);
    REQUIRE(within_limits(problem, orders));
    OrderTimes times(problem);
    REQUIRE(times.evaluate(orders));
    REQUIRE(order_bound(problem).cost <= times.cost());
    const Totals totals = totals_of(as_schedule(problem, placement, orders), tight.of);
    if (!span) REQUIRE(totals.makespan == times.cost());
    for (std::size_t d = 0; d < tight.limits.size(); ++d) REQUIRE(totals.devices[d].peak_activation <= tight.limits[d]);
  }
  CHECK(whole > 1500);
}

TEST_CASE("optimal: never slower than a row of the catalog within the same memory, and never below its bound") {
  for (int seed = 1; seed <= 120; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    const int chunks = dice.once_in(3) ? 2 : 1;
    const Tight tight = tight_case(dice, dice.from(2, 5), dice.from(2, 9), chunks);
    CAPTURE(seed);
    const auto [schedule, proof] = searched(tight, {{"budget", "3000"}});
    for (const ScheduleProblem& problem : find_problems(schedule)) REQUIRE_EQ(problem.message, "");
    REQUIRE_FALSE(find_deadlock(schedule).has_value());
    const Totals totals = totals_of(schedule, tight.of);
    REQUIRE(totals.makespan == proof.time);
    REQUIRE(proof.bound <= proof.time);
    for (std::size_t d = 0; d < tight.limits.size(); ++d) REQUIRE(totals.devices[d].peak_activation <= tight.limits[d]);
    const PlanningCosts known = tight.of.known();
    for (const ScheduleEntry& entry : schedule_catalog()) {
      if (entry.name == "optimal" || entry.family == ScheduleFamily::kAsynchronous) continue;
      ScheduleRequest request{tight.of.devices, tight.of.microbatches, chunks, {}};
      request.costs = entry.uses_costs ? &known : nullptr;
      for (const ParamSpec& spec : entry.params) {
        if (spec.name == "memory_limit") request.params[spec.name] = bytes_each(tight.limits);
      }
      try {
        const Schedule row = build_schedule(entry.name, request);
        if (row.placement.replicas() > 1 || row.pieces > 1 || !row.copies.empty()) continue;  // another problem
        CAPTURE(entry.name);
        REQUIRE_FALSE(find_deadlock(row).has_value());
        const Totals other = totals_of(row, tight.of);
        bool fits = true;
        for (std::size_t d = 0; d < tight.limits.size(); ++d)
          fits = fits && other.devices[d].peak_activation <= tight.limits[d];
        if (fits) REQUIRE(totals.makespan <= other.makespan);
      } catch (const InputError&) {  // no such pipeline, or not within the memory
      }
    }
  }
}

TEST_CASE("optimal: devices with more than 32 and more than 64 queues") {
  for (const int chunks : {11, 22}) {
    for (int seed = 1; seed <= 6; ++seed) {
      Dice dice(static_cast<std::uint64_t>(seed));
      const Tight tight = tight_case(dice, 2, 2, chunks);
      CAPTURE(chunks);
      CAPTURE(seed);
      const auto [schedule, proof] = searched(tight, {{"budget", "3000"}, {"backward", "split"}});
      const Totals totals = totals_of(schedule, tight.of);
      REQUIRE(totals.makespan == proof.time);
      REQUIRE(proof.bound <= proof.time);
      for (std::size_t d = 0; d < tight.limits.size(); ++d)
        REQUIRE(totals.devices[d].peak_activation <= tight.limits[d]);
    }
  }
}

TEST_CASE("optimal: the same budget in nodes gives the same order, times doubled double its time") {
  for (int seed = 1; seed <= 30; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    Tight tight = tight_case(dice, dice.from(2, 5), dice.from(2, 10), 1);
    const OptimalSchedule once = searched(tight, {{"budget", "5k"}});
    CHECK(once.schedule.rows == searched(tight, {{"budget", "5k"}}).schedule.rows);
    for (Pass& pass : tight.of.passes) {
      for (Nanoseconds* time : {&pass.forward, &pass.input_grad, &pass.weight_grad}) *time *= 2;
    }
    tight.of.hop *= 2;
    const OptimalSchedule doubled = searched(tight, {{"budget", "5k"}});
    CHECK(doubled.schedule.rows == once.schedule.rows);
    CHECK(doubled.proof.time == 2 * once.proof.time);
  }
}

TEST_CASE("optimal: pipelines of about a hundred ops are mostly proven within the default budget") {
  int proven = 0;
  int cases = 0;
  for (int seed = 1; seed <= 40; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    const int devices = dice.from(2, 5);
    const Tight tight = tight_case(dice, devices, 32 / devices, 1);
    ++cases;
    proven += searched(tight, {}).proof.proven ? 1 : 0;
  }
  MESSAGE("proven: " << proven << " of " << cases);
  CHECK(proven >= cases * 9 / 10);
}
