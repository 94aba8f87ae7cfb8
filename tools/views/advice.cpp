#include "tools/views/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "formats/text/quantities.hpp"
#include "sim/core/at.hpp"
#include "tools/views/share.hpp"

namespace debubble {
namespace {

constexpr double kBusyEnough = 0.05;    // bubble below which compute limits
constexpr double kDominates = 0.90;     // of the step that one device works
constexpr double kUnevenAdvice = 1.05;  // busiest against least busy device

Nanoseconds idle_total(const Report& report, IdleCause cause) {
  Nanoseconds sum = 0;
  for (const DeviceReport& device : report.devices) sum += at(device.idle_by_cause, cause);
  return sum;
}

// Idle time of all devices in the groups that a person can do something about.
struct IdleGroups {
  Nanoseconds all = 0;
  Nanoseconds ramps = 0;
  Nanoseconds between = 0;
  Nanoseconds latency = 0;
  Nanoseconds bandwidth = 0;
  Nanoseconds contention = 0;
  Nanoseconds worst_other = 0;
  IdleCause other = IdleCause::kCollective;

  [[nodiscard]] Nanoseconds transfers() const { return latency + bandwidth + contention; }
};

IdleGroups group_idle(const Report& report) {
  IdleGroups groups;
  for (const DeviceReport& device : report.devices) groups.all += device.idle;
  groups.ramps = idle_total(report, IdleCause::kFill) + idle_total(report, IdleCause::kDrain);
  groups.between = idle_total(report, IdleCause::kDependency);
  groups.latency = idle_total(report, IdleCause::kTransferLatency);
  groups.bandwidth = idle_total(report, IdleCause::kTransferBandwidth);
  groups.contention = idle_total(report, IdleCause::kContention);
  for (const IdleCause cause :
       {IdleCause::kCollective, IdleCause::kStraggler, IdleCause::kMemoryLimit, IdleCause::kLaunchGap}) {
    if (idle_total(report, cause) <= groups.worst_other) continue;
    groups.worst_other = idle_total(report, cause);
    groups.other = cause;
  }
  return groups;
}

std::string with_flags(std::string command, const AdviceContext& context) {
  if (!context.flags.empty()) command += " " + context.flags;
  return command;
}

std::string compare_command(const Report& report, const AdviceContext& context) {
  return with_flags(fmt::format("debubble compare -p {} -m {}", report.schedule.devices, report.schedule.microbatches),
                    context);
}

// The same run with other numbers of microbatches and chunks.
std::string simulate_command(const ScheduleFacts& facts, int microbatches, int chunks, const AdviceContext& context) {
  std::string command =
      fmt::format("debubble simulate --schedule {} -p {} -m {}",
                  context.schedule.empty() ? facts.name : context.schedule, facts.devices, microbatches);
  if (chunks > 1) command += fmt::format(" -v {}", chunks);
  return with_flags(std::move(command), context);
}

Advice compute_limits(const Report& report, const AdviceContext& context) {
  return {fmt::format("compute: devices work {} of the step; only less work per microbatch makes it shorter",
                      format_percent(1 - report.bubble_ratio)),
          compare_command(report, context)};
}

Advice one_device_limits(const Report& report, const DeviceReport& busiest, const DeviceReport& laziest,
                         const AdviceContext& context) {
  Advice advice;
  advice.uneven_work = true;
  advice.limit = fmt::format("device d{}: it works {} of the step, d{} only {}", busiest.device,
                             format_percent(share(busiest.busy, report.makespan)), laziest.device,
                             format_percent(share(laziest.busy, report.makespan)));
  if (context.own_partition) advice.limit += "; move layers away from it";
  if (context.auto_partition) advice.limit += "; no cut of the layers is more even";
  advice.next = context.own_partition ? "the same command with --partition auto" : compare_command(report, context);
  return advice;
}

// Fill and drain of a stream are paid once, not every step: more microbatches are no way out of them.
Advice stream_ends(const Report& report, const IdleGroups& groups, const AdviceContext& context) {
  const std::optional<StreamPeriod>& period = report.stream->period;
  if (!period) {
    return {fmt::format("a stream fills and drains once: {} of the idle time",
                        format_percent(share(groups.ramps, groups.all))),
            compare_command(report, context)};
  }
  const auto each = static_cast<Nanoseconds>(std::llround(period->per_microbatch()));
  return {fmt::format("a stream fills and drains once; then one microbatch every {}", format_duration(each)),
          compare_command(report, context)};
}

Advice ramps_limit(const Report& report, const IdleGroups& groups, const AdviceContext& context) {
  const ScheduleFacts& facts = report.schedule;
  if (report.stream) return stream_ends(report, groups, context);
  const double ramp_part = share(groups.ramps, groups.all);
  Advice advice;
  advice.limit = fmt::format("pipeline fill and drain: {} of the idle time", format_percent(ramp_part));
  advice.next = compare_command(report, context);
  if (!context.more_microbatches) return advice;
  const auto [microbatches, bubble_ratio] = *context.more_microbatches;
  if (bubble_ratio >= report.bubble_ratio) return advice;
  advice.limit += fmt::format("; with -m {} the bubble is {} of the step", microbatches, format_percent(bubble_ratio));
  // The two plain schedules have better ones beside them; the others are those, and need more microbatches.
  const bool plain =
      context.flags.find("--transform") == std::string::npos && (facts.name == "gpipe" || facts.name == "1f1b");
  if (!plain) advice.next = simulate_command(facts, microbatches, facts.chunks, context);
  return advice;
}

Advice transfers_limit(const Report& report, const IdleGroups& groups, const AdviceContext& context) {
  const char* most = groups.latency >= groups.bandwidth ? "latency" : "bandwidth";
  if (groups.contention > std::max(groups.latency, groups.bandwidth)) most = "contention with other traffic";
  const CriticalPath& path = report.critical_path;
  Advice advice;
  advice.limit = fmt::format(
      "transfers: {} of the idle time, most of it {}; {} hops and {} of the critical path are transfers",
      format_percent(share(groups.transfers(), groups.all)), most, path.hops, format_duration(path.transfer));
  advice.next = report.schedule.chunks > 2 ? simulate_command(report.schedule, report.schedule.microbatches,
                                                              report.schedule.chunks / 2, context)
                                           : compare_command(report, context);
  return advice;
}

}  // namespace

Advice advise(const Report& report, const AdviceContext& context) {
  if (report.bubble_ratio < kBusyEnough) return compute_limits(report, context);
  const auto [laziest, busiest] =
      std::minmax_element(report.devices.begin(), report.devices.end(),
                          [](const DeviceReport& a, const DeviceReport& b) { return a.busy < b.busy; });
  const bool uneven = static_cast<double>(busiest->busy) > kUnevenAdvice * static_cast<double>(laziest->busy);
  if (uneven && share(busiest->busy, report.makespan) >= kDominates) {
    return one_device_limits(report, *busiest, *laziest, context);
  }
  const IdleGroups groups = group_idle(report);
  const Nanoseconds transfers = groups.transfers();
  const Nanoseconds most = std::max({groups.ramps, groups.between, transfers, groups.worst_other});
  if (groups.ramps == most) return ramps_limit(report, groups, context);
  if (transfers == most) return transfers_limit(report, groups, context);
  if (groups.between == most) {
    const char* why = uneven ? "stages are not equal" : "the order of ops leaves gaps";
    return {fmt::format("waiting for compute elsewhere between fill and drain: {} of the idle time; {}",
                        format_percent(share(groups.between, groups.all)), why),
            compare_command(report, context)};
  }
  std::string name = to_string(groups.other);
  std::replace(name.begin(), name.end(), '_', ' ');
  return {fmt::format("{}: {} of the idle time", name, format_percent(share(groups.worst_other, groups.all))),
          compare_command(report, context)};
}

}  // namespace debubble
