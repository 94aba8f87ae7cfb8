// Makespan, bubble and activation peaks of one iteration, tabulated by an independent longest-path simulator. One
// device share's forward takes f, its backward b; transfers take no time.
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

struct MakespansRow {
  std::string schedule;
  int devices, microbatches, chunks;  // chunks 0: the schedule's own default
  Params params;
  double f, b;
  double makespan;            // in units of f = 1
  double bubble;              // idle / (p x makespan), to five decimals
  std::vector<double> peaks;  // device 0.., in activations of one device share
};

const std::vector<MakespansRow> kMakespansRows{
    {"gpipe", 2, 4, 0, {}, 1, 2, 15, 0.20000, {4, 4}},
    {"gpipe", 4, 4, 0, {}, 1, 2, 21, 0.42857, {4, 4, 4, 4}},
    {"gpipe", 4, 8, 0, {}, 1, 2, 33, 0.27273, {8, 8, 8, 8}},
    {"gpipe", 4, 16, 0, {}, 1, 2, 57, 0.15789, {16, 16, 16, 16}},
    {"gpipe", 8, 8, 0, {}, 1, 2, 45, 0.46667, {8, 8, 8, 8, 8, 8, 8, 8}},
    {"gpipe", 8, 32, 0, {}, 1, 2, 117, 0.17949, {32, 32, 32, 32, 32, 32, 32, 32}},
    {"1f1b", 2, 4, 0, {}, 1, 2, 15, 0.20000, {2, 1}},
    {"1f1b", 4, 2, 0, {}, 1, 2, 15, 0.60000, {2, 2, 2, 1}},
    {"1f1b", 4, 4, 0, {}, 1, 2, 21, 0.42857, {4, 3, 2, 1}},
    {"1f1b", 4, 6, 0, {}, 1, 2, 27, 0.33333, {4, 3, 2, 1}},
    {"1f1b", 4, 8, 0, {}, 1, 2, 33, 0.27273, {4, 3, 2, 1}},
    {"1f1b", 4, 16, 0, {}, 1, 2, 57, 0.15789, {4, 3, 2, 1}},
    {"1f1b", 8, 8, 0, {}, 1, 2, 45, 0.46667, {8, 7, 6, 5, 4, 3, 2, 1}},
    {"1f1b", 8, 32, 0, {}, 1, 2, 117, 0.17949, {8, 7, 6, 5, 4, 3, 2, 1}},
    {"interleaved", 2, 4, 2, {}, 1, 2, 13.5, 0.11111, {2.5, 1.5}},
    {"interleaved", 4, 4, 2, {}, 1, 2, 16.5, 0.27273, {4, 4, 3.5, 2.5}},
    {"interleaved", 4, 8, 2, {}, 1, 2, 28.5, 0.15789, {5.5, 4.5, 3.5, 2.5}},
    {"interleaved", 4, 8, 4, {}, 1, 2, 26.25, 0.08571, {4.75, 4.25, 3.75, 3.25}},
    {"interleaved", 4, 16, 2, {}, 1, 2, 52.5, 0.08571, {5.5, 4.5, 3.5, 2.5}},
    {"interleaved", 4, 12, 3, {}, 1, 2, 39, 0.07692, {5, 4.3333, 3.6667, 3}},
    {"interleaved", 8, 16, 2, {}, 1, 2, 58.5, 0.17949, {11.5, 10.5, 9.5, 8.5, 7.5, 6.5, 5.5, 4.5}},
    {"interleaved", 8, 64, 4, {}, 1, 2, 197.25, 0.02662, {9.75, 9.25, 8.75, 8.25, 7.75, 7.25, 6.75, 6.25}},
    {"interleaved", 4, 10, 2, {{"group", "5"}}, 1, 2, 34.5, 0.13043, {6, 5, 4, 3}},
    {"interleaved", 4, 10, 2, {{"group", "6"}}, 1, 2, 34.5, 0.13043, {6.5, 5.5, 4.5, 3.5}},
    {"interleaved", 4, 10, 2, {{"group", "4"}}, 1, 2, 39.5, 0.24051, {5.5, 4.5, 3.5, 2.5}},
    {"interleaved", 4, 6, 2, {{"group", "4"}}, 1, 2, 27.5, 0.34545, {5.5, 4.5, 3.5, 2.5}},
    {"interleaved", 4, 9, 2, {{"group", "5"}}, 1, 2, 31.5, 0.14286, {6, 5, 4, 3}},
    {"interleaved", 2, 5, 2, {{"group", "3"}}, 1, 2, 16.5, 0.09091, {3, 2}},
    {"interleaved", 4, 8, 2, {{"group", "8"}}, 1, 2, 28.5, 0.15789, {7.5, 6.5, 5.5, 4.5}},
    {"interleaved", 4, 3, 2, {{"rounding", "pytorch"}}, 1, 2, 15, 0.40000, {3, 3, 3, 2}},
    {"interleaved", 4, 7, 2, {{"rounding", "pytorch"}}, 1, 2, 25.5, 0.17647, {7, 6, 5, 4}},
    {"chimera", 4, 4, 0, {}, 1, 1, 10, 0.20000, {3, 4, 4, 3}},
    {"chimera", 4, 4, 0, {}, 1, 2, 16, 0.25000, {3, 4, 4, 3}},
    {"chimera", 6, 6, 0, {}, 1, 1, 16, 0.25000, {4, 5, 6, 6, 5, 4}},
    {"chimera", 6, 6, 0, {}, 1, 2, 26, 0.30769, {4, 5, 6, 6, 5, 4}},
    {"chimera", 8, 8, 0, {}, 1, 1, 22, 0.27273, {5, 6, 7, 8, 8, 7, 6, 5}},
    {"chimera", 8, 8, 0, {}, 1, 2, 36, 0.33333, {5, 6, 7, 8, 8, 7, 6, 5}},
    {"chimera", 8, 8, 0, {{"pairs", "2"}}, 1, 1, 18, 0.11111, {7, 8, 8, 7, 7, 8, 8, 7}},
    {"chimera", 8, 8, 0, {{"pairs", "2"}}, 1, 2, 28, 0.14286, {7, 8, 8, 7, 7, 8, 8, 7}},
    {"chimera", 8, 8, 0, {{"pairs", "4"}}, 1, 1, 16, 0.00000, {8, 8, 8, 8, 8, 8, 8, 8}},
    {"chimera", 8, 8, 0, {{"pairs", "4"}}, 1, 2, 24, 0.00000, {8, 8, 8, 8, 8, 8, 8, 8}},
    {"chimera", 4, 8, 0, {}, 1, 1, 18, 0.11111, {3, 4, 4, 3}},
    {"chimera", 4, 8, 0, {}, 1, 2, 30, 0.20000, {3, 4, 4, 3}},
    {"chimera", 8, 16, 0, {}, 1, 1, 38, 0.15789, {5, 6, 7, 8, 8, 7, 6, 5}},
    {"chimera", 8, 16, 0, {}, 1, 2, 66, 0.27273, {5, 6, 7, 8, 8, 7, 6, 5}},
    {"chimera", 8, 32, 0, {}, 1, 1, 70, 0.08571, {5, 6, 7, 8, 8, 7, 6, 5}},
    {"chimera", 8, 32, 0, {}, 1, 2, 126, 0.23810, {5, 6, 7, 8, 8, 7, 6, 5}},
    {"chimera", 8, 16, 0, {{"pairs", "2"}}, 1, 1, 34, 0.05882, {7, 8, 8, 7, 7, 8, 8, 7}},
    {"chimera", 8, 16, 0, {{"pairs", "2"}}, 1, 2, 54, 0.11111, {7, 8, 8, 7, 7, 8, 8, 7}},
    {"chimera", 4, 2, 0, {}, 1, 1, 8, 0.50000, {2, 2, 2, 2}},
    {"chimera", 4, 2, 0, {}, 1, 2, 12, 0.50000, {2, 2, 2, 2}},
    {"chimera", 8, 4, 0, {}, 1, 1, 18, 0.55556, {3, 4, 4, 4, 4, 4, 4, 3}},
    {"chimera", 8, 4, 0, {}, 1, 2, 28, 0.57143, {3, 4, 4, 4, 4, 4, 4, 3}},
    {"chimera", 4, 8, 0, {{"mode", "doubling"}}, 1, 2, 27, 0.11111, {7, 8, 8, 7}},
    {"chimera", 4, 8, 0, {{"mode", "doubling"}, {"fused", "true"}}, 1, 2, 28, 0.14286, {7, 8, 8, 7}},
    {"chimera", 4, 8, 0, {{"mode", "doubling"}}, 1, 3, 36, 0.11111, {7, 8, 8, 7}},
    {"chimera", 8, 16, 0, {{"mode", "doubling"}}, 1, 2, 57, 0.15789, {13, 14, 15, 16, 16, 15, 14, 13}},
    {"chimera",
     8,
     16,
     0,
     {{"mode", "doubling"}, {"fused", "true"}},
     1,
     2,
     60,
     0.20000,
     {13, 14, 15, 16, 16, 15, 14, 13}},
    {"chimera", 8, 16, 0, {{"mode", "doubling"}}, 1, 3, 76, 0.15789, {13, 14, 15, 16, 16, 15, 14, 13}},
    {"chimera", 8, 32, 0, {{"mode", "doubling"}}, 1, 2, 105, 0.08571, {13, 14, 15, 16, 16, 15, 14, 13}},
    {"chimera",
     8,
     32,
     0,
     {{"mode", "doubling"}, {"fused", "true"}},
     1,
     2,
     108,
     0.11111,
     {13, 14, 15, 16, 16, 15, 14, 13}},
    {"chimera", 8, 32, 0, {{"mode", "doubling"}}, 1, 3, 146, 0.12329, {13, 14, 15, 16, 16, 15, 14, 13}},
    {"chimera", 4, 6, 0, {}, 1, 1, 16, 0.25000, {3, 4, 4, 3}},
    {"chimera", 4, 6, 0, {}, 1, 2, 25, 0.28000, {3, 4, 4, 3}},
    {"chimera", 4, 5, 0, {}, 1, 1, 16, 0.37500, {3, 4, 4, 3}},
    {"chimera", 4, 5, 0, {}, 1, 2, 25, 0.40000, {3, 4, 4, 3}},
    {"chimera", 8, 12, 0, {}, 1, 1, 34, 0.29412, {5, 6, 7, 8, 8, 7, 6, 5}},
    {"chimera", 8, 12, 0, {}, 1, 2, 57, 0.36842, {5, 6, 7, 8, 8, 7, 6, 5}},
    {"chimera", 4, 4, 0, {{"mode", "halving"}}, 1, 2, 14, 0.14286, {3.5, 4, 4, 3.5}},
    {"chimera", 8, 8, 0, {{"mode", "halving"}}, 1, 2, 30, 0.20000, {6.5, 7, 7.5, 8, 8, 7.5, 7, 6.5}},
    {"chimera", 8, 32, 0, {{"mode", "halving"}}, 1, 2, 102, 0.05882, {6.5, 7, 7.5, 8, 8, 7.5, 7, 6.5}},
    {"dapple", 4, 8, 0, {{"policy", "b"}}, 1, 2, 33, 0.27273, {7, 5, 3, 1}},
    {"dapple", 8, 32, 0, {{"policy", "b"}}, 1, 2, 117, 0.17949, {15, 13, 11, 9, 7, 5, 3, 1}},
    {"dapple", 4, 8, 0, {{"policy", "a"}, {"memory_limit", "2"}}, 1, 2, 69, 0.65217, {2, 2, 2, 1}},
    {"dapple", 4, 8, 0, {{"policy", "b"}, {"memory_limit", "4"}}, 1, 2, 43, 0.44186, {4, 4, 3, 1}},
    {"breadth-first", 4, 8, 2, {}, 1, 2, 28.5, 0.15789, {8, 8, 8, 8}},
    {"breadth-first", 8, 16, 2, {}, 1, 2, 58.5, 0.17949, {16, 16, 16, 16, 16, 16, 16, 16}},
    {"gems", 4, 4, 0, {}, 1, 2, 39, 0.69231, {1, 1, 1, 1}},
    {"gems", 8, 8, 0, {}, 1, 2, 143, 0.83217, {1, 1, 1, 1, 1, 1, 1, 1}},
    {"gems", 8, 32, 0, {}, 1, 2, 551, 0.82577, {1, 1, 1, 1, 1, 1, 1, 1}},
    {"hanayo", 4, 4, 0, {{"waves", "1"}}, 1, 1, 11, 0.27273, {2.5, 3, 3.5, 4}},
    {"hanayo", 4, 4, 0, {{"waves", "1"}}, 1, 2, 18, 0.33333, {2.5, 3, 3.5, 4}},
    {"hanayo", 4, 4, 0, {{"waves", "2"}}, 1, 1, 9.5, 0.15789, {3.25, 3.5, 3.75, 4}},
    {"hanayo", 4, 4, 0, {{"waves", "2"}}, 1, 2, 15, 0.20000, {3.25, 3.5, 3.75, 4}},
    {"hanayo", 4, 4, 0, {{"waves", "4"}}, 1, 1, 8.75, 0.08571, {3.625, 3.75, 3.875, 4}},
    {"hanayo", 4, 4, 0, {{"waves", "4"}}, 1, 2, 13.5, 0.11111, {3.625, 3.75, 3.875, 4}},
    {"hanayo", 8, 8, 0, {{"waves", "1"}}, 1, 1, 23, 0.30435, {4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8}},
    {"hanayo", 8, 8, 0, {{"waves", "1"}}, 1, 2, 38, 0.36842, {4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8}},
    {"hanayo", 8, 8, 0, {{"waves", "2"}}, 1, 1, 19.5, 0.17949, {6.25, 6.5, 6.75, 7, 7.25, 7.5, 7.75, 8}},
    {"hanayo", 8, 8, 0, {{"waves", "2"}}, 1, 2, 31, 0.22581, {6.25, 6.5, 6.75, 7, 7.25, 7.5, 7.75, 8}},
    {"hanayo", 4, 8, 0, {{"waves", "1"}}, 1, 1, 19, 0.15789, {2.5, 3, 3.5, 4}},
    {"hanayo", 4, 8, 0, {{"waves", "1"}}, 1, 2, 33, 0.27273, {2.5, 3, 3.5, 4}},
    {"hanayo", 4, 8, 0, {{"waves", "2"}}, 1, 1, 17.5, 0.08571, {3.25, 3.5, 3.75, 4}},
    {"hanayo", 4, 8, 0, {{"waves", "2"}}, 1, 2, 28.5, 0.15789, {3.25, 3.5, 3.75, 4}},
    {"hanayo", 8, 16, 0, {{"waves", "2"}}, 1, 1, 35.5, 0.09859, {6.25, 6.5, 6.75, 7, 7.25, 7.5, 7.75, 8}},
    {"hanayo", 8, 16, 0, {{"waves", "2"}}, 1, 2, 58.5, 0.17949, {6.25, 6.5, 6.75, 7, 7.25, 7.5, 7.75, 8}},
    {"bitpipe", 4, 4, 0, {}, 1, 1, 9, 0.11111, {3.5, 4, 4, 3.5}},
    {"bitpipe", 4, 4, 0, {}, 1, 2, 14, 0.14286, {3.5, 4, 4, 3.5}},
    {"bitpipe", 8, 8, 0, {}, 1, 1, 19, 0.15789, {6.5, 7, 7.5, 8, 8, 7.5, 7, 6.5}},
    {"bitpipe", 8, 8, 0, {}, 1, 2, 30, 0.20000, {6.5, 7, 7.5, 8, 8, 7.5, 7, 6.5}},
    {"bitpipe",
     16,
     16,
     0,
     {},
     1,
     1,
     39,
     0.17949,
     {12.5, 13, 13.5, 14, 14.5, 15, 15.5, 16, 16, 15.5, 15, 14.5, 14, 13.5, 13, 12.5}},
    {"bitpipe",
     16,
     16,
     0,
     {},
     1,
     2,
     62,
     0.22581,
     {12.5, 13, 13.5, 14, 14.5, 15, 15.5, 16, 16, 15.5, 15, 14.5, 14, 13.5, 13, 12.5}},
    {"bitpipe", 4, 8, 0, {}, 1, 1, 17, 0.05882, {3.5, 4, 4, 3.5}},
    {"bitpipe", 4, 8, 0, {}, 1, 2, 27, 0.11111, {3.5, 4, 4, 3.5}},
    {"bitpipe", 8, 16, 0, {}, 1, 1, 35, 0.08571, {6.5, 7, 7.5, 8, 8, 7.5, 7, 6.5}},
    {"bitpipe", 8, 16, 0, {}, 1, 2, 57, 0.15789, {6.5, 7, 7.5, 8, 8, 7.5, 7, 6.5}},
    {"bitpipe", 8, 32, 0, {}, 1, 1, 67, 0.04478, {6.5, 7, 7.5, 8, 8, 7.5, 7, 6.5}},
    {"bitpipe", 8, 32, 0, {}, 1, 2, 111, 0.13514, {6.5, 7, 7.5, 8, 8, 7.5, 7, 6.5}},
    {"hanayo", 4, 6, 0, {{"waves", "1"}}, 1, 2, 28.5, 0.36842, {2.5, 3, 3.5, 4}},
    {"hanayo", 4, 6, 0, {{"waves", "2"}}, 1, 2, 26.25, 0.31429, {3.25, 3.5, 3.75, 4}},
};

double bubble_of(const Schedule& schedule, double backward = 2) {
  return run_engine(schedule, toy_costs(schedule, 1, backward), {}).report.bubble_ratio;
}

}  // namespace

TEST_CASE("golden: makespan and activation peaks of one iteration") {
  CHECK(kMakespansRows.size() == 110);
  for (const MakespansRow& row : kMakespansRows) {
    const Schedule schedule = build(row.schedule, row.devices, row.microbatches, row.chunks, row.params);
    CAPTURE(describe(schedule));
    const StageCosts costs = toy_costs(schedule, row.f, row.b);
    CHECK_EQ(mismatch(schedule, costs, {}, units(row.makespan), row.peaks), "");
  }
}

TEST_CASE("golden: bubble ratio of one iteration") {
  for (const MakespansRow& row : kMakespansRows) {
    const Schedule schedule = build(row.schedule, row.devices, row.microbatches, row.chunks, row.params);
    CAPTURE(describe(schedule));
    const EngineRun run = run_engine(schedule, toy_costs(schedule, row.f, row.b), {});
    CHECK(std::abs(run.report.bubble_ratio - row.bubble) < 5.1e-6);
    const double compute = 1 - row.bubble;
    CHECK(std::abs(run.report.bubble_over_ideal - row.bubble / compute) < 5.1e-6 / (compute * compute));
    for (std::size_t d = 0; d < row.peaks.size(); ++d) {
      CHECK(std::abs(run.report.devices[d].peak_activation_shares - row.peaks[d]) < 5.1e-5);
    }
  }
}

TEST_CASE("golden: the peak is the same whatever the transfers cost, for 1F1B") {
  const Schedule schedule = build("1f1b", 4, 8);
  CHECK_EQ(mismatch(schedule, toy_costs(schedule, 1, 2), {units(0.1), 0}, units(33 + 0.1 * 16), {4, 3, 2, 1}), "");
}

TEST_CASE("golden: DAPPLE under a cap on microbatches in flight, p=4 m=8") {
  struct Cap {
    const char* limit;
    double a, b;  // makespan of policy a and b
  };
  const std::vector<Cap> caps{{"1", 96, 96}, {"2", 69, 69}, {"3", 48, 61}, {"4", 33, 43}, {"7", 33, 33}, {"8", 33, 33}};
  for (const Cap& cap : caps) {
    CAPTURE(cap.limit);
    for (const bool policy_b : {false, true}) {
      const Params params{{"policy", policy_b ? "b" : "a"}, {"memory_limit", cap.limit}};
      const Schedule schedule = build("dapple", 4, 8, 0, params);
      CHECK_EQ(mismatch(schedule, toy_costs(schedule, 1, 2), {}, units(policy_b ? cap.b : cap.a)), "");
    }
  }
}

TEST_CASE("golden: GEMS, and its bubble of (D - 1) / (D + 1/2) for many microbatches") {
  CHECK_EQ(mismatch(build("gems", 4, 8), toy_costs(build("gems", 4, 8), 1, 2), {}, units(75), {1, 1, 1, 1}), "");
  const Schedule schedule = build("gems", 8, 64);
  CHECK_EQ(mismatch(schedule, toy_costs(schedule, 1, 2), {}, units(1095)), "");
  CHECK(std::abs(bubble_of(schedule) - 0.8247) < 5.1e-5);
  CHECK(std::abs(bubble_of(schedule) - 7 / 8.5) < 0.002);
}

// Chimera's paper, GPT-2 on 2,048 nodes: bubbles read off a figure to 3 %, at one microbatch per device of the
// pipeline.
TEST_CASE("published: bubbles of GPipe, GEMS, DAPPLE and Chimera in Chimera's evaluation") {
  CHECK(std::abs(bubble_of(build("gpipe", 8, 8)) - 0.467) < 5.1e-4);
  CHECK(std::abs(bubble_of(build("gems", 8, 64)) - 0.824) < 1.1e-3);
  CHECK(std::abs(bubble_of(build("dapple", 16, 16)) - 0.484) < 5.1e-4);
  // The paper's formula for Chimera, (D - 2) / (2N + D - 2), is of backwards as long as forwards.
  CHECK(std::abs(bubble_of(build("chimera", 32, 32), 1) - 0.319) < 5.1e-4);
}

TEST_CASE("published: Chimera's critical path has D forwards and 2D - 2 backwards, D=6: 6 and 10") {
  for (const int devices : {2, 4, 6, 8, 12}) {
    const Schedule schedule = build("chimera", devices, devices);
    const double backwards = 2 * devices - 2;
    for (const double b : {1.0, 2.0, 3.5, 100.0}) {
      CHECK_EQ(mismatch(schedule, toy_costs(schedule, 1, b), {}, units(devices + backwards * b)), "");
    }
  }
}

TEST_CASE(
    "published: Chimera's bubbles by number of pipelines, (D - 2f) / (2fN + D - 2f) where backward takes as long") {
  for (const int devices : {4, 8, 16}) {
    for (int pairs = 1; pairs <= devices / 2; pairs *= 2) {
      for (const int units_run : {1, 2, 3}) {
        const int m = devices * units_run;
        const Schedule schedule = build("chimera", devices, m, 0, {{"pairs", std::to_string(pairs)}});
        const double idle = devices - 2 * pairs;
        CAPTURE(describe(schedule));
        CHECK(std::abs(bubble_of(schedule, 1) - idle / (2 * pairs * m + idle)) < 1e-9);
      }
    }
  }
}
