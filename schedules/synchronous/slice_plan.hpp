// TeraPipe's planner: the lengths of slices that make a pipeline of K stages quickest.
//
// Slices pass the stages one after the other, so m microbatches cut alike take m (t_1 + .. + t_k) + (K - 1) max t. For
// every bound on max t a dynamic programme finds the cheapest cut of the sequence whose slices keep to it:
//
//     f(n) = min over the last slice's length l of f(n - l) + t(l, n - l), where t <= bound
//
// Bounds are tried in rising order, until (K - 1) bound and the cheapest cut of all cannot beat the best.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/synchronous/slices.hpp"

namespace debubble {

struct SlicePlan {
  std::vector<int> lengths;  // first tokens first
  std::int64_t total = 0;    // t_1 + .. + t_k, in kTokenCost's unit
  std::int64_t longest = 0;  // max t
};

inline constexpr int kMostPlannedTokens = 256;  // the work grows with their fourth power

// The best of all cuts. 1 <= tokens <= kMostPlannedTokens; stages and microbatches at least 1.
[[nodiscard]] SlicePlan plan_slices(int tokens, int stages, int microbatches, const SliceCost& cost);

}  // namespace debubble
