// A live run against the simulator: the first thing in which they do not agree, in words.
#pragma once

#include <string>

#include "live/live.hpp"
#include "sim/core/timeline.hpp"
#include "sim/rows/observed.hpp"
#include "tests/support/engine_run.hpp"

namespace debubble::testing {

// What somebody who watched the run of this timeline would have seen; in another order, since observers have none.
[[nodiscard]] Observation observation_of(const Timeline& timeline, P2p p2p);

// Spans, transfers (in any order), what each waited for, makespan; then all numbers of the report. "" when all agree.
[[nodiscard]] std::string difference(const Timeline& got, const Timeline& expected);
[[nodiscard]] std::string difference(const Report& got, const Report& expected);

// Whether the schedule holds what no executor does: copies, recomputation, a split output layer, unequal pieces, or
// pairs side by side. Those are refused with E040.
[[nodiscard]] bool only_simulated(const Schedule& schedule);

[[nodiscard]] live::LiveRequest request_for(const Schedule& schedule, const StageCosts& costs, const HopFigures& link,
                                            P2p p2p);

// Runs on the cpu backend's logical clock with given costs, and simulates: "" when they agree in times, memory and
// report, or in the devices of the deadlock.
[[nodiscard]] std::string live_disagreement(const Schedule& schedule, const StageCosts& costs, const HopFigures& link,
                                            P2p p2p);

}  // namespace debubble::testing
