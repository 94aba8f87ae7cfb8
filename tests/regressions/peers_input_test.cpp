// What tools of other people made of impossible input, each with the right behaviour: it is refused, with its place.
#include "cost_models/partition/partition.hpp"
#include "cost_models/uniform.hpp"
#include "formats/profile/profile_json.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

std::string profile_with_forward(const std::string& median) {
  return R"({"schema": "debubble.profile/1", "model": "m", "dtype": "fp32", "microbatch_size": 1,
             "sequence_length": 1, "origin": {"times": "measured", "memory": "measured", "device": "d",
             "driver": "1", "cuda": "12", "method": "by hand", "date": "2026-01-01", "repetitions": 1},
             "layers": [{"name": "l", "kind": "k", "forward": {"median_ns": )" +
         median + R"(}, "backward": {"median_ns": 2000}, "activation_bytes": 1, "output_bytes": 1,
             "parameter_bytes": 1}]})";
}

std::vector<int> typed_cut(const std::string& text, int stages) {
  Profile profile;
  profile.layers.resize(32);
  return cut_layers(parse_cut_rule(text), {&profile, stages}).layers;
}

}  // namespace

TEST_CASE("peers: a negative time in a profile is an error, not a negative makespan") {
  CHECK(problems_of([] { (void)read_profile(profile_with_forward("1000"), "p.json"); }).empty());
  const std::string problems = problems_of([] { (void)read_profile(profile_with_forward("-1000"), "p.json"); });
  CHECK(contains(problems, "/layers/0/forward/median_ns"));
  CHECK(contains(problems, "-1000"));
}

TEST_CASE("peers: NaN, infinities, fractions and text are not times") {
  for (const char* bad : {"NaN", "1e400", "0.5", "\"1000\"", "null", "-0.0", "99999999999999999999"}) {
    CAPTURE(bad);
    CHECK_FALSE(problems_of([&] { (void)read_profile(profile_with_forward(bad), "p.json"); }).empty());
  }
}

TEST_CASE("peers: layers that do not fit the stages are an error that counts both") {
  const std::string problems = problems_of([] { (void)typed_cut("6,6,6,6", 4); });
  CHECK(contains(problems, "32"));
  CHECK(contains(problems, "24"));
  CHECK_FALSE(problems_of([] { (void)typed_cut("8,8,8", 4); }).empty());
  CHECK_FALSE(problems_of([] { (void)typed_cut("8,8,8,0,8", 5); }).empty());
  CHECK_FALSE(problems_of([] { (void)typed_cut("8,8,8,-8,16", 5); }).empty());
  CHECK(typed_cut("8,8,8,8", 4) == std::vector<int>{8, 8, 8, 8});
}

TEST_CASE("peers: 32 layers on 5 devices are cut unevenly, not refused and not dropped") {
  Profile profile = read_profile(profile_with_forward("1000"), "p.json");
  profile.layers.assign(32, profile.layers.at(0));
  int placed = 0;
  for (const int layers : cut_layers({}, {&profile, 5}).layers) {
    CHECK(layers >= 6);
    CHECK(layers <= 7);
    placed += layers;
  }
  CHECK(placed == 32);
}

TEST_CASE("peers: sums that no longer fit are an error, not a wrapped-around time") {
  const Schedule schedule = build("1f1b", 4, 4'096);
  StageCost cost;
  cost.forward = cost.backward = kLongestDuration;
  StageCosts costs;
  costs.stages.assign(4, cost);
  CHECK_FALSE(problems_of([&] { (void)totals_of(schedule, costs); }).empty());
  StageCost large;
  large.forward = large.backward = 1;
  large.activation = large.weights = large.output = kLargestSize;
  costs.stages.assign(4, large);
  const Schedule wide = build("gpipe", 4, 4'096);
  CHECK_FALSE(problems_of([&] { (void)totals_of(wide, costs); }).empty());
}

TEST_CASE("peers: bubbles lie between 0 and 1 whatever the stages cost") {
  for (const Nanoseconds slow : {Nanoseconds{0}, Nanoseconds{1}, Nanoseconds{1'000'000'000}}) {
    const Schedule schedule = build("1f1b", 4, 8);
    StageCosts costs = toy_costs(schedule, 1, 2);
    for (StageCost& cost : costs.stages) cost.forward = cost.backward = slow;
    costs.stages[1].forward = 3 * slow;
    const Report report = run_engine(schedule, costs, {}).report;
    CHECK(report.bubble_ratio >= 0);
    CHECK(report.bubble_ratio < 1);
    CHECK(report.span_bubble_ratio >= 0);
    CHECK(report.span_bubble_ratio < 1);
  }
}
