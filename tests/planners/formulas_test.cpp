// Planners whose formulas are recalled: accept, bapipe and pipedream-2bw against brute force and numbers made by hand.
#include "schedules/catalog.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/simulate.hpp"
#include "studies/planners/accept.hpp"
#include "studies/planners/bapipe.hpp"
#include "studies/planners/catalog.hpp"
#include "studies/planners/pipedream_2bw.hpp"
#include "tests/planners/jobs.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("accept without an error is right, and with one it regrets, and says how much") {
  Draws draws(37);
  int regretted = 0;
  for (int run = 0; run < 300; ++run) {
    CAPTURE(run);
    const int stages = draws.whole(1, 4);
    PlannerJob job = random_chain(draws, draws.whole(stages, 8), stages);
    job.types = {{"a", 1, 0, 0}, {"b", 1.5, 0, 500'000'000}};
    for (int& type : job.devices) type = draws.whole(0, 1);
    AcceptOptions options;
    options.error = 0;
    options.ratio = draws.whole(1, 4) / 4.0;
    options.codec_rate = run % 2 == 0 ? 0 : 1e9 * draws.whole(1, 5);
    const PlannerSums sums(job);
    const auto output = [&](int cut) {
      return static_cast<double>(job.layers[static_cast<std::size_t>(cut - 1)].output);
    };
    const auto type_of = [&](int stage) {
      return job.types[static_cast<std::size_t>(job.devices[static_cast<std::size_t>(stage)])];
    };
    const double best = least_by_force(job.layer_count(), stages, [&](int stage, int begin, int end) {
      double time = static_cast<double>(sums.time(begin, end)) * type_of(stage).time_factor;
      const double per_byte = options.codec_rate > 0 ? 2e9 / options.codec_rate : 0;
      double link = 0;
      if (begin > 0) {
        time += output(begin) * per_byte;
        const bool slow = type_of(stage).bandwidth > 0 || type_of(stage - 1).bandwidth > 0;
        link = 2 * output(begin) * options.ratio / (slow ? 0.5 : 1);
      }
      if (end < job.layer_count()) time += output(end) * per_byte;
      return std::max(time, link);
    });
    const AcceptPlan exact = accept_plan(job, stages, options);
    CHECK(exact.predicted == doctest::Approx(best));
    CHECK(exact.actual == doctest::Approx(best));
    CHECK(exact.best == doctest::Approx(best));
    options.error = 0.5;
    options.seed = static_cast<std::uint64_t>(run);
    const AcceptPlan noisy = accept_plan(job, stages, options);
    CHECK(noisy.best == doctest::Approx(best));
    CHECK(noisy.actual >= best * (1 - 1e-12));
    regretted += noisy.actual > best * (1 + 1e-9);
  }
  CHECK(regretted > 10);
}

TEST_CASE("bapipe's table of schedules, and its partition") {
  const auto named = [](const std::string& name) {
    const auto& all = bapipe_schedules();
    return *std::find_if(all.begin(), all.end(), [&](const BapipeSchedule& one) { return one.name == name; });
  };
  CHECK(bapipe_time(named("1F1B-AS"), 4, 8, 1, 2, .5) == doctest::Approx(33));
  CHECK(bapipe_time(named("FBP-AS"), 4, 8, 1, 2, .5) == doctest::Approx(33));
  CHECK(bapipe_time(named("1F1B-SNO"), 4, 8, 1, 2, .5) == doctest::Approx(33 + 10));
  CHECK(bapipe_time(named("1F1B-SO"), 4, 8, 1, 2, .5) == doctest::Approx(33 + 3));

  Draws draws(41);
  int refused = 0;
  for (int run = 0; run < 300; ++run) {
    CAPTURE(run);
    const int stages = draws.whole(1, 4);
    PlannerJob job = random_chain(draws, draws.whole(stages, 8), stages);
    for (PlannerLayer& layer : job.layers) layer.output = 0;  // so that no cut is left out
    job.types.front().memory = Bytes{1'000'000} * draws.whole(30, 300);
    const PlannerSums sums(job);
    // Without transfers both schedules take as long; the one that holds less decides what fits.
    const double best = least_by_force(job.layer_count(), stages, [&](int stage, int begin, int end) {
      const Bytes held =
          sums.parameters(begin, end) + std::min(stages - stage, job.microbatches) * sums.activation(begin, end);
      return held > job.types.front().memory ? std::numeric_limits<double>::infinity()
                                             : static_cast<double>(sums.time(begin, end));
    });
    if (best == std::numeric_limits<double>::infinity()) {
      ++refused;
      CHECK(problems_of([&] { static_cast<void>(decide("bapipe", job)); }).starts_with("error[Z002]"));
    } else {
      CHECK(decide("bapipe", job).predicted == doctest::Approx((job.microbatches + stages - 1) * best));
    }
  }
  CHECK(refused > 10);
}

// (N + M - 2) round trips in its table; a run in which both directions of an exchange go at once exposes half a one
// less.
TEST_CASE("bapipe's exposed transfers against the engine's coupled exchanges") {
  for (const auto& [stages, microbatches, round_trips] :
       {std::tuple{3, 6, 6.5}, std::tuple{4, 8, 9.5}, std::tuple{4, 16, 17.5}, std::tuple{8, 16, 21.5}}) {
    ScheduleRequest request;
    request.devices = stages;
    request.microbatches = microbatches;
    const Schedule schedule = build_schedule("1f1b", request);
    const auto result = lower(schedule, P2p::kCoupled);
    StageCosts costs;
    StageCost cost;
    cost.forward = 1'000'000;
    cost.backward = 1'000'000;
    costs.stages.assign(static_cast<std::size_t>(stages), cost);
    const Nanoseconds transfer = 10'000;
    const Nanoseconds step = simulate_totals(std::get<Program>(result), costs, Topology::ideal(transfer, 0)).makespan;
    const double exposed = static_cast<double>(step - (microbatches + stages - 1) * 2'000'000) / (2.0 * transfer);
    CHECK(exposed == doctest::Approx(round_trips));
    const double table = bapipe_time(bapipe_schedules()[2], stages, microbatches, 0, 0, 0.5);
    CHECK(table - exposed == doctest::Approx(0.5));
  }
}

TEST_CASE("bapipe takes the schedule that hides transfers where memory allows, and leaves out cuts of large tensors") {
  PlannerJob job = equal_devices(2, 1'000'000'000);
  set_layers(job, {{1, 2, 1e6, 0, 1e6}, {1, 2, 9e6, 0, 1e6}, {1, 2, 1e6, 0, 1e6}, {1, 2, 1e6, 0, 1e6}});
  job.microbatches = 8;
  const PlannerDecision roomy = decide("bapipe", job);
  CHECK(roomy.choices.front().second == "1F1B-SO");
  CHECK(decided_partition(roomy, job) != std::vector<int>{2, 2});  // 18 ms there and back against 6 ms
  CHECK(decided_partition(decide("bapipe:overlap=yes", job), job) != std::vector<int>{2, 2});
  job.types.front().memory = 5'000'000;
  CHECK(decide("bapipe", job).choices.front().second == "1F1B-SNO");
}

TEST_CASE("pipedream-2bw: time and memory of a choice, and the best of all") {
  PlannerJob job = equal_devices(4, 1'000'000'000);
  set_layers(job, std::vector<LayerRow>(4, LayerRow{1, 2, 1e6, 1e7, 4e6}));
  job.microbatches = 16;
  // Two stages of 6 ms and a round trip of 2 ms; 20 MB of weights over 2 pipelines take 20 ms, shared by 8: 2.5 ms.
  CHECK(two_buffered_time(job, {2, 2, 1, false, 8}) == doctest::Approx(8e6 / 2));
  // With recomputation another 2 ms.
  CHECK(two_buffered_time(job, {2, 2, 1, true, 8}) == doctest::Approx(10e6 / 2));
  // Data parallel: 12 ms against an exchange of 60 ms, shared by 4: 15 ms.
  CHECK(two_buffered_time(job, {1, 4, 1, false, 4}) == doctest::Approx(15e6 / 4));
  // 2 x 40 MB / 2 + 16 MB = 56 MB; recomputed 40 + 8 + 2 x 1 = 50 MB.
  job.types.front().memory = 55'000'000;
  CHECK(two_buffered_time(job, {2, 2, 1, false, 8}) == std::numeric_limits<double>::infinity());
  CHECK(two_buffered_time(job, {2, 2, 1, true, 8}) == doctest::Approx(10e6 / 2));
  job.types.front().memory = 0;
  const PlannerDecision decision = decide("pipedream-2bw", job);
  double best = std::numeric_limits<double>::infinity();
  for (const int depth : {1, 2, 4}) {
    for (int size = 1; size <= 16; ++size) {
      const int width = 4 / depth;
      if (16 % (size * width) != 0 || 16 / (size * width) < depth) continue;
      for (const bool recompute : {false, true}) {
        best = std::min(best, two_buffered_time(job, {depth, width, size, recompute, 16 / (size * width)}));
      }
    }
  }
  CHECK(decision.predicted == doctest::Approx(best));
  job.microbatches = 3;
  CHECK(problems_of([&] { static_cast<void>(decide("pipedream-2bw", job)); }).starts_with("error[Z003]"));
}

}  // namespace
}  // namespace debubble::testing
