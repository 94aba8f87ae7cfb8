#include "studies/planners/from_scenario.hpp"

#include <map>
#include <string>

#include "scenario/job/links.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/job/memory_limits.hpp"
#include "sim/core/error.hpp"
#include "studies/planners/from_profile.hpp"

namespace debubble {

namespace {

// Experts and compressed attention have other products than a dense layer.
void add_model_products(const TrainingSetup& setup, PlannerJob& job) {
  const TransformerShape& shape = setup.shape;
  if (shape.experts > 0 || shape.kv_rank > 0) return;
  ProfiledTransformer sizes;
  sizes.hidden = shape.hidden;
  sizes.heads = shape.heads;
  sizes.kv_heads = shape.kv_heads;
  sizes.head_size = shape.head_size;
  sizes.feed_forward = shape.feed_forward;
  sizes.gated = shape.gated;
  job.products = transformer_products(setup.microbatch_size * setup.sequence, sizes);
}

}  // namespace

PlannerJob planner_job(const Scenario& scenario) {
  if (!scenario.profile) {
    fail("Z001", "--planner", "planners cut layers, and toy times have none", "add --model NAME or --profile FILE");
  }
  if (!scenario.devices) {
    fail("Z001", "--planner", "planners need to know how many devices there are", "add -p N");
  }
  const int devices = *scenario.devices;
  const int microbatches = scenario.microbatches.value_or(kDefaultMicrobatches);
  PlannerJob job =
      planner_job(*scenario.profile, make_topology(scenario, devices).value, devices, microbatches, Bytes{0});
  if (scenario.transformer.setup) add_model_products(*scenario.transformer.setup, job);
  const std::vector<Bytes> capacities = make_memory_limits(scenario, devices).value.capacities;
  if (capacities.size() == 1) {
    job.types.front().memory = capacities.front();
  } else if (!capacities.empty()) {
    job.types.clear();
    std::map<Bytes, int> types;
    for (std::size_t device = 0; device < capacities.size(); ++device) {
      const auto [known, added] = types.try_emplace(capacities[device], static_cast<int>(job.types.size()));
      if (added) job.types.push_back({"as device " + std::to_string(device), 1, capacities[device], 0});
      job.devices[device] = known->second;
    }
  }
  return job;
}

}  // namespace debubble
