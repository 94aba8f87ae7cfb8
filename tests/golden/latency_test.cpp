// Makespans with latency: 4 devices, 16 microbatches, f=1 b=2 per device share, transfers overlapped.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/catalog_requests.hpp"
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
    {"interleaved", 2, {{"group", "4"}}, {52.5, 53.2, 53.9, 56, 59.5}},
    {"interleaved", 2, {{"group", "8"}}, {52.5, 52.8, 53.1, 54, 55.5}},
    {"chimera", 0, {{"mode", "direct"}}, {58, 58.95, 59.9, 62.75, 67.5}},
    {"chimera", 0, {{"mode", "doubling"}}, {51, 51.7, 52.4, 54.5, 58}},
};

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
