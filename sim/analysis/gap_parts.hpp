// The gap between two runs' makespans, split by successive replays (sim/analysis/comparison.hpp). Internal to
// sim/analysis.
#pragma once

#include <vector>

#include "sim/analysis/comparison.hpp"
#include "sim/analysis/joined_runs.hpp"
#include "sim/analysis/replay_graph.hpp"

namespace debubble {

// `measured` may be null: then the order is not put in and its part is unexplained. The parts add up to `gap`.
[[nodiscard]] std::vector<GapPart> split_gap(const JoinedRuns& runs, ReplayGraph& predicted, ReplayGraph* measured,
                                             Nanoseconds gap);

// The first by measured begin: an op in another's place, or before that one a thing that is late of its own by more
// than `tolerance`.
[[nodiscard]] std::optional<Divergence> find_divergence(const JoinedRuns& runs, const ReplayGraph& predicted,
                                                        Nanoseconds tolerance);

}  // namespace debubble
