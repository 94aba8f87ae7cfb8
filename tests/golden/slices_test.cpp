// Schedules over slices of a sequence: TeraPipe's planner and its table, Seq1F1B's orders, makespans, peaks and
// latencies, and what is refused.
#include "schedules/synchronous/slices.hpp"
#include "schedules/synchronous/slice_plan.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr std::int64_t kTenth = kTokenCost / 10;  // the table's last digit

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

std::int64_t pipeline_time(const std::vector<std::int64_t>& costs, int stages, int microbatches = 1) {
  return microbatches * sum(costs) + (stages - 1) * *std::max_element(costs.begin(), costs.end());
}

// To the table's one decimal, half up.
std::int64_t in_tenths(std::int64_t cost) { return (cost + kTenth / 2) / kTenth; }

struct Plan {
  int tokens, stages;
  std::int64_t overhead;     // in tokens
  std::vector<int> lengths;  // an optimal plan; others may permute slices of equal cost
  int longest, total, time;  // in tenths
  std::vector<int> even;     // T of 1, 2, 4, 8, 16 even slices, in tenths
};

const std::vector<Plan> kPlans{
    {16, 2, 4, {7, 5, 4}, 140, 416, 556, {672, 596, 594, 707, 1002}},
    {16, 4, 4, {6, 4, 3, 3}, 121, 456, 819, {1344, 1036, 870, 889, 1134}},
    {16, 8, 4, {4, 3, 2, 2, 2, 2, 1}, 90, 576, 1206, {2688, 1916, 1422, 1253, 1398}},
    {16, 8, 8, {4, 3, 3, 2, 2, 2}, 137, 776, 1735, {3008, 2276, 1862, 1853, 2318}},
    {32, 4, 8, {11, 7, 5, 5, 4}, 260, 1248, 2028, {3712, 2904, 2332, 2214, 2617}},
};

SliceCost toy_cost(std::int64_t overhead) { return {overhead * kMillionth, kMillionth / 10}; }

// The least time of all cuts of `tokens`: bit n of a number says whether there is a cut behind token n.
std::int64_t brute_force(int tokens, int stages, int microbatches, const SliceCost& cost) {
  std::int64_t best = -1;
  for (int cuts = 0; cuts < 1 << (tokens - 1); ++cuts) {
    std::vector<int> lengths{1};
    for (int n = 0; n + 1 < tokens; ++n) {
      if ((cuts >> n & 1) != 0) lengths.push_back(0);
      ++lengths.back();
    }
    const std::int64_t time = pipeline_time(slice_costs(cost, lengths), stages, microbatches);
    if (best < 0 || time < best) best = time;
  }
  return best;
}

// One share of a microbatch's relative costs takes 3000 ns: no piece needs rounding.
StageCosts share_costs(const Schedule& schedule) {
  StageCost cost;
  cost.forward = 1000 * sum(schedule.piece_shares);
  cost.backward = 2 * cost.forward;
  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(schedule.stages), cost);
  return costs;
}

std::string slices_refusal(const std::string& name, int p, int m, int chunks, const Params& params) {
  try {
    (void)build(name, p, m, chunks, params);
  } catch (const InputError& error) {
    CHECK(!error.diagnostics().front().help.empty());
    return error.diagnostics().front().code;
  }
  return "none";
}

// "F0.1": microbatch and slice.
std::string sliced_order(const Schedule& schedule, int device) {
  std::string text;
  for (const Op& op : schedule.rows.at(static_cast<std::size_t>(device))) {
    text += (text.empty() ? "" : " ") + std::string(1, letter(op.kind)) +
            std::to_string(op.microbatch / schedule.pieces) + "." + std::to_string(op.microbatch % schedule.pieces);
  }
  return text;
}

// The most activations that all devices hold at one time, in those of a device share.
int most_held_together(const Schedule& schedule, const StageCosts& costs) {
  const auto run = reference::simulate(schedule, costs, 0, 0, reference::Mode::kOverlapped);
  std::vector<std::pair<Nanoseconds, int>> events;
  for (const auto& cells : run.cells) {
    for (const reference::Cell& cell : cells) {
      for (const Op& op : cell.members) {
        if (op.kind == OpKind::kForward) events.emplace_back(cell.begin, 1);
        if (op.kind == OpKind::kBackward) events.emplace_back(cell.end, -1);
      }
    }
  }
  std::sort(events.begin(), events.end());
  int held = 0;
  int most = 0;
  for (const auto& event : events) most = std::max(most, held += event.second);
  return most;
}

}  // namespace

TEST_CASE("TeraPipe's planner finds the tabulated plans") {
  for (const Plan& row : kPlans) {
    CAPTURE(row.tokens);
    CAPTURE(row.stages);
    const SliceCost cost = toy_cost(row.overhead);
    const SlicePlan plan = plan_slices(row.tokens, row.stages, 1, cost);
    CHECK(std::accumulate(plan.lengths.begin(), plan.lengths.end(), 0) == row.tokens);
    CHECK(in_tenths(plan.total) == row.total);
    CHECK(in_tenths(plan.longest) == row.longest);
    CHECK(in_tenths(pipeline_time(slice_costs(cost, plan.lengths), row.stages)) == row.time);
    CHECK(in_tenths(pipeline_time(slice_costs(cost, row.lengths), row.stages)) == row.time);
    for (std::size_t k = 0; k < row.even.size(); ++k) {
      const auto costs = slice_costs(cost, even_lengths(row.tokens, 1 << k));
      CHECK(in_tenths(pipeline_time(costs, row.stages)) == row.even[k]);
    }
  }
}

TEST_CASE("TeraPipe's planner is as good as the best of all cuts") {
  for (int tokens = 1; tokens <= 11; ++tokens) {
    for (const int stages : {1, 2, 5, 16}) {
      for (const int microbatches : {1, 3}) {
        for (const SliceCost& cost : {toy_cost(0), toy_cost(4), SliceCost{500'000, kMillionth}, SliceCost{1, 0}}) {
          CAPTURE(tokens);
          CAPTURE(stages);
          const SlicePlan plan = plan_slices(tokens, stages, microbatches, cost);
          const auto costs = slice_costs(cost, plan.lengths);
          CHECK(plan.total == sum(costs));
          CHECK(pipeline_time(costs, stages, microbatches) == brute_force(tokens, stages, microbatches, cost));
        }
      }
    }
  }
}

TEST_CASE("a planned TeraPipe takes the planned time") {
  for (const Plan& row : kPlans) {
    for (const int m : {1, 3}) {
      const Params params{
          {"slices", "auto"}, {"tokens", std::to_string(row.tokens)}, {"overhead", std::to_string(row.overhead)}};
      const Schedule schedule = build("terapipe", row.stages, m, 0, params);
      CAPTURE(describe(schedule));
      CHECK(schedule.sliced);
      CHECK(mismatch(schedule, share_costs(schedule), {}, 3000 * pipeline_time(schedule.piece_shares, row.stages, m)) ==
            "");
      // As used: the same again from the lengths.
      Params used(schedule.params.begin(), schedule.params.end());
      CHECK(build("terapipe", row.stages, m, 0, used).rows == schedule.rows);
      CHECK(build("terapipe", row.stages, m, 0, used).piece_shares == schedule.piece_shares);
    }
  }
}

TEST_CASE("TeraPipe with slices alike: gpipe's order and memory, 1 / k of its bubble") {
  const Schedule schedule = build("terapipe", 2, 2, 0, {{"slices", "2"}});
  CHECK(sliced_order(schedule, 0) == "F0.0 F0.1 F1.0 F1.1 B1.1 B1.0 B0.1 B0.0");
  for (const int p : {1, 2, 4, 8}) {
    for (const int m : {1, 4}) {
      for (const int k : {1, 2, 4, 8}) {
        const Schedule each = build("terapipe", p, m, 0, {{"slices", std::to_string(k)}});
        CAPTURE(describe(each));
        const std::vector<double> peaks(static_cast<std::size_t>(p), m);
        CHECK(mismatch(each, toy_costs(each, 1, 2), {}, units(3.0 * m + 3.0 * (p - 1) / k), peaks) == "");
      }
    }
  }
}

TEST_CASE("Seq1F1B's orders") {
  const Schedule schedule = build("seq1f1b", 4, 2, 0, {{"slices", "2"}});
  CHECK(sliced_order(schedule, 0) == "F0.0 F0.1 F1.0 F1.1 B0.1 B0.0 B1.1 B1.0");
  CHECK(sliced_order(schedule, 2) == "F0.0 F0.1 F1.0 B0.1 F1.1 B0.0 B1.1 B1.0");
  CHECK(sliced_order(schedule, 3) == "F0.0 F0.1 B0.1 F1.0 B0.0 F1.1 B1.1 B1.0");
}

TEST_CASE("Seq1F1B's table") {
  struct Row {
    int p, m, k;
    double makespan;
    std::vector<double> peaks;
  };
  const std::vector<Row> rows{{4, 4, 2, 16.5, {2.5, 2, 1.5, 1}},
                              {4, 8, 2, 28.5, {2.5, 2, 1.5, 1}},
                              {4, 8, 4, 26.25, {1.75, 1.5, 1.25, 1}},
                              {8, 16, 4, 53.25, {2.75, 2.5, 2.25, 2, 1.75, 1.5, 1.25, 1}}};
  for (const Row& row : rows) {
    const Schedule schedule = build("seq1f1b", row.p, row.m, 0, {{"slices", std::to_string(row.k)}});
    CAPTURE(describe(schedule));
    CHECK(mismatch(schedule, toy_costs(schedule, 1, 2), {}, units(row.makespan), row.peaks) == "");
  }
  // In slices of one unit: 3 m n + 3 (p - 1), and p - 1 - d + n of them held.
  const Schedule small = build("seq1f1b", 4, 4);
  CHECK(mismatch(small, toy_costs(small, 4, 8), {}, units(57), {1.75, 1.5, 1.25, 1}) == "");
  const Schedule large = build("seq1f1b", 8, 8);
  CHECK(mismatch(large, toy_costs(large, 4, 8), {}, units(117)) == "");
}

TEST_CASE("Seq1F1B counts latency k times as often") {
  const Schedule schedule = build("seq1f1b", 4, 16);
  const std::vector<std::pair<double, double>> rows{
      {0, 50.25}, {0.05, 55.05}, {0.1, 59.85}, {0.25, 74.25}, {0.5, 98.25}};
  for (const auto& [latency, makespan] : rows) {
    CHECK(mismatch(schedule, toy_costs(schedule, 1, 2), {units(latency), 0}, units(makespan)) == "");
  }
}

TEST_CASE("Seq1F1B's closed forms") {
  for (const int p : {1, 2, 3, 4, 6, 8}) {
    for (const int m : {1, 2, 3, 5, 8, 12}) {
      for (const int k : {1, 2, 3, 4, 6, 8}) {
        const Schedule schedule = build("seq1f1b", p, m, 0, {{"slices", std::to_string(k)}});
        CAPTURE(describe(schedule));
        std::vector<double> peaks;
        for (int d = 0; d < p; ++d) peaks.push_back(std::min(p - 1.0 - d + k, 1.0 * m * k) / k);
        CHECK(mismatch(schedule, toy_costs(schedule, 1, 2), {}, units(3.0 * m + 3.0 * (p - 1) / k), peaks) == "");
      }
    }
  }
}

TEST_CASE("SlimPipe holds 1 + 2(p - 1) / (v k) of a device share, and waits as Seq1F1B") {
  struct Row {
    int p, m, v, k;
    double makespan;
    std::vector<double> peaks;
  };
  const std::vector<Row> rows{{4, 4, 1, 4, 14.25, {2.5, 2, 1.5, 1}},
                              {4, 3, 2, 8, 9.5625, {1.375, 1.25, 1.125, 1}},
                              {8, 2, 1, 16, 7.3125, {1.875, 1.75, 1.625, 1.5, 1.375, 1.25, 1.125, 1}}};
  for (const Row& row : rows) {
    const Params params{{"slices", std::to_string(row.k)}, {"slim", "true"}};
    const Schedule schedule = build("seq1f1b", row.p, row.m, row.v, params);
    CAPTURE(describe(schedule));
    CHECK(mismatch(schedule, toy_costs(schedule, 1, 2), {}, units(row.makespan), row.peaks) == "");
  }
  CHECK(slices_refusal("seq1f1b", 4, 4, 2, {{"slices", "3"}, {"slim", "true"}}) == "S016");
}

TEST_CASE("uneven slices cost Seq1F1B dear, and balanced ones do not") {
  const Schedule uneven = build("seq1f1b", 4, 8, 0, {{"slice_costs", "0.5,1.5,2.5,3.5"}});
  CHECK(uneven.piece_shares == std::vector<std::int64_t>{1, 3, 5, 7});
  // 43.69 in the table, of whose last digit half a unit is left.
  const Totals totals = totals_of(uneven, toy_costs(uneven, 1, 2));
  CHECK(std::abs(totals.makespan - units(43.69)) <= units(0.005));
  CHECK(mismatch(uneven, toy_costs(uneven, 1, 2), {}, totals.makespan) == "");
  const Schedule even = build("seq1f1b", 4, 8);
  CHECK(mismatch(even, toy_costs(even, 1, 2), {}, units(26.25)) == "");
  const Schedule balanced = build("seq1f1b", 4, 8, 0, {{"tokens", "32768"}});
  const Nanoseconds near = totals_of(balanced, toy_costs(balanced, 1, 2)).makespan;
  CHECK(near >= units(26.25));
  CHECK(near <= units(26.26));
}

TEST_CASE("balanced slices: each as long as a fair share of the computation allows, the first takes the rest") {
  for (const int tokens : {16, 100, 4096, 1'000'000}) {
    for (const int slices : {1, 2, 4, 7}) {
      for (const std::int64_t attention : {std::int64_t{0}, std::int64_t{40}, kMillionth / 10}) {
        const SliceCost cost{0, attention};
        const std::vector<int> lengths = balanced_lengths(tokens, slices, cost);
        REQUIRE(lengths.size() == static_cast<std::size_t>(slices));
        CHECK(std::accumulate(lengths.begin(), lengths.end(), 0) == tokens);
        const std::int64_t fair = slice_cost(cost, tokens, 0) / slices;
        int end = tokens;
        for (std::size_t q = lengths.size(); q-- > 1;) {
          CHECK(slice_cost(cost, lengths[q], end - lengths[q]) <= fair);
          CHECK(slice_cost(cost, lengths[q] + 1, end - lengths[q] - 1) > fair);
          end -= lengths[q];
        }
        const auto costs = slice_costs(cost, lengths);
        CHECK(sum(costs) == slice_cost(cost, tokens, 0));  // a cut changes nothing in all that is computed
      }
    }
  }
}

TEST_CASE("interleaved Seq1F1B: groups of p slices per chunk, whole microbatches in each") {
  for (const int p : {2, 4, 8}) {
    for (const int v : {2, 3}) {
      for (const int rounds : {1, 2, 3}) {
        for (int k = 1; k <= p; ++k) {
          const Params params{{"slices", std::to_string(k)}};
          CAPTURE(p);
          CAPTURE(v);
          CAPTURE(rounds);
          CAPTURE(k);
          // m == p runs all forwards first, with any number of slices.
          const bool legal = p % k == 0 || rounds == 1;
          CHECK((slices_refusal("seq1f1b", p, rounds * p, v, params) == "none") == legal);
          if (!legal) continue;
          const Schedule schedule = build("seq1f1b", p, rounds * p, v, params);
          CHECK(find_problems(schedule).empty());
          CHECK(!find_deadlock(schedule));
          // Slices alike: the last backward's way is p - 1 chunks of a slice longer than all the work.
          if (p % k == 0) {
            CHECK(mismatch(schedule, toy_costs(schedule, 1, 2), {},
                           units(3.0 * rounds * p + 3.0 * (p - 1) / (v * k))) == "");
          }
        }
      }
    }
  }
}

TEST_CASE("slices are refused where they make no sense") {
  CHECK(slices_refusal("terapipe", 4, 2, 0, {{"slices", "0"}}) == "S073");
  CHECK(slices_refusal("terapipe", 4, 2, 0, {{"slices", "many"}}) == "S006");
  CHECK(slices_refusal("terapipe", 4, 2, 0, {{"slices", "7,x"}}) == "S061");
  CHECK(slices_refusal("terapipe", 4, 2, 0, {{"slices", "7,0"}}) == "S061");
  CHECK(slices_refusal("terapipe", 4, 2, 0, {{"slices", "7,5"}, {"tokens", "12"}}) == "S075");
  CHECK(slices_refusal("terapipe", 4, 2, 0, {{"slices", "4"}, {"overhead", "1"}}) == "S075");
  CHECK(slices_refusal("terapipe", 4, 2, 0, {{"slices", "4"}, {"tokens", "3"}}) == "S073");
  CHECK(slices_refusal("terapipe", 4, 2, 0, {{"slices", "auto"}, {"tokens", "257"}}) == "S073");
  CHECK(slices_refusal("terapipe", 4, 2, 0, {{"slices", "auto"}, {"attention", "-1"}}) == "S006");
  CHECK(slices_refusal("terapipe", 4, 2, 0, {{"slices", "auto"}, {"attention", "0.1234567"}}) == "S006");
  CHECK(slices_refusal("terapipe", 4, 2, 2, {}) == "S005");
  CHECK(slices_refusal("terapipe", 100, 1000, 0, {{"slices", "100000"}}) == "S063");
  CHECK(slices_refusal("seq1f1b", 4, 2, 0, {{"slices", "0"}}) == "S073");
  CHECK(slices_refusal("seq1f1b", 4, 2, 0, {{"slice_costs", "1,0"}}) == "S006");
  CHECK(slices_refusal("seq1f1b", 4, 2, 0, {{"slice_costs", "1,2"}, {"slices", "3"}}) == "S075");
  CHECK(slices_refusal("seq1f1b", 4, 2, 0, {{"slice_costs", "1,2"}, {"tokens", "3"}}) == "S075");
  CHECK(slices_refusal("seq1f1b", 4, 2, 0, {{"attention", "1"}}) == "S075");
  CHECK(slices_refusal("seq1f1b", 4, 2, 0, {{"tokens", "3"}}) == "S073");
  CHECK(slices_refusal("seq1f1b", 4, 2, 0, {{"tokens", "5"}, {"attention", "1"}}) == "S073");
  CHECK(slices_refusal("seq1f1b", 4, 6, 2, {}) == "S009");
  CHECK(slices_refusal("seq1f1b", 4, 8, 2, {{"slices", "3"}}) == "S016");
  CHECK(slices_refusal("seq1f1b", 4, 8, 0, {{"slices", "3"}}) == "none");
}

TEST_CASE("Wavelet's proposal: the second wave uses the memory that the first one frees") {
  CHECK(order_of(build("wavelet", 2, 4), 0) == "F0 F1 F2 B1 F3 B0 B3 B2");
  for (const int p : {1, 2, 3, 4, 6, 8}) {
    for (const int m : {2, 4, 8, 12, 16}) {
      for (const int wave : {1, m / 2}) {
        const Schedule schedule = build("wavelet", p, m, 0, {{"wave", std::to_string(wave)}});
        CAPTURE(describe(schedule));
        CHECK(find_problems(schedule).empty());
        CHECK(!find_deadlock(schedule));
        // Each replica takes every second wave, and nobody waits longer than for two gpipe waves one after the other.
        CHECK(std::count(schedule.replica_of.begin(), schedule.replica_of.end(), 0) == m / 2);
        const Totals totals = totals_of(schedule, toy_costs(schedule, 1, 1));
        CHECK(totals.makespan >= units(2.0 * m));
        CHECK(totals.makespan <= units(2.0 * (m / wave) * (wave + p - 1)));
        // What a tick's backwards free, a tock's forwards take: together about one wave, well below two.
        CHECK(most_held_together(schedule, toy_costs(schedule, 1, 1)) <= wave * p + std::max(p, wave * p / 2));
        // On one device exactly one wave: the sum of what rises and what falls is constant.
        if (p == 1) CHECK(totals.devices[0].peak_activation == wave * kShare);
        // With backwards of any length between one wave's activations and two waves'.
        const Totals slow = totals_of(schedule, toy_costs(schedule, 1, 3));
        for (const DeviceTotals& device : slow.devices) {
          CHECK(device.peak_activation >= wave * kShare);
          CHECK(device.peak_activation <= 2 * wave * kShare);
        }
      }
    }
  }
  CHECK(slices_refusal("wavelet", 4, 3, 0, {}) == "S009");
  CHECK(slices_refusal("wavelet", 4, 8, 0, {{"wave", "3"}}) == "S009");
}
