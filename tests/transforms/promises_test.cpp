// Every transform on random schedules and on every row of the catalog: the result is complete and free of deadlock, and
// does what the transform promises. The list timing that plans is held against the engine on the way.
#include "schedules/catalog.hpp"
#include "schedules/transforms/mario.hpp"
#include "schedules/transforms/rows.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"
#include "tests/transforms/transformed.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// By device and op: when it begins. W, R, S and T are left out: no transform promises anything about them.
std::map<std::tuple<std::size_t, int, int, bool>, Nanoseconds> starts_of(const Schedule& schedule,
                                                                         const PlanningCosts& costs) {
  std::map<std::tuple<std::size_t, int, int, bool>, Nanoseconds> starts;
  const ListTiming timing = time_rows(schedule, costs);
  for (std::size_t device = 0; device < schedule.rows.size(); ++device) {
    for (std::size_t at = 0; at < schedule.rows[device].size(); ++at) {
      const Op& op = schedule.rows[device][at];
      if (!is_pipelined(op.kind)) continue;
      starts[{device, op.stage, op.microbatch, op.kind == OpKind::kForward}] = timing.rows[device][at].begin;
    }
  }
  return starts;
}

std::map<char, std::size_t> kinds_of(const Schedule& schedule) {
  std::map<char, std::size_t> kinds;
  for (const auto& row : schedule.rows) {
    for (const Op& op : row) ++kinds[letter(op.kind)];
  }
  return kinds;
}

void check_legal(const Schedule& schedule) {
  const auto problems = find_problems(schedule);
  CHECK_MESSAGE(problems.empty(), (problems.empty() ? "" : problems.front().message));
  const auto deadlock = find_deadlock(schedule);
  CHECK_MESSAGE(!deadlock, (deadlock ? to_string(*deadlock) : ""));
}

// The transform, or nothing where it refuses, which it must do in words of its own.
std::optional<Schedule> attempt(const std::string& name, const Schedule& schedule, const Params& params,
                                const PlanningCosts& costs) {
  try {
    return transformed(name, schedule, params, &costs);
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().code.starts_with("M0"));
    CHECK(!error.diagnostics().front().help.empty());
    return std::nullopt;
  }
}

// The most weight gradients of whole backwards of `before` that wait on a device between two cells.
int most_deferred(const Schedule& before, const Schedule& split) {
  int most = 0;
  for (std::size_t d = 0; d < split.rows.size(); ++d) {
    std::set<std::pair<int, int>> whole;
    for (const Op& op : before.rows[d]) {
      if (op.kind == OpKind::kBackward) whole.emplace(op.stage, op.microbatch);
    }
    int waiting = 0;
    for (std::size_t at = 0; at < split.rows[d].size(); ++at) {
      const Op& op = split.rows[d][at];
      if (!ends_pair(split.rows[d], at) && op.kind != OpKind::kWeightGrad) most = std::max(most, waiting);
      if (!whole.contains({op.stage, op.microbatch})) continue;
      waiting += (op.kind == OpKind::kInputGrad ? 1 : 0) - (op.kind == OpKind::kWeightGrad ? 1 : 0);
    }
  }
  return most;
}

void check_split(const Schedule& schedule, const PlanningCosts& costs, int deferred) {
  Params params;
  if (deferred >= 0) params["deferred"] = std::to_string(deferred);
  params["when"] = "end";
  const auto end = attempt("split-backward", schedule, params, costs);
  params["when"] = "idle";
  const auto idle = attempt("split-backward", schedule, params, costs);
  REQUIRE(end.has_value() == idle.has_value());
  if (!end) return;
  check_legal(*end);
  if (deferred >= 0) CHECK(most_deferred(schedule, *end) <= deferred);
  if (deferred >= 0) CHECK(most_deferred(schedule, *idle) <= deferred);
  check_legal(*idle);
  auto expected = kinds_of(schedule);
  expected['I'] += expected['B'];
  expected['W'] += expected['B'];
  expected.erase('B');
  CHECK(kinds_of(*end) == expected);
  CHECK(kinds_of(*idle) == expected);
  CHECK(time_rows(*idle, costs).makespan <= time_rows(*end, costs).makespan);
  const auto before = starts_of(*end, costs);
  for (const auto& [op, start] : starts_of(*idle, costs)) CHECK(start <= before.at(op));
}

void check_recompute(const Schedule& schedule, const PlanningCosts& costs) {
  const auto early = attempt("recompute", schedule, {{"when", "early"}}, costs);
  if (!early) return;
  check_legal(*early);
  auto expected = kinds_of(schedule);
  expected['R'] = expected['F'];
  CHECK(kinds_of(*early) == expected);
  if (const auto late = attempt("recompute", schedule, {{"when", "late"}}, costs)) {
    check_legal(*late);
    CHECK(kinds_of(*late) == expected);
    CHECK(time_rows(*early, costs).makespan <= time_rows(*late, costs).makespan);
  }
  Schedule dropped = *early;
  drop_needless_recomputes(dropped);
  check_legal(dropped);
  const auto mario = attempt("recompute", schedule, {{"mario", "true"}}, costs);
  REQUIRE(mario.has_value());
  check_legal(*mario);
  CHECK(kinds_of(*mario) == kinds_of(dropped));
  CHECK(time_rows(*mario, costs).makespan <= time_rows(dropped, costs).makespan);
  const auto before = starts_of(dropped, costs);
  for (const auto& [op, start] : starts_of(*mario, costs)) CHECK(start <= before.at(op));
  const std::vector<Bytes> found = row_peaks(*mario, costs.costs);
  const std::vector<Bytes> had = row_peaks(schedule, costs.costs);
  const std::vector<Bytes> needed = row_peaks(dropped, costs.costs);
  for (std::size_t d = 0; d < found.size(); ++d) CHECK(found[d] <= std::max(had[d], needed[d]));
}

void check_vocabulary(const Schedule& schedule, const PlanningCosts& costs) {
  for (const char* barriers : {"1", "2"}) {
    const auto sharded = attempt("vocabulary-parallel", schedule, {{"barriers", barriers}}, costs);
    if (!sharded) return;
    check_legal(*sharded);
    auto expected = kinds_of(schedule);
    expected['S'] = expected['T'] = schedule.rows.size() * static_cast<std::size_t>(schedule.total_pieces());
    CHECK(kinds_of(*sharded) == expected);
  }
}

void check_all(const Schedule& schedule, const PlanningCosts& costs) {
  const std::string name = describe(schedule);
  CAPTURE(name);
  for (const int deferred : {-1, 0, 1, 3}) check_split(schedule, costs, deferred);
  check_recompute(schedule, costs);
  check_vocabulary(schedule, costs);
}

PlanningCosts random_planning_costs(const Schedule& schedule, Dice& dice) {
  PlanningCosts costs;
  costs.costs = random_costs(schedule.stages, dice);
  for (StageCost& stage : costs.costs.stages) {
    stage.recompute = stage.forward;
    stage.checkpoint = stage.activation / 4;
    stage.weight_grad_held = std::min(stage.weight_grad_held, stage.activation);
  }
  costs.costs.vocabulary =
      VocabularyCost{.logits = dice.from(0, 3), .gradient = dice.from(0, 3), .barrier = 0, .held = 0};
  costs.activation_unit = kMebibyte;
  return costs;
}

}  // namespace

TEST_CASE("every transform of a random schedule is legal and keeps its promises") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    check_all(schedule, random_planning_costs(schedule, dice));
    check_all(schedule, unit_costs(schedule));
  }
}

TEST_CASE("every transform of every row of the catalog is legal and keeps its promises") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    std::size_t number = 0;
    for (const Schedule& schedule : schedules_of(entry)) {
      // Each is checked by several simulations; every seventeenth of thousands is enough.
      if (number++ % 17 != 0 || schedule.total_ops() > 500) continue;
      check_all(schedule, unit_costs(schedule));
    }
  }
}

TEST_CASE("a transform of a transform is legal") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    Schedule schedule = random_schedule(dice);
    const PlanningCosts costs = unit_costs(schedule);
    for (const auto& [name, params] : {std::pair{"vocabulary-parallel", Params{}},
                                       {"split-backward", Params{{"when", "idle"}}},
                                       {"recompute", Params{{"mario", "true"}}}}) {
      if (const auto next = attempt(name, schedule, params, costs)) schedule = *next;
    }
    check_legal(schedule);
  }
}

TEST_CASE("the list timing that plans agrees with the engine") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    Schedule schedule = random_schedule(dice);
    PlanningCosts costs = random_planning_costs(schedule, dice);
    if (const auto next = attempt("vocabulary-parallel", schedule, {}, costs); next && seed % 2 == 0) schedule = *next;
    if (const auto next = attempt("recompute", schedule, {{"when", "early"}}, costs)) schedule = *next;
    for (StageCost& stage : costs.costs.stages) stage.output = 0;
    const Nanoseconds latency = dice.from(0, 5);
    costs.hops.assign(static_cast<std::size_t>(schedule.stages), schedule.vocabulary_barriers > 0 ? 0 : latency);
    const HopFigures link{schedule.vocabulary_barriers > 0 ? 0 : latency, 0};
    CHECK(time_rows(schedule, costs).makespan == totals_of(schedule, costs.costs, link).makespan);
  }
}
