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
  std::optional<Nanoseconds> backward;            // absent: input_grad + weight_grad
  std::optional<Nanoseconds> overlapped_pair;     // absent: the sum of its members
  std::optional<Nanoseconds> recompute;           // absent: as long as the forward
  Nanoseconds copy = kNanosecondsPerMillisecond;  // one way of an activation, to the host or a peer, or back
  std::optional<Nanoseconds> logits;              // S and T of one device's shard of the output layer; absent: see
  std::optional<Nanoseconds> gradient;            // uniform_vocabulary
  double weight_share = 1.0;                      // share of an activation that stays from I to the end of W, 0..1
  Bytes activation = kMebibyte;                   // of one device share and microbatch
};

// `stages` equal stages, `chunks` of them per device share. Durations are rounded to the nearest nanosecond. Nothing is
// kept of an activation that is recomputed.
[[nodiscard]] StageCosts uniform_costs(const UniformTimes& times, int stages, int chunks);

// The same where stages are shared by devices, so that a stage is devices/stages device shares.
[[nodiscard]] StageCosts shared_stage_costs(const UniformTimes& times, int stages, int devices);

// One shard of an output layer that as a whole takes as long as one device share, forward and backward; half of it is
// S, half T, unless their times are given.
[[nodiscard]] VocabularyCost uniform_vocabulary(const UniformTimes& times, int devices);

// What a transform says about recomputation: R as a share of the forward, the checkpoint as a share of the activation.
// What is absent stays.
void set_recompute_shares(StageCosts& costs, std::optional<double> time, std::optional<double> keep);

}  // namespace debubble
