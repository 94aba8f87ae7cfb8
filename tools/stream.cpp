#include "tools/stream.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "schedules/catalog.hpp"
#include "sim/analysis/stream.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble {
namespace {

// Enough for every device to be warm, and for a pattern of all routes through shared stages to show many times.
int long_enough(const Schedule& schedule) {
  constexpr std::int64_t kPatterns = 32;
  constexpr std::int64_t kAffordableOps = 10'000'000;
  const std::int64_t wanted = 8 * std::int64_t{schedule.devices} + kPatterns * (schedule.placement.replicas() + 3);
  const std::int64_t most = kAffordableOps / (2 * std::int64_t{schedule.stages});
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(most, 1)));
}

// The same schedule of more microbatches; nothing where it is long already or not as the catalog makes it.
std::optional<Schedule> longer(const Schedule& schedule) {
  const int microbatches = long_enough(schedule);
  if (schedule.microbatches >= microbatches || find_schedule(schedule.name) == nullptr) return std::nullopt;
  ScheduleRequest request;
  request.devices = schedule.devices;
  request.microbatches = schedule.microbatches;
  request.chunks = schedule.chunks;
  request.params = {schedule.params.begin(), schedule.params.end()};
  try {
    if (build_schedule(schedule.name, request).rows != schedule.rows) return std::nullopt;
    request.microbatches = microbatches;
    return build_schedule(schedule.name, request);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::optional<StreamPeriod> period_of(const Run& run, P2p p2p) {
  const std::optional<Schedule> stream = longer(run.schedule);
  if (!stream) return stream_period(run.timeline, run.schedule);
  const auto lowered = lower(*stream, p2p);
  const auto* program = std::get_if<Program>(&lowered);
  if (program == nullptr) return stream_period(run.timeline, run.schedule);
  return stream_period(simulate(*program, *stream, run.costs, run.topology), *stream);
}

}  // namespace

void add_pace(Run& run, P2p p2p) {
  StreamReport& stream = *run.report.stream;
  stream.period = period_of(run, p2p);
  run.report.steady_period.reset();
  if (!stream.period) return;
  const double each = stream.period->per_microbatch();
  run.report.steady_period = std::llround(each * run.schedule.microbatches);
  if (run.samples_per_microbatch == 0) return;
  constexpr double kNanosecondsPerSecond = 1e9;
  stream.samples_per_second = static_cast<double>(run.samples_per_microbatch) * kNanosecondsPerSecond / each;
  if (run.tokens_per_sample > 0) {
    stream.tokens_per_second = *stream.samples_per_second * static_cast<double>(run.tokens_per_sample);
  }
}

}  // namespace debubble
