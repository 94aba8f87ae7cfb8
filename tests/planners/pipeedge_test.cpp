// PipeEdge's scheduler: what the authors' program gave on seven sets of hosts, what is right there, and brute force.
#include "studies/planners/catalog.hpp"
#include "tests/planners/jobs.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

constexpr double kSecond = 1e9;

// Six layers whose forward takes whole seconds; MiB/s and MiB, so that transfers take whole seconds, too.
PlannerJob toy(int fast, int slow) {
  PlannerJob job;
  job.types = {{"a", 1, Bytes{4096} << 20, 2 << 20}, {"b", 2, Bytes{4096} << 20, 1 << 20}};
  job.devices.assign(static_cast<std::size_t>(fast), 0);
  job.devices.insert(job.devices.end(), static_cast<std::size_t>(slow), 1);
  job.levels = {{fast + slow, 1 << 30}};
  const std::vector<double> seconds{4, 1, 3, 3, 2, 5};
  const std::vector<double> mebibytes{3, 1, 4, 2, 1.5, .5};
  std::vector<LayerRow> rows;
  for (std::size_t i = 0; i < 6; ++i) rows.push_back({1e3 * seconds[i], 0, 1048576 * mebibytes[i], 1048576, 0});
  set_layers(job, rows);
  return job;
}

// Of a decision, with each device's own times and cards.
double slowest_of(const PlannerJob& job, const PlannerDecision& decision) {
  const PlannerSums sums(job);
  double slowest = 0;
  for (std::size_t s = 0; s < decision.stages.size(); ++s) {
    const auto type_of = [&](std::size_t stage) {
      return job.types[static_cast<std::size_t>(
          job.devices[static_cast<std::size_t>(decision.stages[stage].devices.front())])];
    };
    const PlannerStage& stage = decision.stages[s];
    slowest = std::max(slowest, static_cast<double>(sums.forward(stage.begin, stage.end)) * type_of(s).time_factor);
    if (s + 1 == decision.stages.size()) break;
    const auto bandwidth = static_cast<double>(std::min(type_of(s).bandwidth, type_of(s + 1).bandwidth));
    const auto bytes = static_cast<double>(job.layers[static_cast<std::size_t>(stage.end - 1)].output);
    slowest = std::max(slowest, bytes / bandwidth * kSecond);
  }
  return slowest;
}

TEST_CASE("PipeEdge as published is as bad as the authors' program, and mended it is right") {
  struct Row {
    int fast, slow;
    double published, right;
  };
  for (const Row& row : {Row{1, 1, 13, 13}, Row{2, 1, 14, 8}, Row{1, 2, 10, 10}, Row{2, 2, 10, 7}, Row{3, 1, 10, 6},
                         Row{4, 0, 5, 5}, Row{0, 4, 10, 10}}) {
    CAPTURE(row.fast);
    CAPTURE(row.slow);
    const PlannerJob job = toy(row.fast, row.slow);
    const PlannerDecision mended = decide("pipeedge", job);
    CHECK(mended.predicted == doctest::Approx(row.right * kSecond));
    CHECK(slowest_of(job, mended) == doctest::Approx(row.right * kSecond));
    CHECK(slowest_of(job, decide("pipeedge", job, true)) == doctest::Approx(row.published * kSecond));
  }
}

TEST_CASE("PipeEdge on the units of its recurrence") {
  const auto job_of = [](int fast, int slow, double scale) {
    PlannerJob job = toy(fast, slow);
    const std::vector<double> outputs{6, 2, 8, 4, 3, 1};
    for (std::size_t i = 0; i < 6; ++i) job.layers[i].output = static_cast<Bytes>(outputs[i] * 1e6);
    job.types[0].bandwidth = static_cast<std::int64_t>(2e6 * scale);
    job.types[1].bandwidth = static_cast<std::int64_t>(1e6 * scale);
    return job;
  };
  CHECK(decide("pipeedge", job_of(2, 2, 1)).predicted == doctest::Approx(8 * kSecond));
  CHECK(decide("pipeedge", job_of(2, 2, 100)).predicted == doctest::Approx(7 * kSecond));
  CHECK(decide("pipeedge", job_of(4, 0, 1)).predicted == doctest::Approx(5 * kSecond));
  CHECK(decide("pipeedge", job_of(0, 4, 1)).predicted == doctest::Approx(10 * kSecond));
}

// Every order of every choice of devices with every list of cuts.
double least_slowest(const PlannerJob& job) {
  const PlannerSums sums(job);
  double best = std::numeric_limits<double>::infinity();
  std::vector<bool> used(job.devices.size(), false);
  const std::function<void(int, int, double)> walk = [&](int begin, int before, double slowest) {
    for (std::size_t device = 0; device < job.devices.size(); ++device) {
      if (used[device]) continue;
      used[device] = true;
      const PlannerDeviceType& type = job.types[static_cast<std::size_t>(job.devices[device])];
      const Bytes in = begin == 0 ? 0 : job.layers[static_cast<std::size_t>(begin - 1)].output;
      double sent = 0;
      if (before >= 0) {
        const auto& other = job.types[static_cast<std::size_t>(job.devices[static_cast<std::size_t>(before)])];
        sent = static_cast<double>(in) / static_cast<double>(std::min(other.bandwidth, type.bandwidth)) * kSecond;
      }
      for (int end = begin + 1; end <= job.layer_count(); ++end) {
        const Bytes out = job.layers[static_cast<std::size_t>(end - 1)].output;
        const Bytes need =
            sums.parameters(begin, end) + in + out + (begin > 0 ? 2 * in : 0) + (end < job.layer_count() ? 2 * out : 0);
        if (need >= type.memory) continue;
        const double value =
            std::max({slowest, sent, static_cast<double>(sums.forward(begin, end)) * type.time_factor});
        if (end == job.layer_count()) {
          best = std::min(best, value);
        } else {
          walk(end, static_cast<int>(device), value);
        }
      }
      used[device] = false;
    }
  };
  walk(0, -1, 0);
  return best;
}

TEST_CASE("PipeEdge equals brute force on random hosts, memories and cards") {
  Draws draws(3);
  int refused = 0;
  for (int run = 0; run < 200; ++run) {
    CAPTURE(run);
    PlannerJob job = random_chain(draws, draws.whole(1, 6), 1);
    job.types.clear();
    job.devices.clear();
    for (int type = 0; type < 2; ++type) {
      job.types.push_back({"type", draws.whole(1, 4) / 2.0, Bytes{1'000'000} * draws.whole(20, 120),
                           std::int64_t{1'000'000'000} * draws.whole(1, 4)});
      for (int i = draws.whole(type == 0 ? 1 : 0, 2); i > 0; --i) job.devices.push_back(type);
    }
    job.levels = {{job.device_count(), 1'000'000'000}};
    const double expected = least_slowest(job);
    if (expected == std::numeric_limits<double>::infinity()) {
      ++refused;
      CHECK(problems_of([&] { static_cast<void>(decide("pipeedge", job)); }).starts_with("error[Z002]"));
    } else {
      CHECK(decide("pipeedge", job).predicted == doctest::Approx(expected));
    }
  }
  CHECK(refused > 5);
}

}  // namespace
}  // namespace debubble::testing
