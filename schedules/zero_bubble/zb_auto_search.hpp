// The search of zb-auto: the ZB-1p / ZB-2p scheduler of the zero-bubble paper (its section 3.1) on plain numbers.
//
// A greedy walk in rounds: in each, every stage runs at most one F, then exactly one I; W fill the holes. Three choices
// give eight walks, of which the one with the smallest cost is kept:
//   extra F       more F before the first I than fit before its arrival without a delay
//   skip F        a stage sits out a round's F when it is far ahead of the next stage
//   fill holes    a W also goes into a hole that is shorter than the W
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/op.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// One microbatch on one stage.
struct AutoStage {
  Nanoseconds forward = 0;
  Nanoseconds input_grad = 0;
  Nanoseconds weight_grad = 0;
  Nanoseconds hop = 0;   // to the next stage, and back
  Bytes activation = 0;  // held from the start of F to the end of I
  Bytes held = 0;        // held from the end of I to the end of W
  Bytes limit = 0;       // of both together; at least the larger of the two

  [[nodiscard]] Nanoseconds work() const { return forward + input_grad + weight_grad; }
};

struct AutoPlan {
  Nanoseconds span = 0;                     // max over stages of last end - first start
  std::vector<std::vector<OpKind>> orders;  // by stage; of each kind the microbatches come in ascending order
};

// The best of the eight walks, the first of equals. With limits as AutoStage demands there always is one.
[[nodiscard]] AutoPlan search_auto_plan(const std::vector<AutoStage>& stages, int microbatches);
// All eight.
[[nodiscard]] std::vector<AutoPlan> all_auto_plans(const std::vector<AutoStage>& stages, int microbatches);

}  // namespace debubble
