// Makespans with latency: 4 devices, 16 microbatches, f=1 b=2 per device share, transfers overlapped.
#include <fstream>

#include "cost_models/profiled.hpp"
#include "formats/profile/profile_json.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

struct Row {
  std::string schedule;
  int chunks;
  Params params;
  std::vector<double> makespan;  // by latency, as in kLatencies
};

const std::vector<double> kLatencies{0, 0.05, 0.1, 0.25, 0.5};

const std::vector<Row> kRows{
    {"gpipe", 0, {}, {57, 57.3, 57.6, 58.5, 60}},
    {"1f1b", 0, {}, {57, 58.4, 59.8, 64, 71}},
    {"dapple", 0, {{"policy", "a"}}, {57, 58.4, 59.8, 64, 71}},
    {"dapple", 0, {{"policy", "b"}}, {57, 57.3, 57.6, 58.5, 60}},
    {"interleaved", 2, {{"group", "4"}}, {52.5, 53.2, 53.9, 56, 59.5}},
    {"interleaved", 2, {{"group", "8"}}, {52.5, 52.8, 53.1, 54, 55.5}},
    {"depth-first", 2, {}, {52.5, 53.2, 53.9, 56, 59.5}},
    {"breadth-first", 2, {}, {52.5, 52.8, 53.1, 54, 55.5}},
    {"chimera", 0, {{"mode", "direct"}}, {58, 58.95, 59.9, 62.75, 67.5}},
    {"chimera", 0, {{"mode", "doubling"}}, {51, 51.7, 52.4, 54.5, 58}},
    {"hanayo", 0, {{"waves", "1"}}, {63, 65.3, 67.6, 74.5, 86}},
    {"hanayo", 0, {{"waves", "2"}}, {55.5, 60.2, 64.9, 79, 102.5}},
    {"bitpipe", 0, {}, {53, 55.3, 57.6, 64.5, 76}},
};

// What a latency of `c` per hop adds to the makespan, in units.
double extra(const Schedule& schedule, double b, double c) {
  const StageCosts costs = toy_costs(schedule, 1, b);
  const Nanoseconds more = totals_of(schedule, costs, {units(c), 0}).makespan - totals_of(schedule, costs).makespan;
  return static_cast<double>(more) / static_cast<double>(kUnit);
}

bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

}  // namespace

TEST_CASE("golden: makespans with latency") {
  for (const Row& row : kRows) {
    const Schedule schedule = build(row.schedule, 4, 16, row.chunks, row.params);
    const StageCosts costs = toy_costs(schedule, 1, 2);
    for (std::size_t i = 0; i < kLatencies.size(); ++i) {
      CAPTURE(describe(schedule));
      CAPTURE(kLatencies[i]);
      CHECK_EQ(mismatch(schedule, costs, {units(kLatencies[i]), 0}, units(row.makespan[i])), "");
    }
  }
}

TEST_CASE("golden: finish times of 1F1B's devices") {
  const Schedule schedule = build("1f1b", 4, 8);
  const Totals totals = totals_of(schedule, toy_costs(schedule, 1, 2));
  const std::vector<double> finish{33, 31, 29, 27};
  for (std::size_t d = 0; d < 4; ++d) CHECK(totals.devices[d].last_end == units(finish[d]));
}

TEST_CASE("golden: when each op of Chimera's device 0 starts and ends") {
  const Schedule schedule = build("chimera", 4, 4);
  const EngineRun run = run_engine(schedule, toy_costs(schedule, 1, 2), {});
  const std::vector<std::vector<double>> times{{0, 1}, {1, 2}, {3, 4}, {4, 6}, {6, 7}, {7, 9}, {10, 12}, {14, 16}};
  for (std::size_t i = 0; i < times.size(); ++i) {
    CHECK(run.timeline.spans[i].begin == units(times[i][0]));
    CHECK(run.timeline.spans[i].end == units(times[i][1]));
  }
  const std::vector<double> finish{16, 14, 14, 16};
  for (std::size_t d = 0; d < 4; ++d) CHECK(run.totals.devices[d].last_end == units(finish[d]));
}

TEST_CASE("golden: when a chunk's gradient is complete on device 0 of the interleaved schedule") {
  const Schedule schedule = build("interleaved", 4, 8, 2);
  const EngineRun run = run_engine(schedule, toy_costs(schedule, 1, 2), {});
  Nanoseconds chunk_done[2] = {0, 0};
  for (const Span& span : run.timeline.spans) {
    if (span.device == 0 && span.op.kind == OpKind::kBackward) chunk_done[span.op.stage / 4] = span.end;
  }
  CHECK(chunk_done[1] == units(24.5));
  CHECK(chunk_done[0] == units(28.5));
}

TEST_CASE("golden: DAPPLE's policies and GPipe by latency") {
  struct Case {
    int p, m;
    double c, a, b, gpipe;
  };
  const std::vector<Case> cases{{4, 16, 0, 57, 57, 57},     {4, 16, 0.5, 71, 60, 60},  {4, 16, 1.0, 85, 63, 63},
                                {4, 16, 1.5, 99, 66, 66},   {4, 16, 2.0, 113, 75, 69}, {8, 32, 1.0, 185, 131, 131},
                                {8, 32, 1.5, 219, 138, 138}};
  for (const Case& row : cases) {
    CAPTURE(row.p);
    CAPTURE(row.c);
    const auto check = [&](const Schedule& schedule, double makespan) {
      CHECK_EQ(mismatch(schedule, toy_costs(schedule, 1, 2), {units(row.c), 0}, units(makespan)), "");
    };
    check(build("dapple", row.p, row.m, 0, {{"policy", "a"}}), row.a);
    check(build("dapple", row.p, row.m, 0, {{"policy", "b"}}), row.b);
    check(build("gpipe", row.p, row.m), row.gpipe);
  }
}

TEST_CASE("law: GPipe pays for every hop once, 2(p - 1)c") {
  for (int p = 1; p <= 6; ++p) {
    for (const int m : {1, 3, 8, 12}) {
      for (const double b : {1.0, 2.0, 3.0}) {
        for (const double c : {0.1, 0.5, 1.0}) CHECK(near(extra(build("gpipe", p, m), b, c), 2 * (p - 1) * c));
      }
    }
  }
}

TEST_CASE("law: DAPPLE's policy b hides what a hop takes up to (f + b) / 2") {
  for (int p = 2; p <= 6; ++p) {
    for (const int m : {1, 3, 8, 12, 20}) {
      for (const double b : {1.0, 2.0, 3.0}) {
        const Schedule schedule = build("dapple", p, m, 0, {{"policy", "b"}});
        for (const double c : {0.1, 0.5, 1.0}) CHECK(near(extra(schedule, b, c), 2 * (p - 1) * c));
      }
      const Schedule schedule = build("dapple", p, m, 0, {{"policy", "b"}});
      CHECK(near(extra(schedule, 2, 1.5), 2 * (p - 1) * 1.5));  // (f + b) / 2 itself
    }
  }
  CHECK(extra(build("dapple", 4, 16, 0, {{"policy", "b"}}), 2, 1.6) > 2 * 3 * 1.6 + 0.01);
}

TEST_CASE("law: 1F1B pays for hops per microbatch, c(2m(p - 1)/p + 2(p - 2)) where p divides m") {
  for (int p = 2; p <= 6; ++p) {
    for (int rounds = 1; rounds <= 4; ++rounds) {
      const int m = p * rounds;
      for (const double b : {1.0, 2.0}) {
        for (const double c : {0.05, 0.2}) {
          CAPTURE(p);
          CAPTURE(m);
          CHECK(near(extra(build("1f1b", p, m), b, c), c * (2.0 * m * (p - 1) / p + 2 * (p - 2))));
        }
      }
    }
  }
}

TEST_CASE("law: interleaved pays 2(pv - 1)c whatever m is, for small c, where p divides m") {
  for (int p = 2; p <= 6; ++p) {
    for (int v = 2; v <= 4; ++v) {
      for (int rounds = 1; rounds <= 3; ++rounds) {
        const Schedule schedule = build("interleaved", p, p * rounds, v);
        CAPTURE(describe(schedule));
        for (const double c : {0.01, 0.05}) CHECK(near(extra(schedule, 2, c), 2 * (p * v - 1) * c));
      }
    }
  }
}

// While m microbatches pass through a chunk, the first of them must come around: p c <= (m - p) f / v.
TEST_CASE("law: breadth-first pays 2(p - 1)c for small c, and 2(pv - 1)c where m is p") {
  for (int p = 2; p <= 6; ++p) {
    for (int v = 1; v <= 4; ++v) {
      for (const double c : {0.01, 0.05}) {
        CHECK(near(extra(build("breadth-first", p, p, v), 2, c), 2 * (p * v - 1) * c));
        for (const int m : {p + 1, 2 * p, 3 * p + 1}) {
          if (p * c * v > m - p) continue;
          CAPTURE(m);
          CHECK(near(extra(build("breadth-first", p, m, v), 2, c), 2 * (p - 1) * c));
        }
      }
    }
  }
}

TEST_CASE("law: what runs one microbatch at a time pays for all its hops every time") {
  for (int p = 1; p <= 5; ++p) {
    for (const int m : {1, 4}) {
      CHECK(near(extra(build("naive", p, m), 2, 0.5), 2 * (p - 1) * m * 0.5));
      CHECK(near(extra(build("dapple", p, m, 0, {{"memory_limit", "1"}}), 2, 0.5), 2 * (p - 1) * m * 0.5));
    }
  }
}

TEST_CASE("law: a Hanayo microbatch crosses 2W(P - 1) times between devices, each way") {
  for (const int waves : {1, 2, 3}) {
    const Schedule schedule = build("hanayo", 4, 1, 0, {{"waves", std::to_string(waves)}});
    CHECK(near(extra(schedule, 2, 0.25), 2 * (2 * waves * 3) * 0.25));
  }
}

// The profiles that we ship reproduce the costs their paper printed: file, partition, costs and engine together.

namespace {

struct PublishedProfilesRow {
  std::string file;
  int devices, microbatches, layers_per_device;
  Nanoseconds cost_1f1b, cost_zb_h1;  // microseconds
};

const std::vector<PublishedProfilesRow> kPublishedProfilesRows{
    {"zb-a100-1.5b-m24", 8, 24, 3, 1456749, 1310405},     {"zb-a100-1.5b-m32", 8, 32, 3, 1833838, 1678164},
    {"zb-a100-1.5b-m64", 8, 64, 3, 3357932, 3154286},     {"zb-a100-6.2b-m24", 8, 24, 4, 2480217, 2187537},
    {"zb-a100-6.2b-m32", 8, 32, 4, 3110876, 2814376},     {"zb-a100-6.2b-m64", 8, 64, 4, 5671364, 5348572},
    {"zb-a100-14.6b-m48", 16, 48, 3, 1980287, 1714461},   {"zb-a100-14.6b-m64", 16, 64, 3, 2478390, 2202008},
    {"zb-a100-14.6b-m128", 16, 128, 3, 4497410, 4175516}, {"zb-a100-28.3b-m96", 32, 96, 2, 3699675, 3171569},
    {"zb-a100-28.3b-m128", 32, 128, 2, 4627749, 4075091}, {"zb-a100-28.3b-m256", 32, 256, 2, 8391636, 7715640},
};

Profile read(const std::string& name) {
  const std::string path = debubble::testing::source_directory() + "/traces/published/" + name + ".json";
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return read_profile(text.str(), path);
}

}  // namespace

TEST_CASE("golden: the twelve published A100 profiles give the paper's costs to the microsecond") {
  for (const PublishedProfilesRow& row : kPublishedProfilesRows) {
    CAPTURE(row.file);
    const Profile profile = read(row.file);
    REQUIRE(profile.hop_latency.has_value());
    std::vector<Assumption> assumptions;
    const std::vector<int> partition(static_cast<std::size_t>(row.devices), row.layers_per_device);
    const StageCosts costs = profiled_costs(profile, partition, {}, 1.0, assumptions);
    const HopFigures link{*profile.hop_latency, 0};
    CHECK(totals_of(build("1f1b", row.devices, row.microbatches), costs, link).span == row.cost_1f1b * 1'000);
    CHECK(totals_of(build("zb-h1", row.devices, row.microbatches), costs, link).span == row.cost_zb_h1 * 1'000);
  }
}
