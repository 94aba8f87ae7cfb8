#include "studies/simulate/pace.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "schedules/catalog.hpp"
#include "sim/analysis/stream.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble {
namespace {

// Enough for every device to be warm, and for a pattern of all routes through shared stages to show many times.
int long_enough(const Schedule& schedule, std::int64_t affordable_ops) {
  constexpr std::int64_t kPatterns = 32;
  const std::int64_t wanted = 8 * std::int64_t{schedule.devices} + kPatterns * (schedule.placement.replicas() + 3);
  const std::int64_t most = affordable_ops / (2 * std::int64_t{schedule.stages});
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(most, 1)));
}

// The same schedule of more microbatches; nothing where it is long already or not as the catalog makes it.
std::optional<Schedule> longer(const Schedule& schedule, std::int64_t affordable_ops) {
  const int microbatches = long_enough(schedule, affordable_ops);
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

Variation repeated_variation(Variation variation, const Schedule& stream) {
  if (variation.piece.empty()) return variation;
  const std::vector<double> once = std::move(variation.piece);
  variation.piece.clear();
  for (std::size_t k = 0; k < static_cast<std::size_t>(stream.total_pieces()); ++k) {
    variation.piece.push_back(once[k % once.size()]);
  }
  return variation;
}

// On the network and with the variation of the run; of several replicas of the pipeline the slowest.
Timeline simulate_stream(const Job& job, const Schedule& stream, const Program& program, int replicas) {
  if (!ops_need_events(job) && replicas == 1) return simulate(program, stream, job.costs, job.topology);
  const Variation variation = repeated_variation(job.variation, stream);
  std::vector<Timeline> timelines =
      simulate_cluster(program, stream, job.costs, job.topology, {nullptr, &variation, replicas});
  return std::move(*std::max_element(timelines.begin(), timelines.end(),
                                     [](const Timeline& a, const Timeline& b) { return a.makespan < b.makespan; }));
}

std::optional<StreamPeriod> period_of(const Job& job, const Result& result) {
  constexpr std::int64_t kAffordableOps = 10'000'000;
  constexpr std::int64_t kAffordableEvents = 1'000'000;
  const int replicas = std::max(1, static_cast<int>(result.replica_makespans.size()));  // that were simulated
  const bool events = ops_need_events(job) || replicas > 1;
  const std::optional<Schedule> stream = longer(job.schedule, events ? kAffordableEvents / replicas : kAffordableOps);
  if (!stream) return stream_period(result.timeline, job.schedule);
  const auto lowered = lower(*stream, job.p2p);
  const auto* program = std::get_if<Program>(&lowered);
  if (program == nullptr) return stream_period(result.timeline, job.schedule);
  return stream_period(simulate_stream(job, *stream, *program, replicas), *stream);
}

}  // namespace

bool ops_need_events(const Job& job) {
  return job.topology.contended() || !job.variation.none() || !job.costs.at_work.empty();
}

void add_pace(const Job& job, const Result& result, Report& report) {
  StreamReport& stream = *report.stream;
  stream.period = period_of(job, result);
  report.steady_period.reset();
  if (!stream.period) return;
  const double each = stream.period->per_microbatch();
  report.steady_period = std::llround(each * job.schedule.microbatches);
  if (job.samples_per_microbatch == 0) return;
  constexpr double kNanosecondsPerSecond = 1e9;
  stream.samples_per_second =
      static_cast<double>(job.samples_per_microbatch) * job.pipeline_replicas * kNanosecondsPerSecond / each;
  if (job.tokens_per_sample > 0) {
    stream.tokens_per_second = *stream.samples_per_second * static_cast<double>(job.tokens_per_sample);
  }
}

}  // namespace debubble
