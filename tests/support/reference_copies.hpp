// Copy lanes of the reference simulator. Internal to tests/support.
#pragma once

#include <cstddef>

#include "tests/support/reference_simulator.hpp"

namespace debubble::reference {

// Copies of a device run one at a time in their order, beside compute: starts all that may. True when one did.
bool run_copies(const Schedule& schedule, Outcome& outcome);

// R, B and I of what has been moved away wait for its copy back: false while it is away, else `ready` counts its end.
bool copies_are_back(Cell& cell, std::size_t device, const Outcome& outcome);

}  // namespace debubble::reference
