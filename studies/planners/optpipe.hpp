// OptPipe's question: not where to cut, but in which order a given pipeline runs its ops within its memory. The
// pipeline is the even one by time; the order is that of the schedule `optimal`, whose program is OptPipe's
// (schedules/optimal).
#pragma once

#include <vector>

#include "sim/core/schedule.hpp"
#include "studies/planners/contract.hpp"

namespace debubble {

// The schedule of a decision of optpipe, searched once more: the same for the same decision. Throws InputError Z002
// where no order keeps the devices' memory.
[[nodiscard]] Schedule optpipe_schedule(const PlannerJob& job, const PlannerDecision& decision);

// GB/s of each device's link to the host that the decision copies activations over; 0: none leaves.
[[nodiscard]] double optpipe_host(const PlannerDecision& decision);
// Of one way over such a link; 0 without one.
[[nodiscard]] Nanoseconds host_copy_time(Bytes bytes, double host);

[[nodiscard]] const PlannerEntry& optpipe_planner();

}  // namespace debubble
