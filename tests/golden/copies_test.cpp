// Schedules that move activations away: BPipe's balance, PipeOffload's order and what it saves, the transform for any
// schedule.
#include "schedules/catalog.hpp"
#include "schedules/transforms/catalog.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Every copy takes this long one way, in units of a device share.
StageCosts with_copies(const Schedule& schedule, StageCosts costs, double copy) {
  for (StageCost& stage : costs.stages) stage.copy = units(copy / schedule.chunks);
  return costs;
}

std::vector<Bytes> peaks_of(const Totals& totals) {
  std::vector<Bytes> peaks;
  for (const DeviceTotals& device : totals.devices) peaks.push_back(device.peak_activation);
  return peaks;
}

std::size_t count_copies(const Schedule& schedule) {
  std::size_t count = 0;
  for (const auto& lane : schedule.copies) count += lane.size();
  return count;
}

// Copies go out once and come back once, the way back behind the way out.
void check_pairs(const Schedule& schedule) {
  for (const auto& lane : schedule.copies) {
    for (std::size_t k = 0; k < lane.size(); ++k) {
      const auto same = [&](const Copy& copy) {
        return copy.stage == lane[k].stage && copy.microbatch == lane[k].microbatch;
      };
      CHECK(std::count_if(lane.begin(), lane.end(), same) == 2);
      const auto first = std::find_if(lane.begin(), lane.end(), same);
      CHECK(first->way == Copy::Way::kOut);
    }
  }
}

std::string refusal(const std::string& name, int p, int m, int chunks, const Params& params) {
  try {
    (void)build(name, p, m, chunks, params);
  } catch (const InputError& error) {
    CHECK(!error.diagnostics().front().help.empty());
    return error.diagnostics().front().code;
  }
  return "none";
}

Schedule offload(const Schedule& schedule, const Params& params, const PlanningCosts* costs = nullptr) {
  return apply_transform("offload", schedule, {params, costs});
}

std::string offload_refusal(const Schedule& schedule, const Params& params) {
  try {
    (void)offload(schedule, params);
  } catch (const InputError& error) {
    CHECK(!error.diagnostics().front().help.empty());
    return error.diagnostics().front().code;
  }
  return "none";
}

PlanningCosts planning(const StageCosts& costs) {
  PlanningCosts planned;
  planned.costs = costs;
  planned.activation_unit = kShare;
  return planned;
}

}  // namespace

TEST_CASE("BPipe: nobody holds more than p/2 + 1, and 1F1B's makespan stays") {
  for (const int p : {4, 6, 8, 16}) {
    for (const int m : {1, 2, p / 2, p - 1, p, p + 1, 2 * p, 4 * p}) {
      const Schedule schedule = build("bpipe", p, m);
      const Schedule plain = build("1f1b", p, m);
      CAPTURE(describe(schedule));
      CHECK(schedule.rows == plain.rows);
      CHECK(find_problems(schedule).empty());
      check_pairs(schedule);
      for (const double copy : {0.0, 0.25, 0.5, 1.0}) {
        const StageCosts costs = with_copies(schedule, toy_costs(schedule, 1, 2), copy);
        CAPTURE(copy);
        CHECK(mismatch(schedule, costs, {}, units(3.0 * (m + p - 1))) == "");
        const Totals totals = totals_of(schedule, costs);
        for (int d = 0; d < p; ++d) {
          CHECK(totals.devices[static_cast<std::size_t>(d)].peak_activation <= (p / 2 + 1) * kShare);
          const int held = std::min(p - d, m);
          if (d >= p / 2 || (held > p / 2 + 1 && m < 2 * p)) continue;
          CHECK(totals.devices[static_cast<std::size_t>(d)].peak_activation == std::min(held, p / 2 + 1) * kShare);
        }
      }
    }
  }
}

TEST_CASE("BPipe: eight devices hold five at most instead of eight, sixteen nine") {
  for (const auto& [p, cap] : {std::pair{8, 5}, std::pair{16, 9}}) {
    const Schedule schedule = build("bpipe", p, 4 * p);
    const StageCosts costs = toy_costs(schedule, 1, 2);
    const std::vector<Bytes> peaks = peaks_of(totals_of(schedule, costs));
    CHECK(*std::max_element(peaks.begin(), peaks.end()) == cap * kShare);
    const std::vector<Bytes> before = peaks_of(totals_of(build("1f1b", p, 4 * p), costs));
    CHECK(before.front() == p * kShare);
  }
}

TEST_CASE("BPipe: a load that lands late stalls the backward") {
  const Schedule schedule = build("bpipe", 8, 16);
  const Totals slow = totals_of(schedule, with_copies(schedule, toy_costs(schedule, 1, 2), 4));
  CHECK(slow.makespan > units(3.0 * (16 + 7)));
}

TEST_CASE("BPipe's refusals") {
  CHECK(refusal("bpipe", 2, 4, 0, {}) == "S011");
  CHECK(refusal("bpipe", 5, 4, 0, {}) == "S011");
  CHECK(refusal("bpipe", 4, 4, 2, {}) == "S005");
  CHECK(refusal("bpipe", 4, 1, 0, {}) == "none");
}

TEST_CASE("PipeOffload before anything is offloaded: the peaks of the authors' generator") {
  struct Row {
    int p, v, m, length, peak;  // in passes of a chunk
  };
  // The generator's lengths are bounds only: it leaves gaps that our devices do not wait for.
  for (const Row& row : {Row{4, 2, 8, 75, 7}, Row{8, 2, 16, 151, 13}, Row{8, 4, 16, 301, 23}}) {
    const Schedule schedule = build("pipeoffload", row.p, row.m, row.v, {{"offload_chunks", "0"}});
    CAPTURE(describe(schedule));
    std::vector<double> peaks;
    for (int d = 0; d < row.p; ++d) peaks.push_back(static_cast<double>(row.peak - d) / row.v);
    const StageCosts costs = split_costs(schedule, row.v, row.v, row.v);
    const Totals totals = totals_of(schedule, costs);
    CHECK(mismatch(schedule, costs, {}, totals.makespan, peaks) == "");
    CHECK(totals.makespan >= units(3.0 * row.m * row.v + 2.0 * (row.p - 1)));
    CHECK(totals.makespan <= units(row.length));
  }
}

TEST_CASE("PipeOffload's passes never share a slot: the even pace is a timetable, and the peak follows") {
  for (const int p : {1, 2, 3, 4, 5, 6, 8}) {
    for (const int v : {1, 2, 3, 4}) {
      for (const int m : {1, 3, 2 * p}) {
        const Schedule schedule = build("pipeoffload", p, m, v, {{"offload_chunks", "0"}});
        CAPTURE(describe(schedule));
        CHECK(find_problems(schedule).empty());
        CHECK(!find_deadlock(schedule));
        int g = (p + 1) / 2;
        while (std::gcd(g, v) != 1) ++g;
        const Totals totals = totals_of(schedule, split_costs(schedule, v, v, v));
        // A backward reaches a chunk's last device before the slot it would take only where 3 g covers its way.
        if (3 * g >= 2 * p - 1) CHECK(totals.makespan <= units(3.0 * v * (m - 1) + 6.0 * g * (v - 1) + 3.0 * p));
        if (m >= 2 * p) CHECK(totals.devices[0].peak_activation * v == (g * (v - 1) + p) * kShare);
      }
    }
  }
}

TEST_CASE("PipeOffload: the more chunks leave, the less is held, and copies in time cost nothing") {
  for (const auto& [p, v, m] :
       {std::tuple{4, 2, 8}, std::tuple{8, 2, 16}, std::tuple{8, 4, 16}, std::tuple{4, 4, 16}}) {
    for (const double copy : {0.0, 0.25, 1.0}) {
      Bytes before = 0;
      for (int chunks = 0; chunks <= v; ++chunks) {
        const Schedule plain = build("pipeoffload", p, m, v, {{"offload_chunks", "0"}});
        const StageCosts costs = with_copies(plain, split_costs(plain, 1, 1, 1), copy);
        const PlanningCosts planned = planning(costs);
        const Schedule schedule =
            build_schedule("pipeoffload", {p, m, v, {{"offload_chunks", std::to_string(chunks)}}, &planned});
        CAPTURE(describe(schedule));
        CAPTURE(copy);
        CHECK(find_problems(schedule).empty());
        check_pairs(schedule);
        const Totals totals = totals_of(schedule, costs);
        CHECK(totals.makespan == totals_of(plain, costs).makespan);
        CHECK(mismatch(schedule, costs, {}, totals.makespan) == "");
        for (const DeviceTotals& device : totals.devices) CHECK(device.peak_activation >= kShare / v);
        const Bytes now = totals.devices[0].peak_activation;
        if (chunks > 0) CHECK(now <= before);
        if (chunks == v) CHECK(now < totals_of(plain, costs).devices[0].peak_activation);
        before = now;
      }
    }
  }
}

TEST_CASE("PipeOffload holds less than an interleaved order with a split backward") {
  const Schedule schedule = build("pipeoffload", 8, 16, 2);
  CHECK(count_copies(schedule) > 0);
  const StageCosts costs = with_copies(schedule, split_costs(schedule, 1, 1, 1), 0.5);
  const Totals totals = totals_of(schedule, costs);
  CHECK(totals.devices[0].peak_activation < 8 * kShare);  // GIS holds p v chunks
}

TEST_CASE("PipeOffload's auto: as many chunks as the copies keep up with") {
  const auto offloaded = [](double copy) {
    const Schedule plain = build("pipeoffload", 4, 8, 4, {{"offload_chunks", "0"}});
    const PlanningCosts planned = planning(with_copies(plain, split_costs(plain, 1, 1, 1), copy));
    const Schedule schedule = build_schedule("pipeoffload", {4, 8, 4, {}, &planned});
    return schedule.params.front().second;
  };
  CHECK(offloaded(0) == "4");
  CHECK(offloaded(1.5) == "4");  // a round trip of 3 against compute of 3: k = 1
  CHECK(offloaded(2) == "3");
  CHECK(offloaded(3) == "2");
  CHECK(offloaded(100) == "0");
  CHECK(refusal("pipeoffload", 4, 8, 2, {{"offload_chunks", "3"}}) == "S006");
  CHECK(refusal("pipeoffload", 4, 8, 2, {{"offload_chunks", "-1"}}) == "S006");
  CHECK(refusal("pipeoffload", 4, 8, 2, {{"offload_chunks", "x"}}) == "S006");
}

TEST_CASE("offload: any schedule, no deadlock, no higher peak, and no time where copies are free") {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    Features features;
    features.recompute = dice.once_in(3);
    features.shares = dice.once_in(3);
    features.slices = dice.once_in(3);
    const Schedule before = random_schedule_with(features, dice);
    StageCosts costs = random_costs(before.stages, dice);
    add_feature_costs(costs, dice);
    const HopFigures link = random_link(dice);
    Schedule after;
    if (dice.once_in(2)) {
      const PlanningCosts planned = planning(costs);
      after = offload(before, {{"share", dice.once_in(2) ? "1" : "0.4"}}, &planned);
    } else {
      after = offload(before, {});
    }
    moved += static_cast<int>(count_copies(after));
    CHECK(after.rows == before.rows);
    CHECK(find_problems(after).empty());
    check_pairs(after);
    CHECK(disagreement(after, costs, link, P2p::kOverlapped) == "");
    const Totals real = totals_of(after, costs, link);
    const Totals plain = totals_of(before, costs, link);
    for (std::size_t d = 0; d < real.devices.size(); ++d) {
      CHECK(real.devices[d].peak_activation <= plain.devices[d].peak_activation);
    }
    for (StageCost& stage : costs.stages) stage.copy = 0;
    const Totals free = totals_of(after, costs, link);
    CHECK(free.makespan == totals_of(before, costs, link).makespan);
  }
  CHECK(moved > 1000);
}

TEST_CASE("offload: what is planned with the real times costs no time") {
  for (const auto& [name, v] :
       {std::pair{"1f1b", 0}, std::pair{"gpipe", 0}, std::pair{"interleaved", 2}, std::pair{"zb-h1", 0}}) {
    const Schedule before = build(name, 4, 8, v);
    for (const double copy : {0.25, 1.0, 3.0}) {
      StageCosts costs = with_copies(before, split_costs(before, 1, 1, 1), copy);
      for (StageCost& stage : costs.stages) stage.backward = 2 * stage.forward;
      const PlanningCosts planned = planning(costs);
      const Schedule after = offload(before, {{"share", "1"}}, &planned);
      CAPTURE(after.name);
      CHECK(totals_of(after, costs).makespan == totals_of(before, costs).makespan);
      const Bytes peak = totals_of(before, costs).devices[0].peak_activation;
      CHECK(totals_of(after, costs).devices[0].peak_activation <= peak);
      // Round trips of six units do not pay in a steady state that leaves three.
      if (copy <= 1) CHECK(totals_of(after, costs).devices[0].peak_activation < peak);
    }
  }
}

TEST_CASE("offload: a limit is kept with as few copies as it takes, or refused") {
  const Schedule before = build("gpipe", 4, 8);
  const StageCosts costs = with_copies(before, toy_costs(before, 1, 2), 0.25);
  const PlanningCosts planned = planning(costs);
  std::size_t fewer = 1000;
  for (const int limit : {3, 4, 5, 6, 7, 8}) {
    const Schedule after = offload(before, {{"memory_limit", std::to_string(limit)}}, &planned);
    CAPTURE(limit);
    for (const DeviceTotals& device : totals_of(after, costs).devices) CHECK(device.peak_activation <= limit * kShare);
    CHECK(totals_of(after, costs).makespan == totals_of(before, costs).makespan);
    CHECK(count_copies(after) < fewer);
    fewer = count_copies(after);
  }
  CHECK(fewer == 0);  // gpipe holds all 8 as it is
  CHECK(offload_refusal(before, {{"memory_limit", "0.5"}}) == "S042");
  CHECK(offload_refusal(before, {{"memory_limit", "much"}}) == "S042");
  CHECK(offload_refusal(before, {{"memory_limit", "4"}, {"share", "1"}}) == "S075");
  CHECK(offload_refusal(before, {{"share", "2"}}) == "S006");
  CHECK(offload_refusal(offload(before, {}), {}) == "M008");
  CHECK(offload_refusal(build("bpipe", 4, 8), {}) == "M008");
}

TEST_CASE("offload: only the chosen stages, the longest stays first, and signed") {
  const Schedule before = build("gpipe", 4, 8);
  const Schedule chosen = offload(before, {{"stages", "0+2"}});
  CHECK(chosen.name == "gpipe + offload");
  CHECK(!chosen.copies[0].empty());
  CHECK(chosen.copies[1].empty());
  CHECK(!chosen.copies[2].empty());
  CHECK(chosen.copies[3].empty());
  // Of gpipe's eight the first ones stay longest: their backwards come last.
  const Schedule half = offload(before, {{"share", "0.25"}});
  std::vector<std::int32_t> away;
  for (const Copy& copy : half.copies[3]) {
    if (copy.way == Copy::Way::kOut) away.push_back(copy.microbatch);
  }
  CHECK(away == std::vector<std::int32_t>{0, 1});
}
