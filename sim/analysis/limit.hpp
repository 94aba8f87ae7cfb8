// Limit: what keeps a step from being shorter, with the numbers that this rests on. Rules of thumb:
//
// - Devices idle for less than 5 % of the step: compute limits.
// - One device works at least 90 % of the step and another clearly less: that device limits.
// - Otherwise the largest of fill and drain, waiting for compute in between, transfers, and other causes of idle time.
#pragma once

#include <optional>
#include <utility>

#include "sim/analysis/report.hpp"

namespace debubble {

// The same schedule with more microbatches, simulated: how many, and its bubble_ratio; nothing where that is not to be
// had.
using MoreMicrobatches = std::optional<std::pair<int, double>>;

struct Limit {
  enum class Kind { kCompute, kDevice, kFillAndDrain, kDependency, kTransfers, kOtherCause };
  Kind kind = Kind::kCompute;
  // kCompute: of the step, that devices work on average. kDevice: of the step, that the device works. Otherwise: of the
  // idle time of all devices.
  double share = 0;
  int device = -1;             // kDevice: the busiest
  int least_busy_device = -1;  // and the one that works least
  double least_share = 0;      // of the step, that this one works
  // kTransfers: most of it, one of latency, bandwidth and contention. kOtherCause: the cause.
  IdleCause cause = IdleCause::kFill;
  bool uneven_work = false;  // kDependency: stages are not equal; otherwise the order leaves gaps
  // kFillAndDrain of a schedule with a flush: that many microbatches give this bubble_ratio, which is smaller.
  MoreMicrobatches more_microbatches;
};

// The devices that work most and least; uneven: the busiest works over 5 % more.
struct WorkSpread {
  const DeviceReport* busiest = nullptr;
  const DeviceReport* least_busy = nullptr;
  bool uneven = false;
};

// Points into `report`, which must have devices.
[[nodiscard]] WorkSpread work_spread(const Report& report);

[[nodiscard]] const char* to_string(Limit::Kind kind);  // "compute", "device", "fill_and_drain", ...: the JSON's words

// `report` must have a result, and a makespan over 0.
[[nodiscard]] Limit find_limit(const Report& report, const MoreMicrobatches& more_microbatches = std::nullopt);

}  // namespace debubble
