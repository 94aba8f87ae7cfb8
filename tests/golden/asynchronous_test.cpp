// Pipelines without a flush against the published tables: versions, staleness, warm-up, delays and times.
#include "sim/rows/weight_versions.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr int kLong = 96;  // microbatches: a stream long past its warm-up

template <typename Get>
auto by_stage(const Schedule& schedule, Get get) {
  std::vector<decltype(get(StageVersions{}))> list;
  for (const StageVersions& stage : weight_versions(schedule)) list.push_back(get(stage));
  return list;
}

std::vector<int> live_versions(const Schedule& s) {
  return by_stage(s, [](const StageVersions& v) { return v.live_versions; });
}
std::vector<int> in_flight(const Schedule& s) {
  return by_stage(s, [](const StageVersions& v) { return v.in_flight; });
}
std::vector<int> extra_copies(const Schedule& s) {
  return by_stage(s, [](const StageVersions& v) { return v.extra_copies; });
}
std::vector<double> forward_means(const Schedule& s) {
  return by_stage(s, [](const StageVersions& v) { return v.forward_late.mean; });
}
std::vector<double> backward_means(const Schedule& s) {
  return by_stage(s, [](const StageVersions& v) { return v.backward_late.mean; });
}
std::vector<int> inconsistency(const Schedule& s) {
  return by_stage(s, [](const StageVersions& v) { return v.inconsistent.most; });
}
std::pair<int, int> first_stage_range(const Schedule& s) {
  const UpdateCount late = weight_versions(s).front().forward_late;
  return {late.least, late.most};
}

// first, first - step, ...: the falling columns of the tables.
template <typename Number>
std::vector<Number> falling(int stages, Number first, Number step = 1) {
  std::vector<Number> list;
  for (int s = 0; s < stages; ++s) list.push_back(first - static_cast<Number>(s) * step);
  return list;
}
std::vector<int> all(int stages, int value) {
  std::vector<int> list(static_cast<std::size_t>(stages), value);
  return list;
}

// Forwards before the first backward, on every device.
std::vector<int> forwards_ahead(const Schedule& schedule) {
  std::vector<int> ahead;
  for (const auto& row : schedule.rows) {
    int count = 0;
    while (row[static_cast<std::size_t>(count)].kind == OpKind::kForward) ++count;
    ahead.push_back(count - 1);
  }
  return ahead;
}

std::string code_of(const std::string& name, int devices, int microbatches, const Params& params) {
  return first_problem([&] { (void)build(name, devices, microbatches, 0, params); }).code;
}

}  // namespace

TEST_CASE("weight versions, microbatches in flight and extra buffers of the whole family") {
  for (const int stages : {2, 3, 4, 6}) {
    CAPTURE(stages);
    const auto pipedream = build("pipedream", stages, kLong);
    CHECK(live_versions(pipedream) == falling(stages, stages));
    CHECK(in_flight(pipedream) == falling(stages, stages));
    CHECK(extra_copies(pipedream) == all(stages, 0));

    auto two = all(stages, 2);
    const auto double_buffer = build("pipedream-2bw", stages, kLong);
    CHECK(live_versions(double_buffer) == two);  // all stages read the version before the last
    CHECK(in_flight(double_buffer) == falling(stages, stages));
    two.back() = 1;  // the last stage always reads the newest when its forward runs
    CHECK(live_versions(build("pipedream-2bw", stages, kLong, 0, {{"version_at", "forward-time"}})) == two);

    const auto pipemare = build("pipemare", stages, kLong);
    CHECK(live_versions(pipemare) == all(stages, 1));
    CHECK(in_flight(pipemare) == falling(stages, stages));
    CHECK(extra_copies(pipemare) == all(stages, 1));
    CHECK(extra_copies(build("pipemare", stages, kLong, 0, {{"correction", "off"}})) == all(stages, 0));

    const auto v1 = build("spectrain", stages, kLong);
    CHECK(live_versions(v1) == all(stages, 1));
    CHECK(extra_copies(v1) == all(stages, 1));
    CHECK(in_flight(v1) == falling(stages, stages));
    CHECK(live_versions(build("spectrain", stages, kLong, 0, {{"variant", "v2"}})) == falling(stages, stages));

    const auto xpipe = build("xpipe", stages, kLong);
    CHECK(live_versions(xpipe) == all(stages, 1));
    CHECK(extra_copies(xpipe) == all(stages, 1));
    CHECK(in_flight(xpipe) == falling(stages, stages));

    const auto pb = build("pipelined-backprop", stages, kLong);
    CHECK(live_versions(pb) == all(stages, 1));
    CHECK(in_flight(pb) == falling(stages, 2 * stages - 1, 2));
    const auto stashed = build("pipelined-backprop", stages, kLong, 0, {{"stash", "on"}});
    CHECK(live_versions(stashed) == falling(stages, 2 * stages - 1, 2));
  }
}

TEST_CASE("a schedule with a flush has one version and no table") {
  CHECK(weight_versions(build("1f1b", 4, 8)).empty());
  CHECK(extra_weight_copies(build("gpipe", 4, 8)).empty());
}

TEST_CASE("pipedream: stage s of S is S-1-s updates late, and its backward reads what its forward read") {
  const auto schedule = build("pipedream", 4, 60);
  CHECK(forward_means(schedule) == std::vector<double>{3, 2, 1, 0});
  CHECK(backward_means(schedule) == std::vector<double>{3, 2, 1, 0});
  CHECK(inconsistency(schedule) == all(4, 0));
}

TEST_CASE("pipedream: forwards ahead, for any replication: floor((devices behind, itself among them) / r)") {
  for (const int stages : {1, 2, 3, 4, 6}) {
    CHECK(forwards_ahead(build("pipedream", stages, kLong)) == falling(stages, stages - 1));
  }
  const auto ahead = [](int devices, const std::string& replicas) {
    return forwards_ahead(build("pipedream", devices, kLong, 0, {{"replicas", replicas}}));
  };
  CHECK(ahead(4, "2,1,1") == std::vector<int>{1, 1, 1, 0});
  CHECK(ahead(4, "3,1") == std::vector<int>{1, 1, 1, 0});
  CHECK(ahead(8, "4,3,1") == std::vector<int>{1, 1, 1, 1, 1, 1, 1, 0});
  CHECK(ahead(16, "15,1") == std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0});
  CHECK(ahead(8, "1,2,5") == std::vector<int>{7, 3, 3, 0, 0, 0, 0, 0});
  CHECK(ahead(3, "3") == std::vector<int>{0, 0, 0});
  const auto replicated = build("pipedream", 4, kLong, 0, {{"replicas", "2,1,1"}});
  CHECK(live_versions(replicated) == std::vector<int>{2, 2, 1});
  CHECK(order_of(replicated, 0).substr(0, 17) == "F0 F2 B0 F4 B2 F6");
  CHECK(order_of(replicated, 1).substr(0, 17) == "F1 F3 B1 F5 B3 F7");
}

TEST_CASE("pipedream-2bw on 8 stages: versions and staleness where a forward reads the newest") {
  struct Row {
    int every;
    std::vector<int> versions;
    int least, most;  // of the first stage, inside one batch
  };
  for (const Row& row : std::vector<Row>{{1, {8, 7, 6, 5, 4, 3, 2, 1}, 7, 7},
                                         {4, {3, 3, 3, 2, 2, 2, 2, 1}, 1, 2},
                                         {7, {2, 2, 2, 2, 2, 2, 2, 1}, 1, 1},
                                         {8, {2, 2, 2, 2, 2, 2, 2, 1}, 0, 1},
                                         {16, {2, 2, 2, 2, 2, 2, 2, 1}, 0, 1}}) {
    CAPTURE(row.every);
    const Params params{{"update_every", std::to_string(row.every)}, {"version_at", "forward-time"}};
    const auto schedule = build("pipedream-2bw", 8, 160, 0, params);
    CHECK(live_versions(schedule) == row.versions);
    CHECK(first_stage_range(schedule) == std::pair(row.least, row.most));
  }
}

TEST_CASE("pipedream-2bw: with the version of the batch every stage is one update late, never more, never less") {
  for (const int every : {7, 8, 16}) {
    CAPTURE(every);
    const auto schedule = build("pipedream-2bw", 8, 160, 0, {{"update_every", std::to_string(every)}});
    for (const StageVersions& stage : weight_versions(schedule)) {
      CHECK(stage.forward_late == UpdateCount{1, 1, 1});
      CHECK(stage.backward_late == UpdateCount{1, 1, 1});
      CHECK(stage.inconsistent == UpdateCount{0, 0, 0});
      CHECK(stage.live_versions == 2);
    }
  }
}

TEST_CASE("pipemare: (2(P - i) + 1)/N updates late in the fine-grained pipeline, backward not at all") {
  const auto late = [](int stages, int every) {
    return build("pipemare", stages, kLong, 0, {{"engines", "2"}, {"update_every", std::to_string(every)}});
  };
  CHECK(forward_means(late(4, 4)) == std::vector<double>{1.75, 1.25, 0.75, 0.25});
  CHECK(forward_means(late(4, 8)) == std::vector<double>{0.875, 0.625, 0.375, 0.125});
  CHECK(forward_means(late(8, 4)) == std::vector<double>{3.75, 3.25, 2.75, 2.25, 1.75, 1.25, 0.75, 0.25});
  CHECK(backward_means(late(8, 4)) == std::vector<double>(8, 0.0));
  // One engine: half the way between F and B, and no turn-around.
  CHECK(forward_means(build("pipemare", 4, kLong)) == std::vector<double>{0.75, 0.5, 0.25, 0});
}

TEST_CASE("spectrain on 4 stages: how many updates ahead a pass predicts") {
  const auto ahead = [](const Schedule& schedule) {
    return by_stage(schedule, [](const StageVersions& v) { return std::pair(v.forward_ahead, v.backward_ahead); });
  };
  const auto v1 = build("spectrain", 4, kLong);
  CHECK(ahead(v1) == std::vector<std::pair<int, int>>{{3, 0}, {2, 0}, {2, 1}, {1, 1}});
  CHECK(inconsistency(v1) == all(4, 0));  // F and B predict the same version
  CHECK(forward_means(v1) == std::vector<double>{3, 2, 1, 0});
  const auto v2 = build("spectrain", 4, kLong, 0, {{"variant", "v2"}});
  CHECK(ahead(v2) == std::vector<std::pair<int, int>>{{4, 4}, {3, 3}, {2, 2}, {1, 1}});
  CHECK(inconsistency(v2) == all(4, 0));
}

TEST_CASE("xpipe: with p - 1 microbatches or more per minibatch at most one update has to be predicted") {
  for (const int every : {5, 6, 12}) {
    const auto schedule = build("xpipe", 6, kLong, 0, {{"update_every", std::to_string(every)}});
    CHECK(by_stage(schedule, [](const StageVersions& v) { return v.forward_ahead; }) ==
          std::vector<int>{1, 1, 1, 1, 1, 0});
    CHECK(inconsistency(schedule) == all(6, 0));
  }
  CHECK(weight_versions(build("xpipe", 6, kLong, 0, {{"update_every", "4"}})).front().forward_ahead == 2);
}

TEST_CASE("pipelined backpropagation: 2(S-1-s) updates late, half of it with one engine") {
  for (const int stages : {2, 3, 4, 6}) {
    CAPTURE(stages);
    const auto two = build("pipelined-backprop", stages, kLong);
    CHECK(forward_means(two) == falling(stages, 2.0 * (stages - 1), 2.0));
    CHECK(inconsistency(two) == falling(stages, 2 * (stages - 1), 2));  // no stash: B reads the newest
    CHECK(backward_means(two) == std::vector<double>(static_cast<std::size_t>(stages), 0.0));
    const auto one = build("pipelined-backprop", stages, kLong, 0, {{"engines", "1"}});
    CHECK(forward_means(one) == falling(stages, stages - 1.0));
    CHECK(inconsistency(build("pipelined-backprop", stages, kLong, 0, {{"stash", "on"}})) == all(stages, 0));
    const auto next = build("pipelined-backprop", stages, kLong, 0, {{"turnaround", "1"}});
    CHECK(forward_means(next) == falling(stages, 2.0 * stages - 1, 2.0));
  }
}

TEST_CASE("a finite run of N equal minibatches takes (N + S - 1)(F + B)") {
  const std::vector<std::pair<int, double>> efficiencies{{2, 0.9836}, {3, 0.9677}, {4, 0.9524}, {6, 0.9231}};
  for (const auto& [stages, efficiency] : efficiencies) {
    const int devices = stages;
    CAPTURE(devices);
    const auto schedule = build("pipedream", stages, 60);
    const Nanoseconds makespan = totals_of(schedule, toy_costs(schedule, 1, 1)).makespan;
    CHECK(makespan == units(2.0 * (60 + stages - 1)));
    CHECK(std::abs(static_cast<double>(units(120)) / static_cast<double>(makespan) - efficiency) < 0.00005);
  }
}

TEST_CASE("pipelined backpropagation takes N + 2S - 2 steps where the last stage fits into a step") {
  for (const int stages : {2, 4, 16}) {
    CAPTURE(stages);
    const auto schedule = build("pipelined-backprop", stages, 64);
    StageCosts costs = toy_costs(schedule, 1, 1);
    costs.stages.back().forward = costs.stages.back().backward = units(0.5);
    CHECK(totals_of(schedule, costs).makespan == units(64 + 2.0 * stages - 2));
    const auto next = build("pipelined-backprop", stages, 64, 0, {{"turnaround", "1"}});
    CHECK(totals_of(next, toy_costs(next, 1, 1)).makespan == units(64 + 2.0 * stages - 1));
  }
  CHECK(std::abs(64.0 / (64 + 2 * 16 - 2) - 0.6809) < 0.00005);
}

TEST_CASE("the largest stable step falls with the delay as published") {
  const std::vector<std::pair<double, double>> table{{0, 2.000},  {1, 1.000},   {2, 0.618},
                                                     {5, 0.2846}, {10, 0.1495}, {20, 0.0766}};
  for (const auto& [late, step] : table) {
    const double delay = late;
    CAPTURE(delay);
    CHECK(std::abs(largest_stable_step(late) - step) < 0.00005);
  }
  CHECK(largest_stable_step(2) == doctest::Approx((std::sqrt(5.0) - 1) / 2));
}

TEST_CASE("requests that a stream cannot honour are refused, and their neighbours are not") {
  CHECK(code_of("pipemare", 4, 8, {{"update_every", "0"}}) == "S006");
  CHECK(code_of("pipemare", 4, 8, {{"update_every", "1"}}) == "");
  for (const char* text : {"", "2,", ",2", "2,0,2", "2;2", "-1,5", "1,1,1,x", "99999999999,1"}) {
    CAPTURE(text);
    CHECK(code_of("pipedream", 4, 8, {{"replicas", text}}) == "S061");
  }
  CHECK(code_of("pipedream", 4, 8, {{"replicas", "2,1"}}) == "S062");
  CHECK(code_of("pipedream", 4, 8, {{"replicas", "2,2,1"}}) == "S062");
  CHECK(code_of("pipedream", 4, 8, {{"replicas", "2,2"}}) == "");
  CHECK(code_of("pipedream", 65 + 64, 5000, {{"replicas", "65,64"}}) == "S063");
  CHECK(code_of("pipedream", 65 + 64, 4096, {{"replicas", "65,64"}}) == "");
  CHECK(code_of("pipedream-2bw", 8, 32, {{"update_every", "6"}}) == "S044");
  CHECK(code_of("pipedream-2bw", 8, 32, {{"update_every", "7"}}) == "");
  CHECK(code_of("pipedream-2bw", 8, 32, {{"update_every", "6"}, {"version_at", "forward-time"}}) == "");
  CHECK(code_of("pipelined-backprop", 4, 8, {{"engines", "1"}, {"turnaround", "1"}}) == "S075");
  CHECK(code_of("pipelined-backprop", 4, 8, {{"engines", "2"}, {"turnaround", "1"}}) == "");
}
