// Clocks of the ranks aligned to that of rank 0, by round trips before and after the run.
//
//     rank 0   t0 ────────╲                ╱──────── t1        offset = (t0 + t1) / 2 - t, which is wrong by
//     rank r               ╲──────  t ────╱                    (t1 - t0) / 2 at most; the shortest trip counts
//
// Between the two readings a clock drifts evenly: the offset is interpolated.
#pragma once

#include <functional>
#include <vector>

#include "live/mpi/control_channel.hpp"
#include "sim/core/run_record.hpp"
#include "sim/core/units.hpp"

namespace debubble::live {

// What must be added to a rank's clock, when it shows `at`, to get rank 0's; wrong by `error` at most.
struct ClockReading {
  Nanoseconds at = 0;
  Nanoseconds offset = 0;
  Nanoseconds error = 0;
};

// Call in every rank. At rank 0: one reading per rank, its own all 0; elsewhere empty.
[[nodiscard]] std::vector<ClockReading> read_clocks(MessagePassing& passing, ControlChannel& channel,
                                                    const std::function<Nanoseconds()>& now);

// A time of this rank on rank 0's clock.
[[nodiscard]] Nanoseconds aligned(Nanoseconds time, const ClockReading& before, const ClockReading& after);

// Residual: two ranks may each be wrong by their error, so the sum of the two largest.
[[nodiscard]] ClockAlignment alignment_of(const std::vector<ClockReading>& before,
                                          const std::vector<ClockReading>& after);

// By how much a message's leaving, told to its receiver with the offsets of `before`, may be wrong on the receiver's
// clock: the residual, and what the two clocks that drifted most did since.
[[nodiscard]] Nanoseconds leaving_error(const std::vector<ClockReading>& before,
                                        const std::vector<ClockReading>& after);

}  // namespace debubble::live
