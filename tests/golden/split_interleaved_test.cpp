// PyTorch's interleaved zero bubble, and GIS: makespan and peaks of the published points, groups that do not divide m
// included, and what both refuse.
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Costs of one chunk.
StageCosts split_interleaved_chunk_costs(const Schedule& schedule, double f, double i, double w, double held = 1) {
  return split_costs(schedule, f * schedule.chunks, i * schedule.chunks, w * schedule.chunks, held);
}

// In chunks, as the tables count.
std::vector<double> split_interleaved_peaks_of(const Schedule& schedule, const StageCosts& costs) {
  std::vector<double> peaks;
  for (const DeviceTotals& device : totals_of(schedule, costs).devices) {
    peaks.push_back(static_cast<double>(device.peak_activation * schedule.chunks) / static_cast<double>(kShare));
  }
  return peaks;
}

std::vector<double> split_interleaved_falling(int devices, double first) {  // first, first - 1, ...
  std::vector<double> peaks;
  for (int d = 0; d < devices; ++d) peaks.push_back(first - d);
  return peaks;
}

Diagnostic split_interleaved_refusal(const std::string& name, int p, int m, int v, const Params& params = {}) {
  return first_problem([&] { (void)build(name, p, m, v, params); });
}

}  // namespace

TEST_CASE("golden: PyTorch's interleaved zero bubble in unit passes") {
  struct Point {
    int devices, chunks, microbatches;
    double makespan;
  };
  for (const Point& point : {Point{4, 2, 8, 51}, {8, 2, 16, 103}, {4, 3, 8, 75}, {2, 2, 8, 49}}) {
    const Schedule schedule = build("interleaved-zb", point.devices, point.microbatches, point.chunks);
    CAPTURE(describe(schedule));
    CHECK_EQ(mismatch(schedule, split_interleaved_chunk_costs(schedule, 1, 1, 1), {}, units(point.makespan)), "");
    const Totals totals = totals_of(schedule, split_interleaved_chunk_costs(schedule, 1, 1, 1));
    CHECK(totals.span == units(point.makespan));
    for (const DeviceTotals& device : totals.devices) {
      CHECK(device.busy == units(3 * point.chunks * point.microbatches));
    }
    const double most = point.devices * point.chunks;
    CHECK(split_interleaved_peaks_of(schedule, split_interleaved_chunk_costs(schedule, 1, 1, 1)) ==
          std::vector<double>(static_cast<std::size_t>(point.devices), most));
    CHECK(split_interleaved_peaks_of(schedule, split_interleaved_chunk_costs(schedule, 1, 1, 1, 0)) ==
          split_interleaved_falling(point.devices, most));
  }
}

TEST_CASE("golden: the interleaved zero bubble's makespan is 3mv + p - 1 passes") {
  for (int p = 2; p <= 8; ++p) {
    for (const int v : {2, 3}) {
      const Schedule schedule = build("interleaved-zb", p, 2 * p, v);
      CHECK_EQ(mismatch(schedule, split_interleaved_chunk_costs(schedule, 1, 1, 1), {}, units(6.0 * p * v + p - 1)),
               "");
    }
  }
}

TEST_CASE("golden: the interleaved zero bubble with latency, p=4 m=8 v=2") {
  struct Row {
    double f, i, w, hop, makespan;  // times of a whole device share; a chunk takes half of them
  };
  for (const Row& row : {Row{10, 10, 10, 1, 271}, {10, 11, 7, 2, 279.5}, {20, 22, 14, 5, 585}}) {
    const Schedule schedule = build("interleaved-zb", 4, 8);
    const StageCosts costs = split_costs(schedule, row.f, row.i, row.w);
    CHECK_EQ(mismatch(schedule, costs, {units(row.hop), 0}, units(row.makespan)), "");
  }
}

TEST_CASE("golden: lengths and peaks of the authors' GIS generator") {
  struct Point {
    int devices, chunks, microbatches, group;
    double length, peak;
  };
  const std::vector<Point> points{{4, 2, 8, 2, 56, 6},    {4, 2, 8, 3, 55, 7},    {4, 2, 8, 4, 54, 8},
                                  {8, 2, 16, 4, 114, 12}, {8, 2, 16, 6, 112, 14}, {8, 2, 16, 8, 110, 16},
                                  {8, 4, 16, 4, 218, 20}, {8, 4, 16, 8, 206, 32}, {8, 2, 16, 5, 119, 13},
                                  {8, 2, 16, 7, 115, 15}, {4, 3, 12, 4, 114, 12}};
  for (const Point& point : points) {
    const Params params{{"group", std::to_string(point.group)}};
    const Schedule schedule = build("gis", point.devices, point.microbatches, point.chunks, params);
    CAPTURE(describe(schedule));
    CHECK_EQ(mismatch(schedule, split_interleaved_chunk_costs(schedule, 1, 1, 1), {}, units(point.length)), "");
    CHECK(split_interleaved_peaks_of(schedule, split_interleaved_chunk_costs(schedule, 1, 1, 1)) ==
          split_interleaved_falling(point.devices, point.peak));
  }
}

TEST_CASE("golden: GIS with a group of p idles (p-1)(f+i)") {
  const Schedule schedule = build("gis", 4, 12, 2);
  CHECK_EQ(mismatch(schedule, split_interleaved_chunk_costs(schedule, 5, 6, 4), {}, units(393)), "");
  const Schedule small = build("gis", 4, 8, 2);
  CHECK_EQ(mismatch(small, split_interleaved_chunk_costs(small, 1, 1, 1), {}, units(54), {4, 3.5, 3, 2.5}), "");
}

TEST_CASE("refused: one device, one stage per device, uneven rounds, groups below p/2 or above p") {
  for (const char* name : {"interleaved-zb", "gis"}) {
    CHECK(split_interleaved_refusal(name, 1, 8, 2).code == "S011");
    CHECK(split_interleaved_refusal(name, 4, 8, 1).code == "S005");
  }
  CHECK(split_interleaved_refusal("interleaved-zb", 4, 11, 2).code == "S009");  // 2 rounds
  CHECK(contains(split_interleaved_refusal("interleaved-zb", 4, 11, 2).help, "-m 10 or 12"));
  for (const int m : {1, 3, 4, 5, 7, 8, 10, 12})
    CHECK(split_interleaved_refusal("interleaved-zb", 4, m, 2).code.empty());
  for (const int p : {2, 3, 4, 5, 8}) {
    for (int group = -1; group <= p + 2; ++group) {
      CAPTURE(p);
      CAPTURE(group);
      const bool legal = 2 * group >= p && group <= p;
      CHECK(split_interleaved_refusal("gis", p, 9, 2, {{"group", std::to_string(group)}}).code ==
            (legal ? "" : "S006"));
    }
  }
  CHECK(contains(split_interleaved_refusal("gis", 5, 8, 2, {{"group", "2"}}).help, "group=3"));
  CHECK(contains(split_interleaved_refusal("gis", 5, 8, 2, {{"group", "6"}}).help, "group=5"));
}
