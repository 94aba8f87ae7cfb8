// What things take and hold, for the reference simulator: written from the rules, sharing no code with the engine.
#pragma once

#include "tests/support/reference_simulator.hpp"

namespace debubble::reference {

[[nodiscard]] Nanoseconds duration_of(const Cell& cell, const StageCosts& costs, const Schedule& schedule);

// An activation has the size of its stage's output; a gradient that of the stage below's.
[[nodiscard]] Bytes size_of_output(const Op& op, const StageCosts& costs, const Schedule& schedule);

// A copy with its size and duration, not run yet.
[[nodiscard]] CopyRun make_copy(const Copy& copy, const StageCosts& costs, const Schedule& schedule);

}  // namespace debubble::reference
