// What the transforms of a scenario mean for schedules and costs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/request/transform_spec.hpp"
#include "schedules/common/contract.hpp"
#include "sim/analysis/fill_bubbles.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/topology.hpp"

namespace debubble {

// Barriers of the output layer's shards: the schedule's, or those that one of the transforms will bring; 0: not
// sharded.
[[nodiscard]] int vocabulary_barriers(const Schedule& schedule, const std::vector<TransformSpec>& transforms);

// What a transform may plan with, of the schedule that it gets.
[[nodiscard]] PlanningCosts costs_to_plan_with(const Schedule& schedule, const StageCosts& costs,
                                               const Topology& topology);

// What fill-bubbles is to place; nothing without it. Throws InputError for what is no time.
[[nodiscard]] std::optional<ExtraWork> extra_work(const std::vector<TransformSpec>& transforms,
                                                  std::vector<Assumption>& assumptions);

// Refuses (C087) a schedule whose bubbles were filled where only its own ops count: `because` says why, `place` who
// asks.
void refuse_filled_bubbles(const Schedule& schedule, const std::string& place, const std::string& because);

// What the schedule's params say about recomputation goes into the costs, and what holds then into the assumptions, if
// the schedule recomputes. Shares given twice, by r of --times too, are refused (S075).
void set_recompute_costs(const Schedule& schedule, bool toy, bool time_given, StageCosts& costs,
                         std::vector<Assumption>& assumptions);

}  // namespace debubble
