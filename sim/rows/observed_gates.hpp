// What every span and transfer of an observed run waited for. Internal to sim/rows.
#pragma once

#include "sim/core/p2p.hpp"
#include "sim/core/timeline.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble {

// Fills all gates of a timeline that is complete but for them, by the engine's tie rules. In a measured run nothing is
// gated by what ended after its begin, and gates never lead in a circle, whatever the times are.
void add_gates(Timeline& timeline, const OpIndex& ops, P2p p2p);

}  // namespace debubble
