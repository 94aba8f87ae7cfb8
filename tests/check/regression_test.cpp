// The measured gate: a regression of the bubble is caught, noise is not taken for one.
#include "studies/check/measured.hpp"
#include "studies/runs/predict.hpp"
#include "tests/check/noisy_run.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

Report predicted_report(const RunRecord& record) {
  NoProgress silent;
  return simulate_record(record, silent).result.report;
}

const MetricResult& metric(const MeasurementResult& result, MetricResult::Kind kind) {
  for (const MetricResult& one : result.metrics) {
    if (one.kind == kind) return one;
  }
  throw std::logic_error("no such metric");
}

MeasurementResult judged(const NoisyRun& wish, const Tolerances& tolerances = {}) {
  const RunRecord record = noisy_run(wish);
  return judge_run(record, predicted_report(record), tolerances);
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

TEST_CASE("a device that fails does not hide behind one that only warns by more") {
  RunRecord record = noisy_run({});
  const Report predicted = predicted_report(record);
  Tolerances tolerances;
  tolerances.memory_percent = 5;
  for (std::size_t k = 0; k < record.iterations.size(); ++k) {
    const auto scale = [&](std::size_t device, double factor) {
      const auto bytes = static_cast<double>(predicted.devices[device].peak_activation);
      record.iterations[k].peak_activation[device] = std::llround(bytes * factor);
    };
    scale(0, k % 5 < 2 ? 1.0 : 1.08);
    scale(1, 1.055);
  }
  const MetricResult memory = metric(judge_run(record, predicted, tolerances), MetricResult::Kind::kMemory);
  CHECK(memory.device == 1);
  CHECK(memory.verdict == Verdict::kFail);
  for (RunIteration& iteration : record.iterations) iteration.peak_activation[1] = predicted.devices[1].peak_activation;
  const MetricResult other = metric(judge_run(record, predicted, tolerances), MetricResult::Kind::kMemory);
  CHECK(other.device == 0);
  CHECK(other.verdict == Verdict::kWarn);
  CHECK(other.error.median == doctest::Approx(8.0).epsilon(0.001));
}

TEST_CASE("memory that somebody asked for does not vanish") {
  NoisyRun wish;
  wish.count_memory = false;
  Tolerances tolerances;
  tolerances.memory_asked_by = Tolerances::Asker::kSuite;
  const MetricResult warned = metric(judged(wish, tolerances), MetricResult::Kind::kMemory);
  CHECK_FALSE(warned.counted);
  CHECK(warned.verdict == Verdict::kWarn);
  tolerances.memory_asked_by = Tolerances::Asker::kScenario;
  CHECK(metric(judged(wish, tolerances), MetricResult::Kind::kMemory).verdict == Verdict::kFail);
  wish.count_memory = true;
  CHECK(metric(judged(wish, tolerances), MetricResult::Kind::kMemory).verdict == Verdict::kPass);
}

// Groups of calibrate and run: each predicted bubble is off by its own error of the costs.
std::vector<PredictedRun> calibrated_runs(const NoisyRun& wish, int calibrations, double regression_pp) {
  std::vector<PredictedRun> runs;
  for (int k = 0; k < calibrations; ++k) {
    NoisyRun one = wish;
    one.seed = static_cast<std::uint64_t>(k) + 1;
    one.repetitions = 2;
    one.added_bubble_pp = regression_pp;
    PredictedRun& run = runs.emplace_back();
    run.record = noisy_run(one);
    run.predicted = predicted_report(run.record);
  }
  return runs;
}

TEST_CASE("one calibration alone warns at most, and says why") {
  const std::vector<PredictedRun> runs = calibrated_runs({}, 1, 2);
  const MeasurementResult once = judge_runs(runs, {}, CostOrigin::kCalibratedNow);
  CHECK(metric(once, MetricResult::Kind::kBubble).verdict == Verdict::kWarn);
  CHECK(metric(once, MetricResult::Kind::kStep).verdict == Verdict::kWarn);
  REQUIRE(once.notes.size() == 1);
  CHECK(once.notes.front() ==
        "calibrated once: the error may be that of the costs, so this warns at most; a fail takes 4 calibrations or "
        "more");
  CHECK(metric(judge_runs(runs, {}, CostOrigin::kAsGiven), MetricResult::Kind::kBubble).verdict == Verdict::kFail);
}

TEST_CASE("several calibrations that all see it fail, one that does not holds the verdict back") {
  std::vector<PredictedRun> runs = calibrated_runs({}, 6, 2);
  const MeasurementResult all = judge_runs(runs, {}, CostOrigin::kCalibratedNow);
  CHECK(metric(all, MetricResult::Kind::kBubble).verdict == Verdict::kFail);
  CHECK(all.calibrations == 6);
  CHECK(all.repetitions == 12);
  CHECK(all.notes.empty());
  runs[2].predicted.bubble_ratio += 0.02;  // costs that were off the other way
  const MeasurementResult but_one = judge_runs(runs, {}, CostOrigin::kCalibratedNow);
  CHECK(metric(but_one, MetricResult::Kind::kBubble).verdict == Verdict::kWarn);
}

TEST_CASE("what was compared is told: a measurement, given times, or a simulation") {
  using Times = MeasurementResult::Times;
  RunRecord record = noisy_run({});
  const Report predicted = predicted_report(record);
  CHECK(judge_run(record, predicted, {}).times == Times::kMeasured);
  for (RunIteration& iteration : record.iterations) iteration.timeline.measured = false;
  CHECK(judge_run(record, predicted, {}).times == Times::kGiven);
  record.origin.backend = "simulator";
  const MeasurementResult simulated = judge_run(record, predicted, {});
  CHECK(simulated.times == Times::kSimulated);
  CHECK(simulated.notes.front() == "nothing was measured: the file holds a simulation");
}

TEST_CASE("runs of another schedule are not compared, whatever their size") {
  const RunRecord record = noisy_run({});
  NoisyRun other;
  CHECK(mismatch(record, record.schedule).empty());
  other.microbatches = 12;
  CHECK(mismatch(record, noisy_run(other).schedule) ==
        "the run is of another schedule: the predicted one has 12 microbatches, the measured one 8");
  other.schedule = "gpipe";
  other.microbatches = 8;
  NoisyRun third;
  third.schedule = "1f1b";
  CHECK(mismatch(noisy_run(third), noisy_run(other).schedule) ==
        "the run is of another schedule: device 0 runs 0F4 in place 5 of the predicted one, 0B0 of the measured one");
}

}  // namespace
}  // namespace debubble::testing
