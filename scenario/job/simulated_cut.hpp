// Cuts of the layers that only a simulation tells: --partition memory, and --partition auto where links differ.
#pragma once

#include <functional>
#include <string>

#include "cost_models/partition/partition.hpp"
#include "scenario/job/job.hpp"

namespace debubble {

struct CutJob {
  Job job;
  LayerCut cut;
};

// The job with the cut of `scenario.partition`, made as often as that takes.
//
// --partition memory: the cut knows what the order holds; received tensors that wait, and what an allocator rounds up
// and cannot use, are known from a simulation only (of one replica whose ops do not vary): what a device lacks there is
// set aside, and the layers are cut again, until all fits or no cut does.
//
// --partition auto where the transfers of the devices take different times (some links are slower than others, or
// transfers hold compute and the first and the last device have fewer of them): what a slow link costs depends on the
// order of the ops. Where transfers hold compute, the device that it belongs to should get fewer layers, by all that
// its transfers take; where they overlap, only what the order does not hide counts. So the layers are cut with all,
// half, a quarter and none of each stage's transfers counted as its work, and the cut whose step is shortest when
// simulated (one pipeline replica, without jitter) is taken. The usual cut for orders that were made for their costs,
// and for more than 200,000 ops.
[[nodiscard]] Job job_of_cut(const Scenario& scenario, const std::string& name,
                             const std::function<CutJob(const Scenario&)>& made);

}  // namespace debubble
