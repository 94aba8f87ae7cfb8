// From a plan's job to the one that planners are asked about, of equal devices or of those that a file describes.
#pragma once

#include <vector>

#include "studies/plan/choice.hpp"
#include "studies/plan/device_types.hpp"
#include "studies/plan/plan_job.hpp"
#include "studies/planners/job.hpp"

namespace debubble {

// `devices` in a row, each a group of the choice's tensor and context ranks, on the links that such groups have; layers
// as the choice has them, but for ZeRO: whole weights, gradients and optimizer. Throws what check_scenario throws.
[[nodiscard]] PlannerJob planner_job(const PlanRequest& request, const PlanChoice& choice, int devices,
                                     int microbatches);

// Devices one by one in the order of the file, which are as many as the request's GPUs. Throws InputError P012 where a
// type's hardware cannot be: a profile has times of its own.
[[nodiscard]] PlannerJob planner_job(const PlanRequest& request, const PlanChoice& choice,
                                     const std::vector<DeviceTypeRow>& types, int microbatches);

// The longest optimizer step of a stage, with whole states; 0 where there is none.
[[nodiscard]] Nanoseconds longest_update(const PlanRequest& request, const PlanChoice& choice,
                                         const std::vector<int>& partition);

}  // namespace debubble
