// A job with one of its costs changed.
#pragma once

#include "scenario/job/job.hpp"
#include "studies/whatif/follow_links.hpp"
#include "studies/whatif/sensitivity.hpp"

namespace debubble {

struct ChangedCost {
  Job job;
  // By how much the cost grew, in ns; of links' bytes in ns per byte. 0: so little that rounding ate it.
  double added = 0;
};

// The cost times `factor`. Of links' bytes the time per byte: their bandwidth over the factor. `follower` plans anew
// what collectives over changed links take.
[[nodiscard]] ChangedCost with_cost(const LinkFollower& follower, const Job& job, const CostName& name, double factor);

}  // namespace debubble
