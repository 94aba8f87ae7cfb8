// PipeDream's partitioner: what the authors' optimizer decided on recorded graphs and on two small chains; brute force.
#include "studies/planners/pipedream.hpp"
#include "tests/planners/jobs.hpp"
#include "tests/planners/recorded_graph.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

struct RecordedRow {
  const char* id;
  const char* model;
  int states;
  std::vector<PlannerLevel> levels;
  bool straight;
  Bytes memory;
  bool communication;
  double slowest_ms;
  double speedup;
  double data_parallel;
  Ranges outer;  // what it decided; where several are as good, ours may be another. Empty: not printed in full
};

// Bottlenecks and stages obtained by running the authors' program (commit 7db6a1c, Python 3) on these graphs.
const std::vector<RecordedRow> kRows{
    {"A1", "vgg16", 40, {{8, 1250000000}}, false, 0, true, 100.841393, 6.669235, 2.421216, {{0, 24, 7}, {24, 40, 1}}},
    {"A2",
     "vgg16",
     40,
     {{16, 1250000000}},
     false,
     0,
     true,
     54.794891,
     12.273681,
     4.612672,
     {{0, 24, 13}, {24, 32, 2}, {32, 40, 1}}},
    {"A3", "vgg16", 40, {{4, 10000000000}}, false, 0, true, 170.179062, 3.951926, 3.208032, {{0, 15, 3}, {15, 40, 1}}},
    {"A4",
     "vgg16",
     40,
     {{4, 1250000000}},
     true,
     0,
     true,
     381.063,
     1.764892,
     1.344554,
     {{0, 10, 1}, {10, 34, 1}, {34, 39, 1}, {39, 40, 1}}},
    {"A5",
     "vgg16",
     40,
     {{8, 1250000000}},
     false,
     16000000000,
     true,
     100.841393,
     6.669235,
     2.421216,
     {{0, 24, 7}, {24, 40, 1}}},
    {"A6", "vgg16", 40, {{4, 1250000000}}, false, 8000000000, true, 500.191856, 1.344554, 1.344554, {{0, 40, 4}}},
    {"A7",
     "vgg16",
     40,
     {{4, 10000000000}, {4, 1250000000}},
     false,
     0,
     true,
     67.133997,
     10.017801,
     4.966115,
     {{0, 32, 3}, {32, 40, 1}}},
    {"B1", "alexnet", 22, {{8, 1250000000}}, false, 0, true, 15.099494, 5.650587, 0.886855, {{0, 16, 7}, {16, 22, 1}}},
    {"B2", "alexnet", 22, {{16, 1250000000}}, false, 0, true, 15.099494, 5.650587, 1.667788, {}},
    {"B3",
     "alexnet",
     22,
     {{4, 1250000000}},
     true,
     0,
     true,
     53.162803,
     1.604900,
     0.507947,
     {{0, 6, 1}, {6, 13, 1}, {13, 14, 1}, {14, 22, 1}}},
    {"B4",
     "alexnet",
     22,
     {{4, 10000000000}, {4, 1250000000}},
     false,
     0,
     true,
     15.099494,
     5.650587,
     1.831881,
     {{0, 15, 3}, {15, 22, 1}}},
    {"1e9", "vgg16", 40, {{4, 1000000000}}, false, 0, true, 205.520896, 3.27234, 1.15317, {{0, 17, 3}, {17, 40, 1}}},
    {"quiet", "vgg16", 40, {{4, 1000000000}}, false, 0, false, 175.732624, 3.82704, 1.15317, {{0, 15, 3}, {15, 40, 1}}},
    {"quiet straight",
     "vgg16",
     40,
     {{4, 1000000000}},
     true,
     0,
     false,
     216.45,
     3.10711,
     1.15317,
     {{0, 3, 1}, {3, 11, 1}, {11, 22, 1}, {22, 40, 1}}},
    {"16 flat",
     "vgg16",
     40,
     {{16, 1000000000}},
     false,
     0,
     true,
     56.5298,
     11.8970,
     3.91592,
     {{0, 24, 13}, {24, 31, 2}, {31, 40, 1}}},
    {"levels 1e9",
     "vgg16",
     40,
     {{4, 10000000000}, {4, 1000000000}},
     false,
     0,
     true,
     69.74994,
     9.64209,
     4.30620,
     {{0, 31, 3}, {31, 40, 1}}},
    {"alexnet 1e9",
     "alexnet",
     22,
     {{4, 1000000000}},
     false,
     0,
     true,
     34.2171,
     2.49352,
     0.41695,
     {{0, 13, 3}, {13, 22, 1}}},
};

void set_levels(PlannerJob& job, const std::vector<PlannerLevel>& levels, Bytes memory) {
  int devices = 1;
  for (const PlannerLevel& level : levels) devices *= level.members;
  const PlannerJob shape = equal_devices(devices, 1, memory);
  job.types = shape.types;
  job.devices = shape.devices;
  job.levels = levels;
}

// By the formula of the program, of stages on one level.
double slowest_of_stages(const PlannerJob& job, const Ranges& stages, bool communication) {
  const PlannerSums sums(job);
  const auto bandwidth = static_cast<double>(job.levels.front().bandwidth);
  double slowest = 0;
  for (const std::vector<int>& stage : stages) {
    const int begin = stage[0];
    const int end = stage[1];
    const int m = stage[2];
    const double exchanged = 4.0 * (m - 1) / m * static_cast<double>(sums.parameters(begin, end)) / bandwidth * 1e9;
    slowest = std::max(slowest, (static_cast<double>(sums.time(begin, end)) + exchanged) / m);
    if (begin == 0 || !communication) continue;
    const auto crossing = static_cast<double>(job.layers[static_cast<std::size_t>(begin - 1)].output);
    slowest = std::max(slowest, 2.0 * crossing / bandwidth / m * 1e9);
  }
  return slowest;
}

TEST_CASE("as published, PipeDream's planner decides what the authors' program decided on their recorded graphs") {
  for (const RecordedRow& row : kRows) {
    const std::string id = row.id;
    CAPTURE(id);
    PlannerJob job = recorded_chain(row.model);
    CHECK(job.layer_count() == row.states);
    set_levels(job, row.levels, row.memory);
    PipedreamOptions options;
    options.as_published = true;
    options.straight = row.straight;
    options.communication = row.communication;
    const PipedreamPlan plan = pipedream_plan(job, options);
    CHECK(plan.slowest_ns / 1e6 == doctest::Approx(row.slowest_ms).epsilon(2e-6));
    const auto total = static_cast<double>(PlannerSums(job).time(0, job.layer_count()));
    CHECK(total / plan.slowest_ns == doctest::Approx(row.speedup).epsilon(5e-6));
    CHECK(plan.data_parallel_speedup == doctest::Approx(row.data_parallel).epsilon(2e-5));
    if (!row.outer.empty() && row.levels.size() == 1) {
      const double theirs = slowest_of_stages(job, row.outer, row.communication);
      CHECK(theirs == doctest::Approx(plan.slowest_ns).epsilon(1e-9));
    }
    int devices = 0;
    for (const PlannerStage& stage : plan.flat) devices += stage.replicas;
    CHECK(devices == job.device_count());
  }
}

const std::vector<LayerRow> kV5{
    {4, 8, 8e6, 1e5}, {4, 8, 4e6, 1e5}, {4, 8, 1e6, 1e5}, {1, 2, 1e5, 4e7}, {1, 2, 1e3, 4e7}};
const std::vector<LayerRow> kC6{{2, 4, 8e6, 1e6}, {3, 6, 4e6, 2e6},  {4, 8, 2e6, 8e6},
                                {1, 2, 6e6, 4e6}, {5, 10, 1e6, 2e7}, {3, 6, 1e6, 4e7}};

struct ChainRow {
  const std::vector<LayerRow>* layers;
  std::vector<PlannerLevel> levels;
  bool straight;
  double slowest_ms;
  double data_parallel;
  Ranges outer;
  Ranges flat;
};

TEST_CASE("as published, PipeDream's planner decides two synthetic chains as the authors' program") {
  const Ranges four{{0, 2, 1}, {2, 4, 1}, {4, 5, 1}, {5, 6, 1}};
  const std::vector<ChainRow> rows{
      {&kV5, {{4, 1000000000}}, false, 12.2, 0.59385, {{0, 2, 2}, {2, 3, 1}, {3, 5, 1}}, {}},
      {&kV5, {{4, 1000000000}}, true, 16, 0.59385, {{0, 1, 1}, {1, 2, 1}, {2, 4, 1}, {4, 5, 1}}, {}},
      {&kV5, {{8, 1000000000}}, false, 6, 1.04009, {{0, 3, 7}, {3, 5, 1}}, {}},
      {&kV5,
       {{4, 10000000000}, {4, 1000000000}},
       false,
       4.5556,
       0,
       {{0, 3, 3}, {3, 5, 1}},
       {{0, 3, 12}, {3, 4, 3}, {4, 5, 1}}},
      {&kC6, {{4, 1000000000}}, false, 15, 0.77419, four, {}},
      {&kC6, {{4, 10000000000}}, false, 15, 2.82353, four, {}},
      {&kC6, {{4, 1000000000}}, true, 15, 0.77419, four, {}},
      {&kC6, {{2, 10000000000}, {2, 1000000000}}, false, 15, 0.98630, {}, four},
  };
  for (const ChainRow& row : rows) {
    CAPTURE(row.slowest_ms);
    PlannerJob job;
    set_layers(job, *row.layers);
    set_levels(job, row.levels, 0);
    PipedreamOptions options;
    options.as_published = true;
    options.straight = row.straight;
    const PipedreamPlan plan = pipedream_plan(job, options);
    CHECK(plan.slowest_ns / 1e6 == doctest::Approx(row.slowest_ms).epsilon(1e-5));
    if (row.data_parallel > 0) CHECK(plan.data_parallel_speedup == doctest::Approx(row.data_parallel).epsilon(1e-5));
    if (!row.outer.empty() && row.levels.size() == 1) {
      CHECK(slowest_of_stages(job, row.outer, true) == doctest::Approx(plan.slowest_ns).epsilon(1e-9));
    } else if (!row.outer.empty()) {
      CHECK(ranges_of(plan.outer) == text_of(row.outer));
    }
    if (!row.flat.empty()) CHECK(ranges_of(plan.flat) == text_of(row.flat));
  }
}

// Every list of cuts and replicas; all devices used.
double best_by_force(const PlannerJob& job, bool as_published) {
  const PlannerSums sums(job);
  const auto bandwidth = static_cast<double>(job.levels.front().bandwidth);
  const double coefficient = as_published ? 4 : 2;
  double best = std::numeric_limits<double>::infinity();
  const std::function<void(int, int, double)> walk = [&](int begin, int left, double slowest) {
    for (int end = begin + 1; end <= job.layer_count(); ++end) {
      for (int m = 1; m <= left; ++m) {
        const int behind = left - m;
        const int copies = (behind + m - 1) / m + (as_published ? 0 : 1);
        const Bytes memory = job.types.front().memory;
        if (memory > 0 && copies * (sums.activation(begin, end) + sums.parameters(begin, end)) > memory) continue;
        const double exchanged =
            coefficient * (m - 1) / m * static_cast<double>(sums.parameters(begin, end)) / bandwidth * 1e9;
        double value = std::max(slowest, (static_cast<double>(sums.time(begin, end)) + exchanged) / m);
        const auto crossing = [&](int cut) {
          return 2.0 * static_cast<double>(job.layers[static_cast<std::size_t>(cut - 1)].output) / bandwidth / m * 1e9;
        };
        if (begin > 0) value = std::max(value, crossing(begin));
        // The last stage but the first of a plan is charged for its own output as well, as the recurrence does.
        if (begin > 0 && end < job.layer_count()) value = std::max(value, crossing(end));
        if (end == job.layer_count() && behind == 0) best = std::min(best, value);
        if (end < job.layer_count() && behind > 0) walk(end, behind, value);
      }
    }
  };
  walk(0, job.device_count(), 0);
  return best;
}

TEST_CASE("PipeDream's planner finds the least slowest stage of random chains, as published and mended") {
  Draws draws(7);
  int limited = 0;
  for (int run = 0; run < 400; ++run) {
    CAPTURE(run);
    PlannerJob job = random_chain(draws, draws.whole(1, 6), draws.whole(1, 5));
    if (run % 2 == 1) job.types.front().memory = Bytes{1'000'000} * draws.whole(60, 200);
    for (const bool as_published : {false, true}) {
      const double expected = best_by_force(job, as_published);
      PipedreamOptions options;
      options.as_published = as_published;
      if (expected == std::numeric_limits<double>::infinity()) {
        ++limited;
        CHECK_THROWS(static_cast<void>(pipedream_plan(job, options)));
        continue;
      }
      CHECK(pipedream_plan(job, options).slowest_ns == doctest::Approx(expected).epsilon(1e-9));
    }
  }
  CHECK(limited > 10);
}

TEST_CASE("a last stage that keeps its microbatch does not drive PipeDream's planner to data parallelism") {
  PlannerJob job = recorded_chain("vgg16");
  set_levels(job, {{4, 1250000000}}, 8000000000);
  PipedreamOptions options;
  options.as_published = true;
  CHECK(pipedream_plan(job, options).outer.size() == 1);
  options.as_published = false;
  // The whole model and its activations, 15.2 GB, fit on no device; nor do most of its halves.
  CHECK_THROWS(static_cast<void>(pipedream_plan(job, options)));
  set_levels(job, {{4, 1250000000}}, 14000000000);
  CHECK(pipedream_plan(job, options).outer.size() > 1);
}

TEST_CASE("PipeDream's planner tells too few layers for a straight pipeline from too little memory") {
  Draws draws(11);
  PlannerJob job = random_chain(draws, 3, 4);
  PipedreamOptions options;
  options.straight = true;
  const auto refusal = [&] { return problems_of([&] { static_cast<void>(pipedream_plan(job, options)); }); };
  CHECK(refusal().starts_with("error[Z003]: 4 stages need at least as many layers; the job has 3\n"));
  // It may leave a device idle.
  options.fewer_machines = true;
  CHECK(pipedream_plan(job, options).flat.size() <= 3);
  options.fewer_machines = false;
  job = random_chain(draws, 3, 2);
  job.types.front().memory = 1;
  CHECK(refusal().starts_with("error[Z002]: no partition fits the memory of 1 bytes per device\n"));
  for (PlannerLayer& layer : job.layers) layer.parameters = Bytes{1} << 30;
  job.types.front().memory = Bytes{3} << 20;
  CHECK(refusal().starts_with("error[Z002]: no partition fits the memory of 3 MiB per device\n"));
}

}  // namespace
}  // namespace debubble::testing
