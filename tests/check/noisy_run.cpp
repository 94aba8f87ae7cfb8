#include "tests/check/noisy_run.hpp"

#include <cmath>
#include <random>
#include <string_view>
#include <utility>

#include "cost_models/uniform.hpp"
#include "formats/run/run_file.hpp"
#include "schedules/catalog.hpp"
#include "tests/support/engine_run.hpp"

namespace debubble::testing {
namespace {

constexpr Nanoseconds kLatency = 20'000;

// Uniform in [-1, 1), the same with every standard library.
double jitter(std::mt19937_64& random) { return static_cast<double>(random() >> 11) / 4503599627370496.0 - 1; }

StageCosts jittered(StageCosts costs, double noise, std::mt19937_64& random) {
  const auto vary = [&](Nanoseconds& time) {
    time = std::llround(static_cast<double>(time) * (1 + noise * jitter(random)));
  };
  for (StageCost& stage : costs.stages) {
    vary(stage.forward);
    vary(stage.backward);
    vary(stage.input_grad);
    vary(stage.weight_grad);
  }
  return costs;
}

// The latency with which the bubble is as much larger as wished, found by halving.
Nanoseconds latency_for(const Schedule& schedule, const StageCosts& costs, double added_pp) {
  const auto bubble = [&](Nanoseconds latency) {
    return run_engine(schedule, costs, {latency, 0}).report.bubble_ratio;
  };
  const double wanted = bubble(kLatency) + added_pp / 100;
  Nanoseconds low = kLatency;
  Nanoseconds high = 100 * kNanosecondsPerMillisecond;
  while (added_pp > 0 && high - low > 1) {
    const Nanoseconds middle = low + (high - low) / 2;
    (bubble(middle) < wanted ? low : high) = middle;
  }
  return added_pp > 0 ? high : low;
}

}  // namespace

RunRecord noisy_run(const NoisyRun& wish) {
  RunRecord record;
  record.schedule = build_schedule(wish.schedule, {wish.devices, wish.microbatches, 0, {}});
  record.costs = uniform_costs({}, record.schedule.stages, record.schedule.chunks);
  record.hop_latency = kLatency;
  record.assumptions = {{"stage times", "calibrated", Source::kMeasured}};
  record.origin.backend = "cpu";
  record.origin.clock = "wall";
  record.origin.device = "a test's \"machine\"";
  record.origin.method = "replayed with jitter";
  record.origin.date = "2026-01-02";
  record.clocks.method = "one clock";
  std::mt19937_64 random(wish.seed);
  const Nanoseconds latency = latency_for(record.schedule, record.costs, wish.added_bubble_pp);
  for (int k = 0; k < wish.repetitions; ++k) {
    EngineRun run = run_engine(record.schedule, jittered(record.costs, wish.noise, random), {latency, 0});
    RunIteration iteration{std::move(run.timeline), {}, {}};
    iteration.timeline.measured = true;
    if (wish.count_memory) {
      for (const DeviceReport& device : run.report.devices) iteration.peak_activation.push_back(device.peak_activation);
      Bytes& last = iteration.peak_activation.back();
      last = std::llround(static_cast<double>(last) * wish.memory_factor);
    }
    record.iterations.push_back(std::move(iteration));
  }
  return record;
}

std::string run_file_text(const RunRecord& record) {
  std::string text;
  write_run_file(record, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace debubble::testing
