// A run with one of its costs changed.
#pragma once

#include "tools/run.hpp"
#include "tools/whatif/sensitivity.hpp"

namespace debubble {

struct ChangedCost {
  Run run;
  // By how much the cost grew, in ns; of links' bytes in ns per byte. 0: so little that rounding ate it.
  double added = 0;
};

// The cost times `factor`. Of a link's bytes the time per byte: its bandwidth over the factor. `scenario` plans the
// training step anew where links change.
[[nodiscard]] ChangedCost with_cost(const Scenario& scenario, const Run& run, const CostName& name, double factor);

}  // namespace debubble
