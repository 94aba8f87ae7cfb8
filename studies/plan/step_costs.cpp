#include "studies/plan/step_costs.hpp"

#include <utility>

#include "scenario/check_scenario.hpp"
#include "scenario/job/links.hpp"
#include "scenario/job/memory_limits.hpp"
#include "scenario/job/stage_costs.hpp"
#include "scenario/job/step.hpp"
#include "sim/core/error.hpp"

namespace debubble {

StepCosts make_step_costs(const PlanRequest& request, const PlanChoice& choice, const Schedule& shape) {
  StepCosts made;
  try {
    const Scenario scenario = check_scenario(flags_of(choice, request.job));
    StageCostsMade costs = make_stage_costs(scenario, shape);
    const Topology topology = make_topology(scenario, shape.devices).value;
    StepMade step = make_step(scenario, std::move(costs.costs), {shape, costs.cut.layers, topology});
    made.chains = chains_of(step.work);
    made.costs = std::move(step.costs);
    MemoryLimits limits = make_memory_limits(scenario, shape.devices).value;
    made.margin = share_to_stay_free(request, limits);
    made.capacities = std::move(limits.capacities);
  } catch (const InputError& error) {
    refuse(made.refusal, error);
  }
  return made;
}

bool same_shape(const Pattern& one, const Pattern& other) {
  return one.order && other.order && one.plain && other.plain && one.shape.chunks == other.shape.chunks &&
         one.shape.replicas_share_weights == other.shape.replicas_share_weights &&
         one.shape.asynchrony == other.shape.asynchrony && one.shape.placement == other.shape.placement;
}

}  // namespace debubble
