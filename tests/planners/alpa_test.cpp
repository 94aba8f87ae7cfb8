// Alpa's dynamic program: costs that the original training_dp gave, and brute force.
#include "studies/planners/alpa.hpp"
#include "studies/planners/catalog.hpp"
#include "tests/planners/jobs.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The sum of the weights over n times the efficiency of n devices: 1, 2, 4, 8.
AlpaProblem weighted(const std::vector<double>& weights, const std::vector<double>& efficiency, int devices,
                     int microbatches) {
  AlpaProblem problem;
  problem.layers = static_cast<int>(weights.size());
  problem.devices = devices;
  problem.microbatches = microbatches;
  for (int size = 1; size <= devices; size *= 2) problem.submeshes.push_back(size);
  problem.time = [weights, efficiency](int begin, int end, int n) {
    const double sum = std::accumulate(weights.begin() + begin, weights.begin() + end, 0.0);
    return sum / (n * efficiency[static_cast<std::size_t>(std::lround(std::log2(n)))]);
  };
  return problem;
}

TEST_CASE("Alpa's program gives the costs that the original gave") {
  const std::vector<double> six{4, 3, 2, 6, 1, 5};
  const auto six_on_four = [&](int microbatches) { return alpa_plan(weighted(six, {1, .9, .8}, 4, microbatches)); };
  CHECK(six_on_four(1).cost == doctest::Approx(6.5625));
  CHECK(six_on_four(4).cost == doctest::Approx(26.25));
  CHECK(six_on_four(8).cost == doctest::Approx(52.5));
  CHECK(six_on_four(64).cost == doctest::Approx(395.0));
  CHECK(ranges_of(six_on_four(64).stages) == text_of({{0, 3, 2}, {3, 4, 1}, {4, 6, 1}}));

  const auto u8 = [](int microbatches) {
    return alpa_plan(weighted({5, 1, 1, 1, 1, 1, 1, 5}, {1, .9, .8, .7}, 8, microbatches));
  };
  const Ranges halves{{0, 4, 4}, {4, 8, 4}};
  CHECK(u8(1).cost == doctest::Approx(2.857143).epsilon(1e-5));
  CHECK(ranges_of(u8(1).stages) == text_of({{0, 8, 8}}));
  CHECK(u8(8).cost == doctest::Approx(22.5).epsilon(1e-5));
  CHECK(u8(32).cost == doctest::Approx(82.5).epsilon(1e-5));
  CHECK(u8(128).cost == doctest::Approx(322.5).epsilon(1e-5));
  for (const int microbatches : {8, 32, 128}) CHECK(ranges_of(u8(microbatches).stages) == text_of(halves));

  const auto v10 = [](int microbatches) {
    return alpa_plan(weighted({3, 3, 3, 3, 6, 6, 2, 2, 2, 2}, {1, .95, .85, .6}, 8, microbatches));
  };
  CHECK(v10(4).cost == doctest::Approx(25.294117).epsilon(1e-5));
  CHECK(ranges_of(v10(4).stages) == text_of({{0, 5, 4}, {5, 10, 4}}));
  CHECK(v10(16).cost == doctest::Approx(84.411766).epsilon(1e-5));
  CHECK(v10(64).cost == doctest::Approx(311.780190).epsilon(1e-5));
  for (const int microbatches : {16, 64}) {
    CHECK(ranges_of(v10(microbatches).stages) == text_of({{0, 3, 2}, {3, 6, 4}, {6, 10, 2}}));
  }
}

TEST_CASE("Alpa's program under a memory limit") {
  const auto limited = [](double capacity) {
    AlpaProblem problem = weighted({5, 1, 1, 1, 1, 1, 1, 5}, {1, .9, .8, .7}, 8, 32);
    problem.most_followers = [capacity](int begin, int end, int n) {
      const double weights = 2.0 * (end - begin) / n;
      const double activation = 1.0 * (end - begin) / n;
      return static_cast<int>(std::max(-1.0, std::floor((capacity - weights) / activation - 1)));
    };
    return alpa_plan(problem);
  };
  for (const double capacity : {4.0, 5.0, 100.0}) CHECK(limited(capacity).cost == doctest::Approx(82.5).epsilon(1e-5));
  for (const double capacity : {3.0, 3.5}) {
    CHECK(limited(capacity).cost == doctest::Approx(91.428574).epsilon(1e-5));
    CHECK(ranges_of(limited(capacity).stages) == text_of({{0, 8, 8}}));
  }
  CHECK(limited(2.5).cost == kNever);
}

double least_cost(const AlpaProblem& problem) {
  double best = kNever;
  const std::function<void(int, int, double, double)> walk = [&](int begin, int left, double sum, double largest) {
    if (begin == problem.layers) {
      if (left == 0) best = std::min(best, sum + (problem.microbatches - 1) * largest);
      return;
    }
    for (int end = begin + 1; end <= problem.layers; ++end) {
      for (const int n : problem.submeshes) {
        if (n > left) continue;
        const double time = problem.time(begin, end, n);
        walk(end, left - n, sum + time, std::max(largest, time));
      }
    }
  };
  walk(0, problem.devices, 0, 0);
  return best;
}

TEST_CASE("Alpa's program equals brute force on random weights") {
  Draws draws(11);
  for (int run = 0; run < 300; ++run) {
    CAPTURE(run);
    std::vector<double> weights;
    for (int i = draws.whole(1, 7); i > 0; --i) weights.push_back(draws.whole(1, 9));
    const AlpaProblem problem = weighted(weights, {1, draws.whole(60, 100) / 100.0, draws.whole(40, 100) / 100.0},
                                         draws.whole(1, 4), draws.whole(1, 20));
    const double least = least_cost(problem);
    if (least == kNever) {  // more devices than submeshes of the layers can take
      CHECK(alpa_plan(problem).cost == kNever);
    } else {
      CHECK(alpa_plan(problem).cost == doctest::Approx(least).epsilon(1e-9));
    }
  }
}

TEST_CASE("Alpa's stages are placed within machines where they fit") {
  PlannerJob job = equal_devices(8, 1);
  job.levels = {{4, 300'000'000'000}, {2, 12'000'000'000}};
  set_layers(job, std::vector<LayerRow>(8, LayerRow{1, 2, 1e6, 4e8, 1e6}));
  job.microbatches = 32;
  const PlannerDecision decision = decide("alpa", job);
  std::vector<bool> used(8, false);
  for (const PlannerStage& stage : decision.stages) {
    REQUIRE(stage.replicas == static_cast<int>(stage.devices.size()));
    for (const int device : stage.devices) {
      CHECK(!used[static_cast<std::size_t>(device)]);
      used[static_cast<std::size_t>(device)] = true;
      if (stage.replicas <= 4) CHECK(machine_of(job, device) == machine_of(job, stage.devices.front()));
    }
  }
}

}  // namespace
}  // namespace debubble::testing
