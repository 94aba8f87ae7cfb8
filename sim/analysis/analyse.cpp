#include "sim/analysis/analyse.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/analysis/critical_path.hpp"
#include "sim/analysis/idle.hpp"
#include "sim/analysis/memory.hpp"
#include "sim/analysis/path_parts.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/at.hpp"
#include "sim/core/piece_share.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {
namespace {

// What a training step spends in addition to the ops of its schedule, by kind of task.

struct Interval {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// When each device's compute lane works, in order and apart.
std::vector<std::vector<Interval>> busy_times(const Timeline& timeline) {
  std::vector<std::vector<Interval>> busy(static_cast<std::size_t>(timeline.devices));
  const auto add = [&](const auto& thing) { busy[to_index(thing.device)].push_back({thing.begin, thing.end}); };
  for (const Span& span : timeline.spans) add(span);
  for (const StepSpan& step : timeline.steps) {
    if (step.lane == StepTask::Lane::kCompute) add(step);
  }
  for (auto& lane : busy) {
    std::sort(lane.begin(), lane.end(),
              [](Interval a, Interval b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  }
  return busy;
}

// How much of [begin, end) the lane works.
Nanoseconds hidden(const std::vector<Interval>& lane, Nanoseconds begin, Nanoseconds end) {
  auto at = std::partition_point(lane.begin(), lane.end(), [&](Interval one) { return one.end <= begin; });
  Nanoseconds sum = 0;
  for (; at != lane.end() && at->begin < end; ++at) sum += std::min(at->end, end) - std::max(at->begin, begin);
  return sum;
}

// Of one op's time.
Nanoseconds inside_op(const Op& op, const PieceShares& shares, const StageCosts& costs) {
  if (is_vocabulary(op.kind)) return 0;
  const StageCost& cost = costs.stages[to_index(op.stage)];
  const int piece_class = shares.class_of(op.microbatch);
  switch (op.kind) {
    case OpKind::kForward:
      return shares.part(cost.forward_collective, piece_class);
    case OpKind::kBackward:
    case OpKind::kInputGrad:  // the cost is that of I and W together
      return shares.part(cost.backward_collective, piece_class);
    case OpKind::kRecompute:  // the whole forward again, or a part without collectives
      return cost.recompute == cost.forward ? shares.part(cost.forward_collective, piece_class) : 0;
    case OpKind::kWeightGrad:
    case OpKind::kVocabularyLogits:
    case OpKind::kVocabularyGradient:
      return 0;
  }
  return 0;
}

// Nothing where the timeline has no tasks of a step. A kind's times are those of the device that spends most on it (the
// first of several). A collective is exposed while the device's compute lane does nothing else; what holds the lane is
// exposed throughout.
std::optional<StepReport> report_step(const Timeline& timeline) {
  if (timeline.steps.empty()) return std::nullopt;
  StepReport report;
  for (const Span& span : timeline.spans) report.pipeline_end = std::max(report.pipeline_end, span.end);
  const auto busy = busy_times(timeline);
  const auto devices = static_cast<std::size_t>(timeline.devices);
  std::array<std::vector<StepPart>, kStepKinds> sums;  // by device
  std::array<std::set<std::int32_t>, kStepKinds> tasks;
  for (const StepSpan& step : timeline.steps) {
    const auto kind = static_cast<std::size_t>(step.kind);
    const auto device = static_cast<std::size_t>(step.device);
    tasks[kind].insert(step.task);
    if (sums[kind].empty()) sums[kind].resize(devices);
    StepPart& sum = sums[kind][device];
    const bool computes = step.lane == StepTask::Lane::kCompute;
    sum.time += step.end - step.begin;
    sum.exposed += step.end - step.begin - (computes ? 0 : hidden(busy[device], step.begin, step.end));
    sum.contention += step.contention;
    sum.bytes += step.bytes;
  }
  for (std::size_t kind = 0; kind < kStepKinds; ++kind) {
    if (tasks[kind].empty()) continue;
    StepPart part = *std::max_element(sums[kind].begin(), sums[kind].end(),
                                      [](const StepPart& a, const StepPart& b) { return a.time < b.time; });
    part.kind = static_cast<StepTask::Kind>(kind);
    part.tasks = static_cast<int>(tasks[kind].size());
    report.parts.push_back(part);
  }
  return report;
}

// Of all ops' time, the collectives inside their stages, as their stages' costs say; where an op varies, they are
// counted at their usual length.
Nanoseconds inside_collectives(const Timeline& timeline, const Schedule& schedule, const StageCosts& costs) {
  const PieceShares shares(schedule);
  Nanoseconds sum = 0;
  for (const Span& span : timeline.spans) {
    const Op* const partner = timeline.partner(span);
    sum += inside_op(span.op, shares, costs) + (partner != nullptr ? inside_op(*partner, shares, costs) : 0);
  }
  return sum;
}

double ratio_of(Nanoseconds part, double whole) { return whole > 0 ? static_cast<double>(part) / whole : 0.0; }

// Whether it is the highest so far, so that its peak_memory_op is to be set.
bool add_level(const BytesByCategory& bytes, Nanoseconds at, DeviceReport& report) {
  const Bytes activation =
      bytes[to_index(MemoryCategory::kActivations)] + bytes[to_index(MemoryCategory::kHeldForWeightGrad)];
  report.peak_activation = std::max(report.peak_activation, activation);
  if (total(bytes) <= report.peak_memory) return false;
  report.peak_memory = total(bytes);
  report.peak_by_category = bytes;
  report.peak_memory_at = at;
  return true;
}

void add_memory(const MemoryWalk& walk, const Timeline& timeline, DeviceReport& report) {
  report.peak_host_memory = walk.peak_host(report.device);
  report.peak_by_category = walk.resident(report.device);
  report.peak_memory = total(report.peak_by_category);
  walk.run(report.device, [&](Nanoseconds at, const BytesByCategory& bytes, const Gate& cause) {
    if (add_level(bytes, at, report)) report.peak_memory_op = peak_op(cause, timeline);
  });
}

DeviceReport device_report(const Timeline& timeline, const MemoryWalk& walk, IdleTimes& idle, int device) {
  DeviceReport report;
  report.device = device;
  const auto d = static_cast<std::size_t>(device);
  for (std::int32_t k = timeline.device_begin[d]; k < timeline.device_begin[d + 1]; ++k) {
    const Span& span = timeline.spans[to_index(k)];
    report.busy += span.end - span.begin;
  }
  report.busy += idle.steps_busy(device);
  report.idle_by_cause = idle.of(device);
  add_memory(walk, timeline, report);
  return report;
}

// Of the compute lane, with the steps that hold it.
Nanoseconds longest_span(const Timeline& timeline) {
  const auto devices = static_cast<std::size_t>(timeline.devices);
  std::vector<Nanoseconds> begin(devices, timeline.makespan);
  std::vector<Nanoseconds> end(devices, 0);
  const auto add = [&](const auto& thing) {
    const auto d = static_cast<std::size_t>(thing.device);
    begin[d] = std::min(begin[d], thing.begin);
    end[d] = std::max(end[d], thing.end);
  };
  for (const Span& span : timeline.spans) add(span);
  for (const StepSpan& step : timeline.steps) {
    if (step.lane == StepTask::Lane::kCompute) add(step);
  }
  Nanoseconds longest = 0;
  for (std::size_t d = 0; d < devices; ++d) longest = std::max(longest, end[d] - begin[d]);
  return longest;
}

// Replicas, or, where they are only routes through shared stages, the most devices that share one.
int weight_copies(const Schedule& schedule) {
  const Placement& placement = schedule.placement;
  if (!schedule.replicas_share_weights) return placement.replicas();
  int most = 1;
  for (int stage = 0; stage < placement.stages(); ++stage) {
    std::set<std::int32_t> devices;
    for (int route = 0; route < placement.replicas(); ++route) devices.insert(placement.device_of(route, stage));
    most = std::max(most, static_cast<int>(devices.size()));
  }
  return most;
}

// What follows from what each device has been busy with, why it was idle, and its peaks.
Report report_of_devices(const Schedule& schedule, const StageCosts& costs, const Timeline& timeline,
                         std::vector<DeviceReport> devices) {
  Report report;
  report.schedule = facts_of(schedule);
  report.makespan = timeline.makespan;
  report.span = longest_span(timeline);
  report.weight_copies = weight_copies(schedule);
  report.devices = std::move(devices);
  const auto count = static_cast<int>(report.devices.size());
  const double share = activation_share(costs, count);
  Nanoseconds busy = 0;
  for (DeviceReport& device : report.devices) {
    device.idle = report.makespan - device.busy;
    device.bubble_ratio = ratio_of(device.idle, static_cast<double>(report.makespan));
    device.peak_activation_shares = share > 0 ? static_cast<double>(device.peak_activation) / share : 0.0;
    busy += device.busy;
  }
  const Nanoseconds idle = report.makespan * count - busy;
  const double ideal = static_cast<double>(busy) / count;
  report.ideal = (busy + count / 2) / count;
  report.bubble_ratio = ratio_of(idle, static_cast<double>(report.makespan) * count);
  report.bubble_over_ideal = ratio_of(idle, static_cast<double>(busy));
  report.span_bubble_ratio =
      report.span > 0 ? (static_cast<double>(report.span) - ideal) / static_cast<double>(report.span) : 0.0;
  return report;
}

}  // namespace

double activation_share(const StageCosts& costs, int devices) {
  double sum = 0;
  for (const StageCost& stage : costs.stages) sum += static_cast<double>(stage.activation);
  return sum / devices;
}

ScheduleFacts facts_of(const Schedule& schedule) {
  const int replicas = schedule.replicas_share_weights ? 1 : schedule.placement.replicas();
  return {schedule.name, schedule.devices, schedule.stages, schedule.microbatches, schedule.chunks,
          replicas,      schedule.params,  schedule.pieces, schedule.sliced};
}

Report analyse(const Timeline& timeline, const Schedule& schedule, const StageCosts& costs) {
  const MemoryWalk walk(timeline, schedule, costs);
  IdleTimes idle_times(timeline);
  std::vector<DeviceReport> devices;
  for (int device = 0; device < timeline.devices; ++device) {
    devices.push_back(device_report(timeline, walk, idle_times, device));
  }
  Report report = report_of_devices(schedule, costs, timeline, std::move(devices));
  for (const Transfer& transfer : timeline.transfers) {
    report.p2p_bytes += transfer.bytes;
    ++report.p2p_messages;
  }
  report.copies = static_cast<std::int64_t>(timeline.copies.size());
  report.critical_path = sum_critical_path(timeline);
  report.step = report_step(timeline);
  report.inside_collectives = inside_collectives(timeline, schedule, costs);
  if (schedule.asynchrony) {
    report.stream.emplace();
    report.stream->versions = to_string(schedule.asynchrony->versions);
    report.stream->update_every = schedule.asynchrony->update_every;
    report.stream->stages = weight_versions(schedule);
  }
  return report;
}

}  // namespace debubble
