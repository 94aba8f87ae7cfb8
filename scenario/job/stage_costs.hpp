// What the stages of a job cost: from --times, a profile or a modelled transformer, with where every number came from.
#pragma once

#include <vector>

#include "cost_models/partition/partition.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {

struct PlacedLayers;

struct StageCostsMade {
  StageCosts costs;
  LayerCut cut;  // no layers without a profile
  std::vector<Assumption> assumptions;
};

// A modelled stage takes the time of the device that it lies on; of one that lies on several the slowest counts.
[[nodiscard]] StageCostsMade make_stage_costs(const Scenario& scenario, const Schedule& schedule);
// The costs alone, of a transformer on other links. The scenario must say how the layers are cut.
[[nodiscard]] StageCosts stage_costs_at(const Scenario& scenario, const PlacedLayers& placed, const Schedule& schedule);

}  // namespace debubble
