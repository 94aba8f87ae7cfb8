// What would make a run fit: one change at a time, each simulated.
#pragma once

#include <string>

#include "studies/simulate/simulate.hpp"

namespace debubble {

// The report of a run that is out of memory, with what makes it fit in MemoryFit::remedies and in the finding. Nothing
// is tried for runs of so many ops that this would take minutes.
[[nodiscard]] Report with_remedies(const Scenario& scenario, const std::string& name, const Simulated& run,
                                   Progress& progress);

}  // namespace debubble
