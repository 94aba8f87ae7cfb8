// Uniform costs: every stage alike, from --times in toy units. 1.0 is one millisecond and one mebibyte.
#pragma once

#include <optional>

#include "sim/core/stage_costs.hpp"

namespace debubble {

// Times of one device's share (1/p of the model) for one microbatch; a chunk costs and holds 1/chunks of it.
struct UniformTimes {
  Nanoseconds forward = kNanosecondsPerMillisecond;
  Nanoseconds input_grad = kNanosecondsPerMillisecond;
  Nanoseconds weight_grad = kNanosecondsPerMillisecond;
  std::optional<Nanoseconds> backward;         // absent: input_grad + weight_grad
  std::optional<Nanoseconds> overlapped_pair;  // absent: the sum of its members
  double weight_share = 1.0;                   // share of an activation that stays from I to the end of W, 0..1
};

// `stages` equal stages, `chunks` of them per device share. Durations are rounded to the nearest nanosecond.
[[nodiscard]] StageCosts uniform_costs(const UniformTimes& times, int stages, int chunks);

}  // namespace debubble
