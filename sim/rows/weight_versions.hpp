// Which copy of the weights every F and every B of a stream reads, by counting alone: no time is needed, the order of
// each device decides. (Part of every asynchronous schedule's description; the words are PipeDream's.)
//
//     PipeDream on stage 1 of 3            F0  F1  B0  F2  B1  F3  B2
//     updates done when the op begins       0   0   0   1   1   2   2
//
// F2 reads version 1, and its gradient becomes update 2: one update late. Its B reads version 1 again, from a stash, so
// versions 1 and 2 live side by side until B2 has ended.
//
// A stage makes a version after every `update_every` backward passes of each of its devices. Where several devices
// share a stage they update together, so each device's own order tells how far the stage has come.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/schedule.hpp"

namespace debubble {

// A count of updates over the microbatches of a stage.
struct UpdateCount {
  double mean = 0;
  int least = 0;
  int most = 0;

  friend bool operator==(const UpdateCount&, const UpdateCount&) = default;
};

// What a stage reads and holds. The three counts are over the steady part of its stream: whole updates, without the
// microbatches whose F ran before the stage's first B, for they read the first weights whatever the delay. A run too
// short to have such a part counts all its microbatches.
struct StageVersions {
  int stage = 0;
  int devices = 1;            // that share the stage, each with weights of its own
  UpdateCount forward_late;   // updates done when the gradient is applied, less those done when F read
  UpdateCount backward_late;  // the same for B
  // |version that B reads - version that F read|. A predicted copy counts as the version that it predicts.
  UpdateCount inconsistent;
  int forward_ahead = 0;   // updates that F predicts beyond the weights it reads, at most; 0: no prediction
  int backward_ahead = 0;  // the same for B
  int live_versions = 1;   // most versions at once on one device of the stage, the newest included; in the whole run
  int extra_copies = 0;    // weight-sized buffers in addition to them
  int in_flight = 0;       // most microbatches between the start of F and the end of B or I, on one device

  // Copies of the stage's weights that one device holds in addition to the one that every schedule has.
  [[nodiscard]] int copies_beyond_one() const { return live_versions - 1 + extra_copies; }

  friend bool operator==(const StageVersions&, const StageVersions&) = default;
};

// By stage. Empty for a schedule with a flush: all its microbatches read the newest weights. Linear in the number of
// ops, times the logarithm of the versions in flight.
[[nodiscard]] std::vector<StageVersions> weight_versions(const Schedule& schedule);

// Weight-sized buffers in addition to the one copy that every replica's stage has, by replica, then stage (as in a
// Placement); empty for a schedule with a flush.
[[nodiscard]] std::vector<std::int32_t> extra_weight_copies(const Schedule& schedule);

// How stale gradients limit the step size: on a quadratic of curvature c, plain gradient descent with gradients `late`
// updates late is stable as long as step size x c stays below this. 2 without delay, and about pi / (2 late) for long
// ones. `late` >= 0; for fractions it is the same formula.  PipeMare (arXiv 1910.05124).
[[nodiscard]] double largest_stable_step(double late);

// The same for a stage's latest gradients, over the largest step without delay: 0..1. A prediction does not count: how
// well it holds depends on the training.
[[nodiscard]] double stable_step_ratio(const StageVersions& stage);

}  // namespace debubble
