// Makespan, bubble and activation peaks of one iteration, tabulated by an independent longest-path simulator. One
// device share's forward takes f, its backward b; transfers take no time.
#include "sim/core/split.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/places.hpp"
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

// Of makespans.csv.
std::vector<MakespansRow> read_rows() {
  std::vector<MakespansRow> rows;
  std::istringstream lines(contents_of(source_directory() + "/tests/golden/makespans.csv"));
  std::string line;
  std::getline(lines, line);  // the header
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = split(line);
    Params params;
    for (const std::string& one : split(cells.at(4), ' ')) {
      if (!one.empty()) params[one.substr(0, one.find('='))] = one.substr(one.find('=') + 1);
    }
    std::vector<double> peaks;
    for (const std::string& one : split(cells.at(9), ' ')) peaks.push_back(std::stod(one));
    rows.push_back({cells[0], std::stoi(cells[1]), std::stoi(cells[2]), std::stoi(cells[3]), params,
                    std::stod(cells[5]), std::stod(cells[6]), std::stod(cells[7]), std::stod(cells[8]), peaks});
  }
  return rows;
}

const std::vector<MakespansRow> kMakespansRows = read_rows();

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
