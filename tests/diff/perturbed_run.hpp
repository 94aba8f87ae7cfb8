// A run as somebody might measure it: a simulated one with single ops delayed or made longer.
#pragma once

#include <map>
#include <tuple>

#include "sim/core/timeline.hpp"

namespace debubble::testing {

using OpKey = std::tuple<OpKind, int, int>;  // kind, stage, microbatch
[[nodiscard]] inline OpKey key_of(const Op& op) { return {op.kind, op.stage, op.microbatch}; }
// By the first op of a cell: nanoseconds.
using Changes = std::map<OpKey, Nanoseconds>;

// The same order and the same length of transfers; each op begins `delays` after all it waits for and takes `longer`
// more. By repeated passes over all spans, so it shares no code with the engine or the replay. Overlapped transfers.
[[nodiscard]] Timeline perturbed(const Timeline& run, const Changes& delays, const Changes& longer);

}  // namespace debubble::testing
