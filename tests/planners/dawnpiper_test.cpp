// DawnPiper: its interval against all cuts, and all cuts against brute force.
#include "studies/planners/dawnpiper.hpp"
#include "studies/planners/catalog.hpp"
#include "tests/planners/jobs.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

constexpr double kNothing = std::numeric_limits<double>::infinity();

struct Node {
  int time, weights, activation;
};

PlannerJob nodes_job(const std::vector<Node>& nodes, int stages, int capacity) {
  PlannerJob job = equal_devices(stages, 1'000'000'000, Bytes{1'000'000} * capacity);
  std::vector<LayerRow> rows;
  for (const Node& node : nodes) rows.push_back({1.0 * node.time, 0, 0, 1e6 * node.weights, 1e6 * node.activation});
  set_layers(job, rows);
  return job;
}

const std::vector<Node> kN1{{3, 1, 4}, {3, 1, 4}, {6, 2, 3}, {3, 1, 2}, {6, 4, 2}, {3, 2, 1}, {6, 6, 1}, {3, 8, 1}};
const std::vector<Node> kN2(8, Node{3, 1, 1});

TEST_CASE("DawnPiper on two lists of nodes: the interval, and all cuts") {
  struct Row {
    const std::vector<Node>* nodes;
    int stages;
    bool asynchronous;
    int capacity;
    double interval, all;   // 0: nothing fits
    std::vector<int> cuts;  // of all cuts; empty: not compared
  };
  for (const Row& row :
       {Row{&kN1, 2, true, 30, 18, 18, {4}}, Row{&kN1, 2, true, 40, 18, 18, {4}}, Row{&kN1, 2, true, 24, 0, 0, {}},
        Row{&kN1, 2, false, 24, 0, 28, {5}}, Row{&kN1, 4, true, 24, 9, 9, {2, 4, 6}},
        Row{&kN1, 4, true, 20, 10, 10, {2, 4, 6}}, Row{&kN1, 4, true, 16, 12, 12, {2, 4, 6}},
        Row{&kN1, 4, true, 12, 0, 0, {}}, Row{&kN1, 4, false, 20, 9, 9, {2, 4, 6}},
        Row{&kN1, 4, false, 16, 10, 10, {2, 4, 6}}, Row{&kN1, 4, false, 12, 0, 0, {}},
        Row{&kN2, 2, true, 16, 12, 12, {4}}, Row{&kN2, 2, true, 12, 15, 15, {3}},
        Row{&kN2, 4, true, 16, 6, 6, {2, 4, 6}}, Row{&kN2, 4, true, 12, 8, 8, {2, 4, 6}}}) {
    CAPTURE(row.stages);
    CAPTURE(row.capacity);
    CAPTURE(row.asynchronous);
    const PlannerJob job = nodes_job(*row.nodes, row.stages, row.capacity);
    const DawnpiperPlan interval = dawnpiper_interval(job, row.stages, row.asynchronous);
    const DawnpiperPlan all = dawnpiper_exhaustive(job, row.stages, row.asynchronous);
    if (row.interval == 0) {
      CHECK(interval.slowest == kNothing);
    } else {
      CHECK(interval.slowest / 1e6 == doctest::Approx(row.interval));
    }
    if (row.all == 0) {
      CHECK(all.slowest == kNothing);
    } else {
      CHECK(all.slowest / 1e6 == doctest::Approx(row.all));
      if (row.interval > 0) CHECK((interval.cuts == row.cuts));
    }
  }
  const PlannerJob missed = nodes_job(kN1, 2, 24);
  CHECK(decided_partition(decide("dawnpiper:asynchronous=no", missed), missed) == std::vector<int>{5, 3});
  CHECK(problems_of([&] {
          static_cast<void>(decide(parse_planner("dawnpiper:asynchronous=no", true), missed));
        }).starts_with("error[Z002]"));
}

// Every cut and every set of recomputed layers.
double by_force(const PlannerJob& job, int stages, bool asynchronous) {
  const auto cost = [&](int stage, int begin, int end) {
    const int copies = stages - stage;
    double best = kNothing;
    for (unsigned set = 0; set < 1U << (end - begin); ++set) {
      double time = 0, memory = 0;
      for (int layer = begin; layer < end; ++layer) {
        const PlannerLayer& one = job.layers[static_cast<std::size_t>(layer)];
        const bool again = (set >> (layer - begin) & 1U) != 0;
        time += static_cast<double>(one.forward + one.backward) * (again ? 4.0 / 3 : 1);
        memory += static_cast<double>(one.parameters) * (asynchronous ? copies : 1) +
                  static_cast<double>(one.activation) * (again ? 1 : copies);
      }
      if (memory <= static_cast<double>(job.types.front().memory)) best = std::min(best, time);
    }
    return best;
  };
  return least_by_force(job.layer_count(), stages, cost);
}

TEST_CASE("DawnPiper's all cuts equal brute force, and its interval is never better and seldom worse") {
  Draws draws(23);
  int asynchronous_cases = 0, lost = 0, synchronous_lost = 0, nothing = 0;
  for (int run = 0; run < 600; ++run) {
    CAPTURE(run);
    std::vector<Node> nodes;
    for (int i = draws.whole(5, 8); i > 0; --i) {
      nodes.push_back({3 * draws.whole(1, 4), draws.whole(1, 8), draws.whole(1, 5)});
    }
    const int stages = run % 2 == 0 ? 2 : 4;
    const bool asynchronous = run % 4 < 2;
    const PlannerJob job = nodes_job(nodes, stages, draws.whole(8, 60));
    const double best = by_force(job, stages, asynchronous);
    const double all = dawnpiper_exhaustive(job, stages, asynchronous).slowest;
    const double interval = dawnpiper_interval(job, stages, asynchronous).slowest;
    if (best == kNothing) {
      ++nothing;
      CHECK(all == kNothing);
      CHECK(interval == kNothing);
      continue;
    }
    CHECK(all == doctest::Approx(best).epsilon(1e-9));
    CHECK(interval >= all * (1 - 1e-12));
    if (asynchronous) {
      ++asynchronous_cases;
      lost += interval > all * (1 + 1e-9);
    } else {
      synchronous_lost += interval > all * (1 + 1e-9);
    }
  }
  CHECK(asynchronous_cases > 50);
  CHECK(nothing > 20);
  // Where memory binds, the theorem's condition does not hold, and the best cut may lie outside.
  CHECK(lost > 0);
  CHECK(lost * 20 < asynchronous_cases);
  CHECK(synchronous_lost > 0);
}

TEST_CASE("where memory does not bind, DawnPiper's interval holds the optimum") {
  Draws draws(29);
  for (int run = 0; run < 300; ++run) {
    std::vector<Node> nodes;
    for (int i = draws.whole(5, 9); i > 0; --i) {
      nodes.push_back({3 * draws.whole(1, 4), draws.whole(1, 8), draws.whole(1, 5)});
    }
    const int stages = draws.whole(1, 5);
    const PlannerJob job = nodes_job(nodes, stages, 10000);
    CHECK(dawnpiper_interval(job, stages, run % 2 == 0).slowest ==
          doctest::Approx(dawnpiper_exhaustive(job, stages, run % 2 == 0).slowest).epsilon(1e-9));
  }
}

}  // namespace
}  // namespace debubble::testing
