#include "sim/analysis/comparison.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "sim/analysis/gap_parts.hpp"
#include "sim/analysis/joined_runs.hpp"
#include "sim/analysis/replay_graph.hpp"
#include "sim/core/at.hpp"

namespace debubble {
namespace {

template <typename Get>
auto figure(const TimedRun& predicted, std::span<const TimedRun> measured, std::size_t chosen, Get get) {
  std::vector<decltype(get(*predicted.report))> values;
  for (const TimedRun& one : measured) values.push_back(get(*one.report));
  const auto own = values[chosen];
  return make_figure(get(*predicted.report), own, values);
}

Nanoseconds tenth_of_mean_op(const Timeline& timeline) {
  Nanoseconds sum = 0;
  for (const Span& span : timeline.spans) sum += span.end - span.begin;
  return timeline.spans.empty() ? 0 : sum / static_cast<Nanoseconds>(timeline.spans.size()) / 10;
}

void add_figures(Comparison& result, const TimedRun& predicted, std::span<const TimedRun> measured,
                 std::size_t chosen) {
  const auto of = [&](auto get) { return figure(predicted, measured, chosen, get); };
  result.makespan = of([](const Report& r) { return r.makespan; });
  result.bubble_ratio = of([](const Report& r) { return r.bubble_ratio; });
  result.bubble_over_ideal = of([](const Report& r) { return r.bubble_over_ideal; });
  for (std::size_t d = 0; d < predicted.report->devices.size(); ++d) {
    DeviceFigures device;
    device.busy = of([d](const Report& r) { return r.devices[d].busy; });
    device.bubble_ratio = of([d](const Report& r) { return r.devices[d].bubble_ratio; });
    device.peak_memory = of([d](const Report& r) { return r.devices[d].peak_memory; });
    device.peak_activation = of([d](const Report& r) { return r.devices[d].peak_activation; });
    result.devices.push_back(device);
  }
  std::vector<const Timeline*> timelines;
  for (const TimedRun& one : measured) timelines.push_back(one.timeline);
  result.ops_by_stage = op_durations(*predicted.timeline, timelines, chosen);
  result.links = link_durations(*predicted.timeline, timelines, chosen);
}

}  // namespace

const char* to_string(GapCause cause) {
  return at(std::array{"op", "transfer", "wait", "order", "launch_gap", "unexplained"}, cause);
}

Comparison compare(const Schedule& schedule, P2p p2p, const TimedRun& predicted, std::span<const TimedRun> measured,
                   std::size_t chosen, Nanoseconds residual) {
  const Timeline& other = *measured[chosen].timeline;
  if (predicted.timeline->devices != schedule.devices || other.devices != schedule.devices) {
    throw std::logic_error("compare: not runs of the schedule");
  }
  const JoinedRuns runs(schedule, *predicted.timeline, other);
  std::optional<ReplayGraph> before = ReplayGraph::build(runs, runs.predicted(), p2p);
  std::optional<ReplayGraph> after = ReplayGraph::build(runs, runs.measured(), p2p);
  if (!before) throw std::logic_error("compare: the predicted run waits for itself");
  Comparison result;
  add_figures(result, predicted, measured, chosen);
  for (const Span& span : predicted.timeline->spans) {
    result.ops += predicted.timeline->partner(span) != nullptr ? 2 : 1;
  }
  result.transfers = static_cast<std::int64_t>(predicted.timeline->transfers.size());
  result.transfers_matched = runs.transfers_matched();
  result.parts = split_gap(runs, *before, after ? &*after : nullptr, result.makespan.gap());
  for (const GapPart& part : result.parts) at(result.gap_by_cause, part.cause) += part.gap;
  result.tolerance = std::max(residual, tenth_of_mean_op(*predicted.timeline));
  result.first_divergence = find_divergence(runs, *before, result.tolerance);
  return result;
}

}  // namespace debubble
