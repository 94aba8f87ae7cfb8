// SPP: order of devices, partition against brute force, list execution, and the guarantee.
#include "studies/planners/spp.hpp"
#include "studies/planners/catalog.hpp"
#include "tests/planners/jobs.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

PlannerJob linked(int devices, const std::vector<std::vector<int>>& edges, std::int64_t other) {
  PlannerJob job = equal_devices(devices, 1);
  job.levels.clear();
  job.links.assign(static_cast<std::size_t>(devices * devices), other);
  for (const std::vector<int>& edge : edges) {
    job.links[static_cast<std::size_t>(edge[0] * devices + edge[1])] = edge[2] * other;
    job.links[static_cast<std::size_t>(edge[1] * devices + edge[0])] = edge[2] * other;
  }
  return job;
}

bool contiguous(const std::vector<int>& order, const std::vector<int>& group) {
  std::vector<std::ptrdiff_t> places;
  for (const int device : group) places.push_back(std::find(order.begin(), order.end(), device) - order.begin());
  const auto [least, most] = std::minmax_element(places.begin(), places.end());
  return *most - *least + 1 == static_cast<std::ptrdiff_t>(group.size());
}

TEST_CASE("SPP's order keeps every side of its minimum cuts together") {
  const PlannerJob job =
      linked(6, {{0, 2, 50}, {0, 4, 25}, {2, 4, 26}, {1, 3, 48}, {1, 5, 22}, {3, 5, 23}}, 1'000'000'000);
  const std::vector<int> order = spp_order(job);
  for (const std::vector<int>& group : {std::vector<int>{0, 2, 4}, {1, 3, 5}, {0, 2}, {1, 3}}) {
    CHECK(contiguous(order, group));
  }
}

PlannerJob chain_of_six(int microbatches) {
  PlannerJob job = linked(4, {{0, 1, 4}, {2, 3, 4}}, 1'000'000'000);
  set_layers(job, {{2, 4, 8e6, 0}, {3, 6, 4e6, 0}, {4, 8, 2e6, 0}, {1, 2, 6e6, 0}, {5, 10, 1e6, 0}, {3, 6, 1e6, 0}});
  job.microbatches = microbatches;
  return job;
}

std::vector<PlannerStage> on_order(const std::vector<int>& order, const Ranges& ranges) {
  std::vector<PlannerStage> stages;
  std::size_t next = 0;
  for (const std::vector<int>& range : ranges) {
    PlannerStage stage{range[0], range[1], range[2], {}};
    for (int i = 0; i < range[2]; ++i) stage.devices.push_back(order[next++]);
    stages.push_back(stage);
  }
  return stages;
}

TEST_CASE("SPP's partition and execution on a chain of six") {
  struct Row {
    std::vector<int> order;
    Ranges plan;
    double bottleneck, four, sixteen;
  };
  const std::vector<int> near{0, 1, 2, 3}, far{0, 2, 1, 3};
  const Ranges three{{0, 4, 2}, {4, 5, 1}, {5, 6, 1}};
  const Ranges four{{0, 2, 1}, {2, 4, 1}, {4, 5, 1}, {5, 6, 1}};
  for (const Row& row : {Row{near, {{0, 6, 4}}, 13.5, 54, 216}, Row{near, {{0, 3, 2}, {3, 6, 2}}, 13.5, 68.5, 230.5},
                         Row{near, three, 15, 90.5, 270.5}, Row{far, three, 15, 81, 261},
                         Row{near, four, 15, 115.5, 295.5}, Row{far, four, 15, 123, 303}}) {
    const auto stages = static_cast<int>(row.plan.size());
    CAPTURE(stages);
    const PlannerJob job = chain_of_six(4);
    CHECK(spp_partition(job, row.order, stages).bottleneck / 1e6 == doctest::Approx(row.bottleneck));
    CHECK(spp_execution(job, on_order(row.order, row.plan)).makespan / 1e6 == doctest::Approx(row.four));
    CHECK(spp_execution(chain_of_six(16), on_order(row.order, row.plan)).makespan / 1e6 ==
          doctest::Approx(row.sixteen));
  }
}

TEST_CASE("SPP's execution alone") {
  CHECK(spp_execution({1, 1, 1}, {2, 2, 2}, {.5, .5}, 4).makespan == doctest::Approx(20));
  CHECK(spp_execution({1, 1}, {2, 2}, {0}, 4).makespan == doctest::Approx(15));
  const SppRun run = spp_execution({1, 2, 1}, {2, 4, 2}, {1, .5}, 4);
  CHECK(run.makespan == doctest::Approx(33));
  CHECK((run.rows[2] == std::vector<int>{0, ~0, 1, ~1, 2, ~2, 3, ~3}));
  CHECK((run.rows[1] == std::vector<int>{0, 1, 2, ~0, ~1, ~2, 3, ~3}));
}

double least_bottleneck(const PlannerJob& job, const std::vector<int>& order, int stages) {
  const PlannerSums sums(job);
  double best = std::numeric_limits<double>::infinity();
  const std::function<void(int, int, int, int, double)> walk = [&](int begin, int first, int before, int left,
                                                                   double most) {
    for (int end = begin + 1; end <= job.layer_count(); ++end) {
      for (int replicas = 1; first + replicas <= job.device_count(); ++replicas) {
        double value = std::max(most, static_cast<double>(sums.time(begin, end)) / replicas);
        if (before > 0) {
          std::int64_t slowest = std::numeric_limits<std::int64_t>::max();
          for (int i = first - before; i < first; ++i) {
            for (int j = first; j < first + replicas; ++j) {
              slowest = std::min(
                  slowest, pair_bandwidth(job, order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]));
            }
          }
          value = std::max(value, 2.0 * static_cast<double>(job.layers[static_cast<std::size_t>(begin - 1)].output) /
                                      static_cast<double>(slowest) / before / replicas * 1e9);
        }
        const bool whole = end == job.layer_count() && first + replicas == job.device_count();
        if (left == 1) {
          if (whole) best = std::min(best, value);
        } else if (end < job.layer_count()) {
          walk(end, first + replicas, replicas, left - 1, value);
        }
      }
    }
  };
  walk(0, 0, 0, stages, 0);
  return best;
}

TEST_CASE("SPP's partition equals brute force, and its execution keeps the guarantee") {
  Draws draws(17);
  for (int run = 0; run < 300; ++run) {
    CAPTURE(run);
    PlannerJob job = random_chain(draws, draws.whole(1, 6), draws.whole(1, 5));
    std::vector<std::vector<int>> edges;
    for (int i = 0; i < job.device_count(); ++i) {
      for (int j = 0; j < i; ++j) edges.push_back({i, j, draws.whole(1, 8)});
    }
    job.links = linked(job.device_count(), edges, 500'000'000).links;
    const std::vector<int> order = spp_order(job);
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < job.device_count(); ++i) CHECK(sorted[static_cast<std::size_t>(i)] == i);
    for (int stages = 1; stages <= std::min(job.layer_count(), job.device_count()); ++stages) {
      const SppPlan plan = spp_partition(job, order, stages);
      CHECK(plan.bottleneck == doctest::Approx(least_bottleneck(job, order, stages)));
      const double makespan = spp_execution(job, plan.stages).makespan;
      CHECK(makespan <= (job.microbatches + 4 * stages - 4) * plan.bottleneck * (1 + 1e-12));
    }
  }
}

TEST_CASE("the guarantee holds on random stages and channels") {
  Draws draws(19);
  for (int run = 0; run < 3000; ++run) {
    const int stages = draws.whole(1, 6);
    std::vector<double> forward, backward, channel;
    double most = 0;
    for (int s = 0; s < stages; ++s) {
      forward.push_back(draws.whole(1, 20));
      backward.push_back(draws.whole(1, 40));
      most = std::max(most, forward.back() + backward.back());
      if (s + 1 == stages) break;
      channel.push_back(draws.whole(0, 20));
      most = std::max(most, 2 * channel.back());
    }
    const int microbatches = draws.whole(1, 12);
    CHECK(spp_execution(forward, backward, channel, microbatches).makespan <= (microbatches + 4 * stages - 4) * most);
  }
}

}  // namespace
}  // namespace debubble::testing
