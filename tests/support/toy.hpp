// Costs in the references' units, as whole nanoseconds and bytes: nothing in their tables needs rounding.
//
// One unit of time is kUnit, the activation of one device share (1/p of the model) is kShare; both are divisible by
// every chunk count and by every fraction of a unit that the tables use.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schedules/common/contract.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/engine/simulate.hpp"
#include "tests/support/engine_run.hpp"

namespace debubble::testing {

inline constexpr Nanoseconds kUnit = 1'440'000;
inline constexpr Bytes kShare = 1'440'000;

using Params = std::map<std::string, std::string>;

// `count` units as nanoseconds, to the nearest.
[[nodiscard]] Nanoseconds units(double count);

// Times of one device share and microbatch; a stage costs and holds 1/chunks of it. The halves of the backward are not
// set: a schedule that splits it would run in no time and be noticed.
[[nodiscard]] StageCosts toy_costs(const Schedule& schedule, double forward, double backward);

// The same with a split backward; `held` is the share of an activation kept from I to W.
[[nodiscard]] StageCosts split_costs(const Schedule& schedule, double forward, double input_grad, double weight_grad,
                                     double held = 1.0);

// A catalog row's schedule.
[[nodiscard]] Schedule build(const std::string& name, int devices, int microbatches, int chunks = 0,
                             const Params& params = {});

// Lowers and simulates without recording; the schedule must not deadlock.
[[nodiscard]] Totals totals_of(const Schedule& schedule, const StageCosts& costs, const HopFigures& link = {});

// "" when the reference simulator and the engine both find this makespan and these activation peaks (in device shares,
// as printed: to four decimals; empty: not checked); otherwise who finds what.
[[nodiscard]] std::string mismatch(const Schedule& schedule, const StageCosts& costs, const HopFigures& link,
                                   Nanoseconds makespan, const std::vector<double>& peaks = {});

// A row as people write it, for comparing orders: "F0 F1 B0 B1"; with chunks "F0.0 F0.1", numbered on the device.
[[nodiscard]] std::string order_of(const Schedule& schedule, int device, bool with_chunks = false);

// The same for one pair of opposite pipes: "Fd0 Bu1", the papers' letter of the pipe and the number within the pipe.
[[nodiscard]] std::string order_by_pipe(const Schedule& schedule, int device);

// The same with the stage behind each op: "F0@3", or "Fd0@3" for a pair of pipes.
[[nodiscard]] std::string order_by_stage(const Schedule& schedule, int device);

// The mirror image of an order by pipe: d for u and u for d.
[[nodiscard]] std::string swapped_directions(std::string order);

}  // namespace debubble::testing
