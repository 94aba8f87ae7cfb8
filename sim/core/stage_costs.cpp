#include "sim/core/stage_costs.hpp"

#include <stdexcept>

namespace debubble {

namespace {

// Where a StageCost keeps the duration of a kind.
Nanoseconds StageCost::*cost_member(OpKind kind) {
  switch (kind) {
    case OpKind::kForward:
      break;
    case OpKind::kBackward:
      return &StageCost::backward;
    case OpKind::kInputGrad:
      return &StageCost::input_grad;
    case OpKind::kWeightGrad:
      return &StageCost::weight_grad;
    case OpKind::kRecompute:
      return &StageCost::recompute;
    case OpKind::kVocabularyLogits:
    case OpKind::kVocabularyGradient:
      throw std::logic_error("S and T belong to no stage: see StageCosts::vocabulary");
  }
  return &StageCost::forward;
}

}  // namespace

Nanoseconds& duration_of(OpKind kind, StageCost& cost) { return cost.*cost_member(kind); }

Nanoseconds duration_of(OpKind kind, const StageCost& cost) { return cost.*cost_member(kind); }

}  // namespace debubble
