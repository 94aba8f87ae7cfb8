// V-shaped and bidirectional zero-bubble schedules through the command: numbers as published, tables that replay to the
// same nanosecond, and refusals that name the nearest legal values.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
json v_shaped_simulated(const Folder& folder, const Words& words) { return folder.json(joined("simulate", words)); }

std::vector<double> by_device(const json& run, const char* key, double unit) {
  std::vector<double> values;
  for (const json& device : run["devices"]) values.push_back(device[key].get<double>() / unit);
  return values;
}

constexpr double kMillisecond = 1e6;

TEST_CASE_IN_FOLDER("each row's makespan and highest peak, in passes of one millisecond") {
  struct Row {
    Words words;
    int makespan;
    double peak;  // in device shares
  };
  // A device share is v chunks, so a chunk's pass takes one millisecond.
  const Words two{"--times", "f=2,i=2,w=2"};
  const Words one{"--times", "f=1,i=1,w=1"};
  const std::vector<Row> rows{
      {joined("--schedule v-half -p 4 -m 8", two), 53, 3},
      {joined("--schedule v-min -p 4 -m 8", two), 59, 2},
      {joined("--schedule v-half -p 8 -m 24", two), 161, 5},
      {joined("--schedule v-min -p 8 -m 24", two), 171, 4},
      {joined("--schedule interleaved-zb -p 2 -m 8", two), 49, 2},
      {joined("--schedule interleaved-zb -p 8 -m 16", two), 103, 8},
      {joined("--schedule gis -p 8 -m 16", two), 110, 8},
      {joined("--schedule gis -p 8 -m 16 --param group=5", two), 119, 6.5},
      {joined("--schedule dualpipe -p 8 -m 20", one), 66, 9},
      {joined("--schedule dualpipe-v -p 4 -m 10", two), 66, 4.5},
  };
  for (const Row& row : rows) {
    CAPTURE(row.words[1]);
    const json run = v_shaped_simulated(folder, row.words);
    CHECK(run["makespan_ns"] == row.makespan * 1'000'000);
    double highest = 0;
    for (const double peak : by_device(run, "peak_activation_shares", 1)) highest = std::max(highest, peak);
    CHECK(highest == doctest::Approx(row.peak));
  }
}

TEST_CASE_IN_FOLDER("an overlapped pair lasts what fb says, a device share like the other times") {
  const json two_ways = v_shaped_simulated(folder, "--schedule dualpipe -p 8 -m 16 --times f=1,i=1,w=1,fb=2");
  CHECK(two_ways["makespan_ns"] == 44'000'000);
  CHECK(by_device(two_ways, "idle_ns", kMillisecond) == std::vector<double>{1, 2, 3, 3, 3, 3, 2, 1});
  CHECK(two_ways["schedule"]["replicas"] == 2);
  const json folded = v_shaped_simulated(folder, "--schedule dualpipe-v -p 4 -m 10 --times f=2,i=2,w=2,fb=4");
  CHECK(folded["makespan_ns"] == 52'000'000);
  CHECK(by_device(folded, "busy_ns", kMillisecond) == std::vector<double>{51, 50, 49, 49});
  CHECK(folded["schedule"]["replicas"] == 1);
}

TEST_CASE_IN_FOLDER("tables of these schedules replay to the same nanosecond") {
  const std::vector<Words> schedules{
      {"--schedule", "v-half"},
      {"--schedule", "v-half", "-p", "5", "-m", "11"},
      {"--schedule", "v-min"},
      {"--schedule", "v-min", "-p", "6"},
      {"--schedule", "interleaved-zb"},
      {"--schedule", "interleaved-zb", "-v", "3", "-m", "10"},
      {"--schedule", "gis"},
      {"--schedule", "gis", "-p", "5", "-m", "7", "-v", "3", "--param", "group=3"},
      {"--schedule", "dualpipe"},
      {"--schedule", "dualpipe", "-p", "6", "-m", "14"},
      {"--schedule", "dualpipe-v"},
      {"--schedule", "dualpipe-v", "-p", "3", "-m", "7"},
  };
  const Words costs = "--times f=1,i=1.25,w=0.75,fb=2.5 --comm 0.125";
  for (const Words& schedule : schedules) {
    CAPTURE(schedule[1]);
    json direct = v_shaped_simulated(folder, joined(joined("--export-schedule s.csv", schedule), costs));
    json replayed = v_shaped_simulated(folder, joined("--schedule s.csv", costs));
    for (const char* key : {"makespan_ns", "span_ns", "steady_period_ns", "ideal_ns", "devices", "critical_path"}) {
      CHECK(direct[key] == replayed[key]);
    }
  }
}

}  // namespace
}  // namespace debubble::testing
