// The measured gate: a regression of the bubble is caught, noise is not taken for one.
#include <doctest/doctest.h>

#include "tests/check/noisy_run.hpp"
#include "tools/check/measured.hpp"
#include "tools/runs/predict.hpp"

namespace debubble::testing {
namespace {

const MetricResult& metric(const MeasurementResult& result, MetricResult::Kind kind) {
  for (const MetricResult& one : result.metrics) {
    if (one.kind == kind) return one;
  }
  throw std::logic_error("no such metric");
}

MeasurementResult judged(const NoisyRun& wish, const Tolerances& tolerances = {}) {
  const RunRecord record = noisy_run(wish);
  return judge_run(record, simulate_record(record).report, tolerances);
}

TEST_CASE("a run without noise is predicted exactly") {
  const MeasurementResult result = judged({});
  REQUIRE(result.metrics.size() == 3);
  for (const MetricResult& one : result.metrics) {
    CHECK(one.verdict == Verdict::kPass);
    CHECK(one.error.low == 0.0);
    CHECK(one.error.high == 0.0);
  }
  CHECK(result.repetitions == 10);
  CHECK(result.notes.empty());
  CHECK(result.device == "a test's \"machine\"");
}

TEST_CASE("a regression of 2 points of bubble is caught at a tolerance of 1 point, whatever the noise's seed") {
  int caught = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    NoisyRun wish;
    wish.seed = seed;
    wish.noise = 0.02;
    wish.added_bubble_pp = 2;
    const MeasurementResult result = judged(wish);
    if (metric(result, MetricResult::Kind::kBubble).verdict == Verdict::kFail) ++caught;
  }
  CHECK(caught >= 58);
}

TEST_CASE("its size is stated with its sign") {
  NoisyRun wish;
  wish.added_bubble_pp = 2;
  const MeasurementResult worse = judged(wish);
  const MetricResult& bubble = metric(worse, MetricResult::Kind::kBubble);
  CHECK(bubble.error.median == doctest::Approx(2.0).epsilon(0.001));
  CHECK(bubble.verdict == Verdict::kFail);
  CHECK(metric(worse, MetricResult::Kind::kStep).error.median > 2);
  CHECK(metric(worse, MetricResult::Kind::kMemory).verdict == Verdict::kPass);
}

// Jitter only ever adds waiting, by less than the tolerance here; a median outside by chance is a warning at most.
TEST_CASE("noise within the tolerance never fails, and hardly ever warns") {
  int warnings = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    NoisyRun wish;
    wish.seed = seed;
    wish.noise = 0.01;
    wish.schedule = seed % 2 == 0 ? "1f1b" : "zb-h1";
    wish.repetitions = seed % 3 == 0 ? 5 : 10;
    const MeasurementResult result = judged(wish);
    for (const MetricResult& one : result.metrics) {
      CAPTURE(seed);
      CHECK(one.verdict != Verdict::kFail);
      if (one.verdict == Verdict::kWarn) ++warnings;
    }
  }
  CHECK(warnings <= 2);
}

TEST_CASE("noise that is larger than the tolerance, but on both sides, does not fail either") {
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    NoisyRun wish;
    wish.seed = seed;
    wish.noise = 0.02;
    wish.repetitions = 5;
    Tolerances tolerances;
    tolerances.bubble_pp = 1.5;
    tolerances.step_percent = 2;
    const MeasurementResult result = judged(wish, tolerances);
    for (const MetricResult& one : result.metrics) failures += one.verdict == Verdict::kFail ? 1 : 0;
  }
  CHECK(failures == 0);
}

TEST_CASE("memory is judged on the device that is predicted worst") {
  NoisyRun wish;
  wish.memory_factor = 1.5;
  const MeasurementResult result = judged(wish);
  const MetricResult& memory = metric(result, MetricResult::Kind::kMemory);
  CHECK(memory.device == 3);
  CHECK(memory.error.median == doctest::Approx(50.0));
  CHECK(memory.verdict == Verdict::kFail);
  wish.memory_factor = 0.5;
  CHECK(metric(judged(wish), MetricResult::Kind::kMemory).error.median == doctest::Approx(-50.0));
}

TEST_CASE("memory that nobody counted is not judged, and that is said") {
  NoisyRun wish;
  wish.count_memory = false;
  const MeasurementResult result = judged(wish);
  CHECK(result.metrics.size() == 2);
  REQUIRE(result.notes.size() == 1);
  CHECK(result.notes.front() == "memory was not counted in this run and is not judged");
}

TEST_CASE("few repetitions are judged, and their interval is called what it is") {
  NoisyRun wish;
  wish.repetitions = 1;
  wish.added_bubble_pp = 2;
  const MeasurementResult one = judged(wish);
  CHECK(metric(one, MetricResult::Kind::kBubble).verdict == Verdict::kFail);
  CHECK(one.notes.front() == "1 repetition: no interval, the error is judged as it is");
  wish.repetitions = 3;
  CHECK(judged(wish).notes.front() == "3 repetitions: the interval is all they span; 5 or more give a better one");
}

TEST_CASE("runs of another size are not compared") {
  const RunRecord record = noisy_run({});
  NoisyRun other;
  other.microbatches = 12;
  CHECK(mismatch(record, simulate_record(record).report).empty());
  CHECK(mismatch(record, simulate_record(noisy_run(other)).report) == "the run has 8 microbatches, the scenario 12");
  other.devices = 2;
  CHECK(mismatch(record, simulate_record(noisy_run(other)).report) == "the run has 4 devices, the scenario 2");
}

}  // namespace
}  // namespace debubble::testing
