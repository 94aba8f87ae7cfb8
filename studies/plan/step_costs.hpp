// StepCosts: what a base costs with its training step, for all orders of one shape: same placement, same kinds of ops.
// Planning the collectives of a step takes far longer than a bound, and most orders of a base share their shape.
#pragma once

#include <vector>

#include "sim/core/schedule.hpp"
#include "studies/plan/bounds.hpp"
#include "studies/plan/choice.hpp"
#include "studies/plan/evaluation.hpp"
#include "studies/plan/space.hpp"

namespace debubble {

struct StepCosts {
  StageCosts costs;               // with what ZeRO does inside ops
  StepChains chains;              // of what follows them
  std::vector<Bytes> capacities;  // as in MemoryLimits
  Bytes margin = 0;               // of each, to stay free
  Evaluation refusal;             // illegal: there is no such run
};

// `shape` is that of the choice's order; its rows are looked at only for copies, recomputation and vocabulary passes.
[[nodiscard]] StepCosts make_step_costs(const PlanRequest& request, const PlanChoice& choice, const Schedule& shape);

// Whether orders of these patterns cost the same, whatever the job.
[[nodiscard]] bool same_shape(const Pattern& one, const Pattern& other);

}  // namespace debubble
