// How long ops and transfers took, by what should take equally long: the ops of one kind on one stage, the transfers of
// one link. What was assumed against what was measured, in the compared iteration and over all of them.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "sim/analysis/figure.hpp"
#include "sim/core/op.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// What should take equally long: stage, kind, whether it is an overlapped pair, its partner's stage (-1: none), device.
using OpGroup = std::tuple<std::int32_t, OpKind, bool, std::int32_t, std::int32_t>;
[[nodiscard]] OpGroup op_group(const Span& span, const Timeline& timeline);

// Medians: predicted of the predicted run, measured of the chosen iteration; low, high and median over the ops (or
// transfers) of all iterations.
struct OpDurations {
  std::int32_t device = 0;
  Op op;       // kind and stage; the microbatch means nothing
  Op partner;  // of overlapped pairs, when `paired`
  bool paired = false;
  std::int64_t count = 0;  // in one iteration
  Figure<Nanoseconds> duration;
};

struct LinkDurations {
  std::int32_t from = 0;
  std::int32_t to = 0;
  Bytes bytes = 0;         // of one transfer; 0: unknown
  std::int64_t count = 0;  // that were observed, in all iterations
  Figure<Nanoseconds> duration;
  // The median over the other links of their medians, of transfers of the same size; 0 without such.
  Nanoseconds others = 0;
  std::int64_t slow_steps = 0;  // iterations in which this link's median is kSlowLink times that of the others, or more

  // At least kSlowLink times slower than the others, in nine of ten iterations, and by more than clocks may differ.
  [[nodiscard]] bool is_slow(std::size_t iterations, Nanoseconds residual) const;
  [[nodiscard]] double factor() const { return static_cast<double>(duration.median) / static_cast<double>(others); }
};
inline constexpr double kSlowLink = 1.5;

// By stage, kind, partner and device. All timelines are of one schedule.
[[nodiscard]] std::vector<OpDurations> op_durations(const Timeline& predicted,
                                                    std::span<const Timeline* const> measured, std::size_t chosen);
// By sender, then receiver, then size: of links on which transfers were observed in every iteration.
[[nodiscard]] std::vector<LinkDurations> link_durations(const Timeline& predicted,
                                                        std::span<const Timeline* const> measured, std::size_t chosen);

}  // namespace debubble
