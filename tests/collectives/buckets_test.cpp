// Gradients and weights of the first stage in buckets beside its ops.
#include "cost_models/step/step_work.hpp"
#include "tests/collectives/step_case.hpp"
#include "tests/support/test.hpp"

namespace debubble::tests {

// 8 ranks with ports of 25 GB/s; 500 million numbers of two bytes, in buckets of 50 million. A bucket of 200 MB of
// gradients is reduced in 2 x 7/8 x 200 MB / 25 GB/s = 14 ms, and 14 messages of 10 us.
TEST_CASE("buckets: what the last backward hides is no task, the first stage's only") {
  const auto reduced = [](bool overlap, Nanoseconds backward, double slow_down, int stage) {
    Case one("1f1b", 2, 4);
    one.give_bytes();
    one.request.parallel.data = 8;
    one.request.options.overlap_reduce = overlap;
    one.request.options.bucket = 50'000'000;
    one.request.options.slow_down = slow_down;
    one.request.last_backward = backward;
    const auto tasks = of_kind(one.make(), StepTask::Kind::kGradientReduce);
    REQUIRE(tasks.size() == 2);  // in the order of the backward
    return static_cast<double>(tasks[stage == 0 ? 1 : 0].duration);
  };
  constexpr double kBucket = 14.14e6;
  constexpr Nanoseconds kMillisecond = 1'000'000;
  CHECK(reduced(false, 100 * kMillisecond, 0, 0) == doctest::Approx(140.14e6));
  CHECK(reduced(true, 0, 0, 0) == doctest::Approx(140.14e6));
  // Ten of 14.14 ms next to 100 ms, the first from 10 ms on.
  CHECK(reduced(true, 100 * kMillisecond, 0, 0) == doctest::Approx(10 * kBucket + 10e6 - 100e6));
  // As slow as the backward, or slower: only the last bucket is left.
  CHECK(reduced(true, 1000 * kMillisecond, 0, 0) == doctest::Approx(kBucket));
  CHECK(reduced(true, 100 * kMillisecond, 0, 1) == doctest::Approx(140.14e6));
  // While it is beside them the op does 1 / 1.25 of its work.
  CHECK(reduced(true, 1000 * kMillisecond, 0.25, 0) == doctest::Approx(kBucket + 9 * kBucket * 0.2));
}

// Replays the buckets one by one: gradients are ready when their part of the backward is done, weights are needed when
// their part of the forward begins.
TEST_CASE("buckets: the task is what a replay bucket by bucket leaves outside of the op") {
  for (const Nanoseconds op : {1'000'000, 30'000'000, 141'000'000, 142'000'000, 900'000'000}) {
    for (const std::int64_t bucket : {25'000'000, 50'000'000, 130'000'000, 500'000'000}) {
      CAPTURE(op);
      CAPTURE(bucket);
      Case one("1f1b", 1, 4);
      one.give_bytes();
      one.request.parallel.data = 8;
      one.request.parallel.zero = 1;
      one.request.options.slow_down = 0;
      one.request.options.gather = ParameterGather::kBeforeForward;
      const auto times = [&](bool overlap) {
        one.request.options.overlap_reduce = overlap;
        one.request.options.overlap_gather = overlap;
        one.request.options.bucket = bucket;
        one.request.last_backward = op;
        one.request.first_forward = op;
        const StepWork work = one.make();
        return std::pair{static_cast<double>(of_kind(work, StepTask::Kind::kGradientReduce)[0].duration),
                         static_cast<double>(of_kind(work, StepTask::Kind::kParameterGather)[0].duration)};
      };
      const std::int64_t count = (500'000'000 + bucket - 1) / bucket;
      // Without overlap n buckets pay the latency of 7 messages once.
      const double latency = 70e3;
      const auto [reduce_whole, gather_whole] = times(false);
      const auto [reduce_task, gather_task] = times(true);
      const auto length = static_cast<double>(op);
      const auto n = static_cast<double>(count);
      const double reduce = (reduce_whole - latency) / n + latency;
      const double gather = (gather_whole - latency) / n + latency;
      double sent = 0;
      for (std::int64_t k = 1; k <= count; ++k) sent = std::max(sent, static_cast<double>(k) * length / n) + reduce;
      CHECK(reduce_task == doctest::Approx(sent - length).epsilon(1e-5));
      double done = 0;
      for (std::int64_t k = 1; k <= count; ++k) done = std::max(done, static_cast<double>(k) * gather) + length / n;
      CHECK(gather_task == doctest::Approx(done - length).epsilon(1e-5));
    }
  }
}

TEST_CASE("buckets: Megatron-LM's size, and weights during the first forward") {
  Case one("1f1b", 1, 4);
  one.give_bytes();
  one.request.parallel.data = 8;
  one.request.parallel.zero = 1;
  one.request.options.gather = ParameterGather::kBeforeForward;
  one.request.options.overlap_gather = true;
  one.request.first_forward = 1'000'000'000;
  CHECK(buckets_of(one.request, kWeights) == 13);  // of 40 million
  one.request.parallel.data = 100;
  CHECK(buckets_of(one.request, kWeights) == 5);  // of 100 million
  one.request.parallel.data = 8;
  const auto tasks = of_kind(one.make(), StepTask::Kind::kParameterGather);
  REQUIRE(tasks.size() == 1);
  CHECK(contains(tasks[0].what, "in 13 buckets"));
  // The forward waits for the first: 7/8 of 1 GB / 13 at 25 GB/s, and 7 messages.
  CHECK(static_cast<double>(tasks[0].duration) == doctest::Approx(0.875e9 / 13 / 25 + 70e3).epsilon(1e-4));
}

}  // namespace debubble::tests
