// --partition auto where the transfers of the devices take different times: some links are slower than others, or
// transfers hold compute and the first and the last device have fewer of them.
//
// What a slow link costs depends on the order of the ops: where transfers hold compute, the device that it belongs to
// should get fewer layers, by all that its transfers take; where they overlap, only what the order does not hide
// counts. So the layers are cut with all, half, a quarter and none of each stage's transfers counted as its work, and
// the cut whose step is shortest when simulated is taken.
#pragma once

#include <functional>
#include <string>

#include "scenario/job/job.hpp"

namespace debubble {

// The job with that cut, for `scenario.partition.for_devices`; one pipeline replica is simulated, without jitter. The
// usual cut of `auto` for orders that were made for their costs, and for more than 200,000 ops.
[[nodiscard]] Job job_cut_for_wires(const Scenario& scenario, const std::string& name,
                                    const std::function<Job(const Scenario&)>& made);

}  // namespace debubble
