// Random pipelines for property tests: legal by construction, named by their seed, the same on every machine.
#pragma once

#include <cstdint>
#include <random>

#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "tests/support/engine_run.hpp"

namespace debubble::testing {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  // A whole number from `low` to `high`, both included.
  int from(int low, int high) {
    const auto range = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<int>(engine_() % range);
  }
  bool once_in(int n) { return from(1, n) == 1; }

 private:
  std::mt19937_64 engine_;
};

// Any placement (loop, V, random), one or two replicas, whole and split backwards mixed, overlapped pairs, pieces. The
// rows come from a list scheduler that picks at random among the ops that could run, so they cannot deadlock.
[[nodiscard]] Schedule random_schedule(Dice& dice);

// What random schedules may hold beside F, B, I and W of equal pieces.
struct Features {
  bool recompute = false;     // R, early or as a pair with its backward
  bool shares = false;        // unequal pieces
  bool slices = false;        // pieces in order
  bool shards = false;        // S and T on every device
  bool copies = false;        // to the host and to peers
  bool side_by_side = false;  // members of pairs
};

// Legal by construction, like the others.
[[nodiscard]] Schedule random_schedule_with(const Features& features, Dice& dice);

// In a copy lane's order at random: its copies may wait for what never comes.
void shuffle_copies(Schedule& schedule, Dice& dice);

// Swaps neighbours within rows at random, but never an op with one of its own inputs: each device could run its row if
// only the others delivered, which they often do not.
void shuffle_rows(Schedule& schedule, Dice& dice);

// Times and sizes from a few small numbers (many ties), from none at all, or from large odd ones.
[[nodiscard]] StageCosts random_costs(int stages, Dice& dice);

// Times and sizes of what Features add.
void add_feature_costs(StageCosts& costs, Dice& dice);

[[nodiscard]] HopFigures random_link(Dice& dice);

}  // namespace debubble::testing
