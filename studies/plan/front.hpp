// The front of step time against memory: every way to run the job that no other beats in both.
//
//     memory |  a                a is the fastest; each further point takes less memory and more time; what is not a
//            |      b            point needs no less memory than one that is as fast
//            |           c
//            +-------------- step
//
// One pass over the space, least step bound first: what a point already found beats in both, by its bounds, is left
// out; everything else is simulated. So the pass simulates no more than epsilon-constraint searches with one memory cap
// after the other would, and is exact within the gap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "studies/plan/evaluation.hpp"

namespace debubble {

// Every way to run the job that fits has a point with no more than 1 / (1 - gap) of its step and of its memory.
struct PlanFront {
  std::vector<PlannedRun> points;  // the fastest first; each takes less memory than the one before
  double gap = 0;
  std::int64_t simulated = 0;      // for it
  std::int64_t out_of_memory = 0;  // of those
  std::int64_t deadlocked = 0;
  // The time was up: what was not looked at takes so long at least, so that points above it may be beaten.
  std::optional<Nanoseconds> proven_to;

  [[nodiscard]] bool proven(const PlannedRun& point) const { return !proven_to || point.step < *proven_to; }
};

// What no other of `runs` beats in both step and memory, the fastest first. Of equal ones the simplest stays.
[[nodiscard]] std::vector<PlannedRun> front_of(std::vector<PlannedRun> runs);

// What has to be changed to come from one to the other, in words: "pp 8 -> 16", "ZeRO 1 -> 3".
[[nodiscard]] std::vector<std::string> changed_words(const PlanChoice& from, const PlanChoice& to);

}  // namespace debubble
