// optimal in the zero-bubble paper's twelve settings: its ZB-1p is the shortest step there is within the memory of
// 1F1B, and where twice the memory leaves something to gain, optimal finds it.
#include "schedules/optimal.hpp"
#include "tests/support/planned.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Times in microseconds (taken as nanoseconds), as in zero_bubble_auto_test.cpp.
struct OptimalSetting {
  int hidden, heads;
  int devices, microbatches;
  Nanoseconds forward, input_grad, weight_grad, hop;
  Nanoseconds step_1p, step_2p;  // proven
};

const std::vector<OptimalSetting> kOptimalSettings{
    {2304, 24, 8, 24, 18522, 18086, 9337, 601, 1310405, 1236541},
    {2304, 24, 8, 32, 18513, 18086, 9331, 626, 1678164, 1603733},
    {2304, 24, 8, 64, 18546, 18097, 9321, 762, 3154286, 3076852},
    {4096, 32, 8, 24, 29718, 29444, 19927, 527, 2187537, 2109851},
    {4096, 32, 8, 32, 29802, 29428, 19530, 577, 2814376, 2732973},
    {4096, 32, 8, 64, 29935, 29621, 19388, 535, 5348572, 5265706},
    {5120, 40, 16, 48, 11347, 11248, 8132, 377, 1714461, 1650756},
    {5120, 40, 16, 64, 11307, 11254, 8101, 379, 2202008, 2137658},
    {5120, 40, 16, 128, 11325, 11308, 8109, 378, 4175516, 4110521},
    {6144, 48, 32, 96, 10419, 10207, 7715, 408, 3171569, 3056373},
    {6144, 48, 32, 128, 10408, 10204, 7703, 408, 4075091, 3959616},
    {6144, 48, 32, 256, 10402, 10248, 7698, 460, 7715640, 7593810},
};

Case setting_case(const OptimalSetting& s) {
  const Pass pass{s.forward, s.input_grad, s.weight_grad, Bytes{34} * s.hidden + Bytes{5} * s.heads * 1024,
                  Bytes{32} * s.hidden};
  return equal_case(s.devices, s.microbatches, pass, s.hop);
}

OptimalSchedule optimal_of(const Case& of, const Params& params) {
  const PlanningCosts known = of.known();
  ScheduleRequest request{of.devices, of.microbatches, of.chunks(), params};
  request.costs = &known;
  return search_optimal(request);
}

}  // namespace

TEST_CASE("golden: optimal, the shortest steps of the paper's twelve settings, proven") {
  CHECK(kOptimalSettings.size() == 12);
  for (const OptimalSetting& setting : kOptimalSettings) {
    CAPTURE(setting.devices);
    CAPTURE(setting.microbatches);
    const Case of = setting_case(setting);
    for (const auto& [limit, step] : {std::pair{"1p", setting.step_1p}, std::pair{"2p", setting.step_2p}}) {
      const auto [schedule, proof] = optimal_of(of, {{"memory_limit", limit}});
      CHECK(proof.proven);
      CHECK(proof.time == step);
      CHECK(totals_of(schedule, of).makespan == step);
      const Nanoseconds greedy = totals_of(plan("zb-auto", of, {{"memory_limit", limit}}), of).makespan;
      CHECK(step <= greedy);
    }
  }
}

TEST_CASE("golden: optimal is shorter than zb-auto where that leaves something") {
  const Case of = setting_case(kOptimalSettings[0]);
  CHECK(totals_of(plan("zb-auto", of, {{"memory_limit", "2p"}}), of).makespan == 1'236'567);
  CHECK(totals_of(optimal_of(of, {{"memory_limit", "2p"}}).schedule, of).makespan == 1'236'541);
}

TEST_CASE("golden: optimal, spans: no longer than the paper's, and shorter in some settings") {
  int shorter = 0;
  for (const OptimalSetting& setting : kOptimalSettings) {
    if (setting.devices > 8) continue;  // larger ones take longer, and find the same
    const Case of = setting_case(setting);
    for (const char* limit : {"1p", "2p"}) {
      const auto [schedule, proof] = optimal_of(of, {{"memory_limit", limit}, {"goal", "span"}});
      const Nanoseconds greedy = totals_of(plan("zb-auto", of, {{"memory_limit", limit}}), of).span;
      const Nanoseconds span = totals_of(schedule, of).span;
      CHECK(span <= proof.time);
      CHECK(proof.time <= greedy);
      CHECK(proof.bound <= span);
      shorter += span < greedy ? 1 : 0;
    }
  }
  CHECK(shorter == 5);
}

TEST_CASE("golden: optimal with two stages per device is never longer than zb-v-auto in these settings") {
  for (const OptimalSetting& setting : kOptimalSettings) {
    if (setting.devices > 8) continue;
    const Pass half{setting.forward / 2, setting.input_grad / 2, setting.weight_grad / 2,
                    Bytes{17} * setting.hidden + Bytes{5} * setting.heads * 512, Bytes{16} * setting.hidden};
    const Case of = equal_case(setting.devices, setting.microbatches, half, setting.hop, 2);
    const auto [schedule, proof] = optimal_of(of, {{"budget", "20k"}});
    const Totals totals = totals_of(schedule, of);
    CHECK(totals.makespan == proof.time);
    CHECK(totals.makespan <= totals_of(plan("zb-v-auto", of), of).makespan);
  }
}

namespace {

// Stages of 0.7 to 1.3 times the mean, activations of 1.0 to 1.4, one limit for all devices or one for each.
Case unequal_case(int devices, int microbatches, Nanoseconds hop) {
  Dice dice(18);
  Case of{devices, microbatches, {}, hop};
  for (int s = 0; s < devices; ++s) {
    const int share = dice.from(700, 1300);
    Pass pass{10 * share, 10 * share + share / 2, 6 * share + 1600, 1000 + dice.from(0, 400), 600};
    of.passes.push_back(pass);
  }
  return of;
}

struct UnequalRow {
  int devices, microbatches;
  Nanoseconds hop;
  const char* limit;
  Nanoseconds zb_auto, optimal, bound;
};

}  // namespace

TEST_CASE("golden: optimal, the table of docs/optimal.md") {
  const std::vector<UnequalRow> rows{
      {4, 8, 300, "1p", 393423, 293543, 293543},
      {8, 16, 300, "1p", 800327, 595057, 582968},
      {8, 32, 2500, "1.5p", 1129134, 1119176, 1118696},
      {8, 32, 300, "0.75p", 2780233, 1277558, 1177757},
      {8, 32, 300, "8,7,6,5,5,6,7,8", 1468871, 1171693, 1162409},
      {16, 32, 2500, "1p", 1785867, 1367797, 1293557},
  };
  for (const UnequalRow& row : rows) {
    CAPTURE(row.devices);
    CAPTURE(row.limit);
    const Case of = unequal_case(row.devices, row.microbatches, row.hop);
    const auto [schedule, proof] = optimal_of(of, {{"memory_limit", row.limit}});
    CHECK(totals_of(plan("zb-auto", of, {{"memory_limit", row.limit}}), of).makespan == row.zb_auto);
    CHECK(totals_of(schedule, of).makespan == row.optimal);
    CHECK(proof.bound == row.bound);
  }
}
