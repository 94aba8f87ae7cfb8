#include "schedules/optimal.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "schedules/catalog.hpp"
#include "schedules/common/memory_limit.hpp"
#include "schedules/common/request.hpp"
#include "schedules/optimal/budget_param.hpp"
#include "schedules/optimal/copies/copied_order.hpp"
#include "schedules/optimal/copies/order_schedule.hpp"
#include "schedules/optimal/order_search.hpp"
#include "schedules/optimal/program/solved_order.hpp"
#include "schedules/zero_bubble/planning.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

// A family of orders that is searched on its own: stages placed in one way, the backward whole or split.
struct OrderVariant {
  OrderProblem problem;
  Placement placement;
  std::vector<OrderStart> starts;  // within the limits
  std::vector<OrderStart> loose;   // of a search with copies: within the limits or not
  OrderBound bound;
  Nanoseconds start_cost = 0;
};

constexpr const char* kOptimalName = "optimal";

struct OptimalRequest {
  PlanningCosts costs;
  MemoryLimit limit;
  OrderGoal goal = OrderGoal::kStep;
  bool solver = false;  // a MILP solver searches
  bool copies = false;  // activations may go to the host

  [[nodiscard]] bool own_copies() const { return copies && !solver; }
};

std::vector<Placement> placements_of(const ScheduleRequest& request, int chunks) {
  const int stages = request.devices * chunks;
  const std::string choice = choice_param(request, "placement", "auto|loop|zigzag");
  const Placement loop = loop_placement(request.devices, stages);
  const Placement zigzag = zigzag_placement(request.devices, stages);
  if (choice == "zigzag") return {zigzag};
  if (choice == "loop" || loop == zigzag) return {loop};
  return {loop, zigzag};
}

// With two parts a backward is never worse where they take no longer than the whole: then only those are searched.
std::vector<bool> splits_of(const ScheduleRequest& request, const PlanningCosts& costs) {
  const std::string choice = choice_param(request, "backward", "auto|split|whole");
  if (choice != "auto") return {choice == "split"};
  const auto loses = [](const StageCost& stage) {
    return stage.backward < stage.input_grad + stage.weight_grad || stage.weight_grad_held > stage.activation;
  };
  if (std::any_of(costs.costs.stages.begin(), costs.costs.stages.end(), loses)) return {true, false};
  return {true};
}

std::optional<Schedule> built_row(const ScheduleEntry& entry, const ScheduleRequest& request) {
  try {
    check_request(entry, request);
    return entry.build(request);
  } catch (const InputError&) {
    return std::nullopt;  // the row does not exist for this pipeline, or not within this memory
  }
}

// One microbatch at a time, and every row of the catalog that has the same pipeline and keeps the limits, in the
// catalog's order.
std::vector<OrderStart> starts_of_catalog(const OrderProblem& problem, const Placement& placement,
                                          const PlanningCosts& costs, const std::string& memory_limit) {
  std::vector<OrderStart> starts{{"one microbatch at a time", one_at_a_time(problem)}};
  for (const ScheduleEntry& entry : schedule_catalog()) {
    if (entry.name == kOptimalName || entry.family == ScheduleFamily::kAsynchronous) continue;
    ScheduleRequest request{problem.devices, problem.microbatches, problem.stages / problem.devices, {}, nullptr};
    if (entry.uses_costs) request.costs = &costs;
    for (const ParamSpec& spec : entry.params) {
      if (spec.name == "memory_limit") request.params[spec.name] = memory_limit;
    }
    const auto schedule = built_row(entry, request);
    if (!schedule) continue;
    auto orders = start_from(*schedule, problem, placement);
    if (orders) starts.push_back({entry.name, std::move(*orders)});
  }
  return starts;
}

// The rows with other memory than there is: copies may make them fit.
std::vector<OrderStart> loose_starts(const OrderVariant& variant, const OptimalRequest& asked) {
  constexpr const char* kAmple = "2p";
  OrderProblem free = variant.problem;
  free.limits.assign(free.limits.size(), std::numeric_limits<Bytes>::max() / 4);
  std::vector<OrderStart> starts = starts_of_catalog(free, variant.placement, asked.costs, asked.limit.text);
  for (OrderStart& start : starts_of_catalog(free, variant.placement, asked.costs, kAmple)) {
    const auto same = [&](const OrderStart& other) { return other.orders == start.orders; };
    if (std::none_of(starts.begin(), starts.end(), same)) starts.push_back(std::move(start));
  }
  return starts;
}

// Without starts where the limits do not hold one microbatch.
OrderVariant order_variant(const OptimalRequest& asked, const Placement& placement, int microbatches, bool split) {
  OrderVariant variant;
  variant.problem = order_problem(asked.costs, placement, microbatches, asked.limit.activations, split, asked.goal);
  variant.placement = placement;
  if (asked.own_copies()) variant.loose = loose_starts(variant, asked);
  if (!within_limits(variant.problem, one_at_a_time(variant.problem))) return variant;
  variant.starts = starts_of_catalog(variant.problem, placement, asked.costs, asked.limit.text);
  variant.bound = order_bound(variant.problem);
  OrderTimes times(variant.problem);
  bool first = true;
  for (const OrderStart& start : variant.starts) {
    if (!times.evaluate(start.orders)) continue;
    if (first || times.cost() < variant.start_cost) variant.start_cost = times.cost();
    first = false;
  }
  return variant;
}

// What each device needs for one microbatch after another.
std::vector<Bytes> least_limits(const OrderProblem& problem) {
  std::vector<Bytes> least;
  for (const std::vector<std::int32_t>& row : one_at_a_time(problem)) {
    Bytes held = 0;
    Bytes peak = 0;
    for (const std::int32_t q : row) {
      const OrderQueue& queue = at(problem.queues, q);
      peak = std::max(peak, held += queue.at_begin);
      peak = std::max(peak, held += queue.at_end);
    }
    least.push_back(peak);
  }
  return least;
}

struct OptimalFound {
  const OrderVariant* variant = nullptr;
  OrderPlan plan;
  OrderCopies copies;
  std::string solver;
  std::int64_t solver_nodes = 0;  // of all variants
  OrderBound bound;               // without a reason where the search has excluded all orders
};

// One family after the other, the one with the best start first; one whose bound is no better than what is known need
// not be searched. The bound of all is the smallest, of equal ones that of the family with the best order.
OptimalFound search_variants(std::vector<OrderVariant>& variants, const OptimalRequest& asked,
                             const OptimalBudget& limit, OrderBudget& budget) {
  std::stable_sort(variants.begin(), variants.end(),
                   [](const OrderVariant& a, const OrderVariant& b) { return a.start_cost < b.start_cost; });
  OptimalFound found;
  for (std::size_t k = 0; k < variants.size(); ++k) {
    const OrderVariant& variant = variants[k];
    OrderBound bound = variant.bound;
    if (found.variant == nullptr || asked.copies || bound.cost < found.plan.cost) {
      OrderBudget part = limit.part(budget, variants.size() - k);
      SolvedOrder solved;
      if (asked.solver) {
        solved = solve_order(variant.problem, variant.starts, {.copies = asked.copies}, part);
        found.solver_nodes += solved.nodes;
      } else {
        solved.plan = search_orders(variant.problem, variant.starts, part);
      }
      OrderPlan& plan = solved.plan;
      budget.charge(part.used());
      bound = plan.bound;
      if (plan.exhausted) bound.because.clear();
      if (found.variant == nullptr || plan.cost < found.plan.cost) {
        found.plan = std::move(plan);
        found.copies = std::move(solved.copies);
        if (!solved.solver.empty()) found.solver = solved.solver;
        found.variant = &variant;
      }
    }
    if (k == 0 || bound.cost < found.bound.cost) found.bound = std::move(bound);
  }
  const OrderBound& own = found.plan.bound;
  if (own.cost == found.bound.cost) found.bound.because = found.plan.exhausted ? "" : own.because;
  found.bound.cost = std::min(found.bound.cost, found.plan.cost);
  return found;
}

// What is found with copies, if it is better than `found` without. The search without them has had all of its budget,
// so that copies never make the order worse; this one has as much again. Its bound holds for orders with copies and
// without.
void search_copies(const std::vector<OrderVariant>& variants, const OptimalBudget& limit, OrderBudget& budget,
                   OptimalFound& found) {
  bool first = true;
  OrderBound bound;
  for (std::size_t k = 0; k < variants.size(); ++k) {
    const OrderVariant& variant = variants[k];
    OrderBudget part = limit.part(budget, variants.size() - k);
    std::optional<CopiedOrder> known;
    if (found.variant != nullptr) known = CopiedOrder{found.plan.orders, found.copies, found.plan.cost};
    if (known && found.copies.empty()) known->copies.resize(known->orders.size());
    const bool same =
        known && found.variant->placement == variant.placement && found.variant->problem.split == variant.problem.split;
    CopiedPlan plan = search_copied_orders(variant.problem, variant.loose, known, same, part);
    budget.charge(part.used());
    if (first || plan.bound.cost < bound.cost) bound = plan.bound;
    first = false;
    if (!plan.order) continue;
    if (found.variant == nullptr) {
      found.plan.start = plan.start;
      found.plan.start_cost = plan.start_cost;
    }
    found.variant = &variant;
    found.plan.cost = plan.order->cost;
    found.plan.orders = std::move(plan.order->orders);
    found.copies = std::move(plan.order->copies);
  }
  found.bound = std::move(bound);
  found.bound.cost = std::min(found.bound.cost, found.plan.cost);
}

// Where transfers take turns with compute: of the order that was found and of the rows it started from, the one that
// takes least then. The bound stays one: no rule lets an op begin earlier than where transfers overlap.
void take_what_runs_best(const std::vector<OrderVariant>& variants, const OptimalRequest& asked, Schedule& schedule,
                         OptimalFound& found) {
  if (asked.costs.p2p == P2p::kOverlapped) return;
  const OptimalFound planned = found;
  std::optional<Nanoseconds> least_start;
  std::optional<Nanoseconds> least;
  const auto consider = [&](const OrderVariant& variant, const Orders& orders, const OrderCopies& copies) {
    write_order(variant.problem, variant.placement, orders, copies, schedule);
    const std::optional<Nanoseconds> cost = engine_cost(schedule, variant.problem, asked.costs);
    if (cost && (!least || *cost < *least)) {
      least = found.plan.cost = *cost;
      found.variant = &variant;
      found.plan.orders = orders;
      found.copies = copies;
    }
    return cost;
  };
  consider(*planned.variant, planned.plan.orders, planned.copies);
  for (const OrderVariant& variant : variants) {
    for (const OrderStart& start : variant.starts) {
      const std::optional<Nanoseconds> cost = consider(variant, start.orders, {});
      if (!cost || (least_start && *cost >= *least_start)) continue;
      least_start = found.plan.start_cost = *cost;
      found.plan.start = start.name;
    }
  }
}

OrderProof proof_of(const OptimalFound& found, const OptimalRequest& asked, const OrderBudget& budget, bool timed) {
  OrderProof proof;
  proof.span = asked.goal == OrderGoal::kSpan;
  proof.time = found.plan.cost;
  proof.bound = found.bound.cost;
  proof.proven = found.bound.cost >= found.plan.cost;
  proof.because = found.bound.because;
  proof.start = found.plan.start;
  proof.start_time = found.plan.start_cost;
  proof.nodes = found.solver.empty() ? budget.used() : found.solver_nodes;
  proof.solver = found.solver;
  proof.timed = timed && !proof.proven;
  proof.copies = asked.own_copies();
  for (const auto& lane : found.copies) proof.leaving += static_cast<std::int64_t>(lane.size() / 2);
  return proof;
}

// Without times a copy takes as long one way as a forward, as the rows with copies take it.
PlanningCosts optimal_costs_of(const ScheduleRequest& request, int stages, int chunks) {
  PlanningCosts costs = planning_costs_of(request, stages, chunks);
  if (request.costs == nullptr) {
    for (StageCost& stage : costs.costs.stages) stage.copy = stage.forward;
  }
  return costs;
}

void read_solver(const ScheduleRequest& request, OptimalRequest& asked) {
  asked.solver = choice_param(request, "solver", "search|cbc") == "cbc";
  asked.copies = choice_param(request, "offload", "no|yes") == "yes";
}

Schedule build_optimal(const ScheduleRequest& request) { return search_optimal(request).schedule; }

}  // namespace

OptimalSchedule search_optimal(const ScheduleRequest& request) {
  const int chunks = std::max(request.chunks, 1);
  Schedule schedule = start_schedule(request, kOptimalName, chunks);
  OptimalRequest asked;
  read_solver(request, asked);
  asked.costs = optimal_costs_of(request, schedule.stages, chunks);
  asked.limit = memory_limit_of(request, asked.costs, "1p");
  asked.goal = choice_param(request, "goal", "step|span") == "span" ? OrderGoal::kSpan : OrderGoal::kStep;
  const OptimalBudget limit = optimal_budget_of(request);
  const std::vector<bool> splits = splits_of(request, asked.costs);
  const std::vector<Placement> placements = placements_of(request, chunks);
  std::vector<OrderVariant> variants;
  std::vector<OrderVariant> fitting;  // without copies
  for (const Placement& placement : placements) {
    for (const bool split : splits) {
      OrderVariant variant = order_variant(asked, placement, request.microbatches, split);
      if (!variant.starts.empty()) fitting.push_back(variant);
      if (asked.own_copies()) variants.push_back(std::move(variant));
    }
  }
  OrderBudget budget = (asked.own_copies() ? limit.half_of_time() : limit).start();
  OptimalFound found;
  if (!fitting.empty()) {
    OptimalRequest first = asked;
    first.copies = asked.solver && asked.copies;
    found = search_variants(fitting, first, asked.own_copies() ? limit.half_of_time() : limit, budget);
  }
  if (asked.own_copies()) {
    OrderBudget more = limit.half_of_time().start();
    search_copies(variants, limit.half_of_time(), more, found);
    budget.charge(more.used());
  }
  if (found.variant == nullptr) {
    const OrderProblem smallest = order_problem(asked.costs, placements.back(), request.microbatches,
                                                asked.limit.activations, splits.back(), asked.goal);
    refuse_memory_limit(kOptimalName, asked.limit, asked.costs, least_limits(smallest));
  }
  take_what_runs_best(fitting, asked, schedule, found);
  write_order(found.variant->problem, found.variant->placement, found.plan.orders, found.copies, schedule);
  schedule.params = {{"memory_limit", asked.limit.text}, {"budget", limit.text}};
  if (asked.goal == OrderGoal::kSpan) schedule.params.emplace_back("goal", "span");
  if (asked.solver) schedule.params.emplace_back("solver", "cbc");
  if (asked.copies) schedule.params.emplace_back("offload", "yes");
  if (placements.size() > 1 || request.params.contains("placement")) {
    const bool loop = schedule.placement == loop_placement(schedule.devices, schedule.stages);
    schedule.params.emplace_back("placement", loop ? "loop" : "zigzag");
  }
  if (!found.variant->problem.split) schedule.params.emplace_back("backward", "whole");
  const OrderProof proof = proof_of(found, asked, budget, limit.time.has_value());
  schedule.notes.push_back(proof_text(proof));
  return {std::move(schedule), proof};
}

const ScheduleEntry& optimal_entry() {
  static const ScheduleEntry entry{
      .name = kOptimalName,
      .summary =
          "the best order that a search finds for the given times; with a proof; takes latency and the memory limit "
          "into account",
      .citation = "ours: branch and bound over active schedules (Giffler and Thompson, Operations Research 8, 1960)",
      .constraints =
          "p >= 1, v >= 1, m >= 1; memory_limit holds one microbatch on every device (with offload=yes one stage's "
          "part of it may do)",
      .needs = "splits the backward",
      .splits_backward = true,
      .default_chunks = 1,
      .params = {{"memory_limit", "4, 1.5p, 8,6,6,4 or 76GiB", "1p",
                  "what activations may take: in activations of a device share, times p, or all memory as a size"},
                 {"budget", "0.. nodes, 50k, 2M, or 10s", kDefaultBudget,
                  "nodes of the search, with which the same input gives the same order; seconds, which depend on the "
                  "machine"},
                 {"goal", "step|span", "step", "make the step short, or the longest span of a device"},
                 {"backward", "auto|split|whole", "auto", "split it in two, or run it whole; auto tries what may win"},
                 {"placement", "auto|loop|zigzag", "auto", "of several stages per device; auto tries both"},
                 {"solver", "search|cbc", "search",
                  "our search, or a MILP after OptPipe's that CBC solves: for small problems"},
                 {"offload", "no|yes", "no", "activations may go to the host after their forward and come back"}},
      .build = build_optimal,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kDerived,
      .certainty_note =
          "the optimum of tiny pipelines equals brute force over all orders; its bounds never exceed the simulated "
          "time of random orders; it is never slower than the rows it starts from; with copies to the host, tiny "
          "pipelines equal all orders with all plans of copies",
      .peak = {.text = "at most memory_limit", .value = nullptr},
      .advice =
          "For unequal stages, slow links or devices with unequal memory, and to know whether another order could be "
          "faster at all: it says how far from the best it is at most. Its order holds for the times it was made for; "
          "run it from the table that export writes.",
      .uses_costs = true};
  return entry;
}

}  // namespace debubble
