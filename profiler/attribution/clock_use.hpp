// ClockUse: how fast the GPU's clock ran, and whether it was slowed down.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "profiler/records/record.hpp"
#include "sim/core/profile.hpp"

namespace debubble::attribution {

// NVML's clocks-event reasons (nvml.h) that are faults of the machine: hardware slowdown, heat (software, hardware),
// power brake. The power cap is none: an H100 is at it in every long matmul (nvmlClocksEventReasonSwPowerCap). The
// others say that the GPU is idle or that somebody chose its clock.
inline constexpr std::uint64_t kIdleReason = 0x1;
inline constexpr std::uint64_t kPowerCapReason = 0x4;
inline constexpr std::uint64_t kSlowingReasons = 0x8 | 0x20 | 0x40 | 0x80;

inline constexpr std::int64_t kMostDriftPpm = 30'000;   // 3 %: beyond it, the clock or the work changed
inline constexpr std::int64_t kMostSlowedPercent = 10;  // of the samples

class ClockUse {
 public:
  void add(const ClockRecord& record) {
    if ((record.slowed_by & kIdleReason) != 0) return;  // says nothing about the work
    state_.least_mhz = state_.samples == 0 ? record.sm_mhz : std::min(state_.least_mhz, record.sm_mhz);
    state_.most_mhz = std::max(state_.most_mhz, record.sm_mhz);
    ++state_.samples;
    if ((record.slowed_by & kSlowingReasons) != 0) ++state_.slowed_samples;
    if ((record.slowed_by & kPowerCapReason) != 0) ++state_.power_capped_samples;
  }

  // Of several streams the largest drift counts.
  void add_drift(std::int64_t ppm) {
    if (!state_.drift_ppm || std::abs(*state_.drift_ppm) < std::abs(ppm)) state_.drift_ppm = ppm;
  }

  [[nodiscard]] bool drifted() const { return state_.drift_ppm.value_or(0) > kMostDriftPpm; }
  [[nodiscard]] bool slowed() const {
    return state_.samples > 0 && state_.slowed_samples > state_.samples / 100 * kMostSlowedPercent +
                                                             state_.samples % 100 * kMostSlowedPercent / 100;
  }
  [[nodiscard]] ClockState state() const {
    ClockState result = state_;
    result.throttled = drifted() || slowed();
    return result;
  }

 private:
  ClockState state_;
};

}  // namespace debubble::attribution
