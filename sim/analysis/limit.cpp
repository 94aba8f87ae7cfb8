#include "sim/analysis/limit.hpp"

#include <algorithm>
#include <array>

#include "sim/core/at.hpp"
#include "sim/core/share.hpp"

namespace debubble {
namespace {

constexpr double kBusyEnough = 0.05;  // bubble below which compute limits
constexpr double kDominates = 0.90;   // of the step that one device works
constexpr double kUneven = 1.05;      // busiest against least busy device

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
  [[nodiscard]] IdleCause most_of_transfers() const {
    if (contention > std::max(latency, bandwidth)) return IdleCause::kContention;
    return latency >= bandwidth ? IdleCause::kTransferLatency : IdleCause::kTransferBandwidth;
  }
};

IdleGroups group_idle(const Report& report) {
  IdleGroups groups;
  for (const DeviceReport& device : report.devices) groups.all += device.idle;
  groups.ramps = idle_by(report, IdleCause::kFill) + idle_by(report, IdleCause::kDrain);
  groups.between = idle_by(report, IdleCause::kDependency);
  groups.latency = idle_by(report, IdleCause::kTransferLatency);
  groups.bandwidth = idle_by(report, IdleCause::kTransferBandwidth);
  groups.contention = idle_by(report, IdleCause::kContention);
  for (const IdleCause cause :
       {IdleCause::kCollective, IdleCause::kStraggler, IdleCause::kMemoryLimit, IdleCause::kLaunchGap}) {
    if (idle_by(report, cause) <= groups.worst_other) continue;
    groups.worst_other = idle_by(report, cause);
    groups.other = cause;
  }
  return groups;
}

}  // namespace

const char* to_string(Limit::Kind kind) {
  return at(std::array{"compute", "device", "fill_and_drain", "dependency", "transfers", "other_cause"}, kind);
}

WorkSpread work_spread(const Report& report) {
  const auto [least_busy, busiest] =
      std::minmax_element(report.devices.begin(), report.devices.end(),
                          [](const DeviceReport& a, const DeviceReport& b) { return a.busy < b.busy; });
  return {&*busiest, &*least_busy,
          static_cast<double>(busiest->busy) > kUneven * static_cast<double>(least_busy->busy)};
}

Limit find_limit(const Report& report, const MoreMicrobatches& more_microbatches) {
  Limit limit;
  limit.share = 1 - report.bubble_ratio;
  if (report.bubble_ratio < kBusyEnough) return limit;
  const auto [busiest, least_busy, uneven] = work_spread(report);
  limit.uneven_work = uneven;
  if (limit.uneven_work && share(busiest->busy, report.makespan) >= kDominates) {
    limit.kind = Limit::Kind::kDevice;
    limit.share = share(busiest->busy, report.makespan);
    limit.device = busiest->device;
    limit.least_busy_device = least_busy->device;
    limit.least_share = share(least_busy->busy, report.makespan);
    return limit;
  }
  const IdleGroups groups = group_idle(report);
  const auto is = [&](Limit::Kind kind, Nanoseconds part, IdleCause cause) {
    limit.kind = kind;
    limit.share = share(part, groups.all);
    limit.cause = cause;
    return limit;
  };
  const Nanoseconds most = std::max({groups.ramps, groups.between, groups.transfers(), groups.worst_other});
  if (groups.ramps == most) {
    // Fill and drain of a stream are paid once, not every step: more microbatches do not reduce them.
    const bool helps = more_microbatches && !report.stream && more_microbatches->second < report.bubble_ratio;
    if (helps) limit.more_microbatches = more_microbatches;
    return is(Limit::Kind::kFillAndDrain, groups.ramps, IdleCause::kFill);
  }
  if (groups.transfers() == most) {
    return is(Limit::Kind::kTransfers, groups.transfers(), groups.most_of_transfers());
  }
  if (groups.between == most) return is(Limit::Kind::kDependency, groups.between, IdleCause::kDependency);
  return is(Limit::Kind::kOtherCause, groups.worst_other, groups.other);
}

}  // namespace debubble
