// What planners' decisions are worth: each one simulated as a step of 1F1B with a flush, whatever the planner
// predicted.
//
// One device of the simulated pipeline per stage. Rules that a PlannerDecision leaves open:
//  - every replica takes its share of each microbatch (DAPPLE's runtime), so that r replicas take 1/r of the time; a
//    stage is as slow as its slowest device;
//  - what crosses a cut is shared by the replicas of the narrower side, over the slowest of the pairs;
//  - after its last backward a stage with replicas exchanges its weights in a ring over its slowest pair; the step ends
//    with the last exchange;
//  - memory of a device: weights, gradients and optimizer state, whole on every replica, its share of the activations
//  in
//    flight, and what it received; workspace and buffers are left out.
// A decision that orders its ops (optpipe) runs in that order, its backwards in two halves. A decision that recomputes
// ("recompute", "yes") runs each stage's forward once more and keeps its input only; one that makes microbatches larger
// ("microbatch", "2 times the job's") has fewer of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/program.hpp"
#include "studies/planners/catalog.hpp"

namespace debubble {

struct DecisionWorth {
  Nanoseconds step = 0;
  Bytes peak_memory = 0;  // of the device that takes most
  bool fits = true;       // every device in its memory, where it is limited
};

// Throws InputError Z003 for a decision without stages, or a job whose layers are states of a graph with negative
// times.
[[nodiscard]] DecisionWorth decision_worth(const PlannerJob& job, const PlannerDecision& decision);

// The same for many decisions about one job, which must outlive it: orders of ops are made once.
class DecisionWorths {
 public:
  explicit DecisionWorths(const PlannerJob& job) : job_(job) {}

  [[nodiscard]] DecisionWorth of(const PlannerDecision& decision);

 private:
  const PlannerJob& job_;
  std::map<std::pair<int, int>, Program> programs_;  // by stages and microbatches
};

}  // namespace debubble
