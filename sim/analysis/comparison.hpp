// Comparison: a predicted and a measured run of one schedule, compared op by op, and why they differ.
//
//     predicted  d0 |F0|F1|....|B0|..       measured  d0 |F0|F1|......|B0  |..
//                d1    |F0|B0  |F1|                   d1    |F0 |B0   |F1 |      1F and 1B slower, B0 late for it
//
// The gap in makespan is split by successive replays of the dependency graph. The first one has the predicted
// durations, transfers, order and launch gaps, and gives the predicted makespan. Then the measured values are put in,
// one thing after the other; what the makespan grows by is that thing's part:
//     1. durations of ops, one group (device, kind, stage) at a time, in the order of stages, kinds, devices
//     2. transfers, one directed link at a time: how long they take
//     3. waits, one directed link at a time: how long after what it carries was made each transfer begins
//     4. the order in which each device runs its ops (and, where transfers hold lanes, in which it takes part in them)
//     5. launch gaps, one device at a time: how long after everything it waited for each op begins
//     6. what is left: measured times that no replay allows, such as ops that begin before their inputs arrived
// So the parts add up to the gap exactly. Limits: where two slow things hide each other, or would each do alone, the
// order above decides which one is blamed; a part says how much of the gap goes away with it when what precedes it
// in the list is repaired first. A slow group that others hide has part 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/analysis/durations.hpp"
#include "sim/analysis/figure.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

enum class GapCause : std::uint8_t { kOp, kTransfer, kWait, kOrder, kLaunchGap, kUnexplained };
inline constexpr int kGapCauses = 6;
[[nodiscard]] const char* to_string(GapCause cause);  // "op", "transfer", "wait", "order", "launch_gap", "unexplained"

// What one thing adds to the makespan.
struct GapPart {
  GapCause cause = GapCause::kUnexplained;
  Nanoseconds gap = 0;          // its part of measured - predicted makespan; may be 0
  std::int32_t device = -1;     // kOp, kLaunchGap: where; kTransfer, kWait: the sender
  std::int32_t to_device = -1;  // kTransfer, kWait
  Op op{};                      // kOp: kind and stage; the microbatch means nothing
  Op partner{};                 // of overlapped pairs, when `paired`
  bool paired = false;
  std::int64_t count = 0;     // ops or transfers in the group; kOrder: devices whose order differs
  Nanoseconds predicted = 0;  // sums over the group: durations, of kWait and kLaunchGap waits
  Nanoseconds measured = 0;
};

// Where the two runs part, by measured begin: the earliest op in another place of its device's order, or, if it began
// before that one, the earliest op or transfer that itself (not what it waited for) takes longer than predicted by more
// than the tolerance.
struct Divergence {
  enum class Kind : std::uint8_t { kOrder, kOp, kTransfer, kLaunchGap };
  Kind kind = Kind::kOp;
  std::int32_t device = 0;      // of a transfer: the sender
  std::int32_t to_device = -1;  // kTransfer
  Op op{};                      // that ran
  Op expected{};                // kOrder: that was due
  Nanoseconds predicted_begin = 0;
  Nanoseconds measured_begin = 0;
  Nanoseconds late = 0;  // its own, not inherited
};

struct DeviceFigures {
  Figure<Nanoseconds> busy;
  Figure<double> bubble_ratio;
  Figure<Bytes> peak_memory;
  Figure<Bytes> peak_activation;
};

struct Comparison {
  Figure<Nanoseconds> makespan;
  Figure<double> bubble_ratio;
  Figure<double> bubble_over_ideal;
  std::vector<DeviceFigures> devices;
  std::vector<OpDurations> ops_by_stage;
  std::vector<LinkDurations> links;
  std::int64_t ops = 0;  // all of them matched, or `compare` throws
  std::int64_t transfers = 0;
  std::int64_t transfers_matched = 0;                  // the others were not seen: they take what was predicted
  std::array<Nanoseconds, kGapCauses> gap_by_cause{};  // adds up to makespan.gap() exactly
  std::vector<GapPart> parts;                          // largest first, whatever the sign; they add up to the same
  std::optional<Divergence> first_divergence;
  Nanoseconds tolerance = 0;  // of first_divergence
};

struct TimedRun {
  const Timeline* timeline = nullptr;
  const Report* report = nullptr;
};

// `measured` holds the iterations; the one numbered `chosen` is compared, the others give the percentiles. Both runs
// are of `schedule`, in whatever order; `p2p` is how transfers met the lanes. `residual` is by how much the measured
// clocks may differ: the tolerance of the first divergence is no less, nor less than a tenth of the mean op.
// Linear in the number of ops for each group that differs. Throws InputError D010 when a run lacks an op of the other.
[[nodiscard]] Comparison compare(const Schedule& schedule, P2p p2p, const TimedRun& predicted,
                                 std::span<const TimedRun> measured, std::size_t chosen, Nanoseconds residual = 0);

}  // namespace debubble
