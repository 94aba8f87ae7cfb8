// A pipeline run out of recordings whose ops have no PP: names.
//
//     find_ops          where each rank ran forwards and backwards       by names of ranges, or by autograd
//     split_iterations  which iteration and microbatch each is of        by steps, the optimizer, or repetition
//     find_transfers    which send and receive belongs to which          by names, or by order
//     pipelines_of      which ranks are a pipeline, in order of stage    by who receives and sends no activations
//     import_kineto_run clocks, transfers, whole iterations              as for PP: ranges
//
// Each rank holds one stage; several chunks per rank cannot be told apart and are refused. What every fact rests on is
// in the run's notes: "named" for what a range says, "inferred" for what follows from others, "assumed" for the rest.
// Times of ops and transfers are the GPU's where every op launched a kernel and its launch was recorded.
// Where all ranks have PP: ranges (in a recording that import_kineto_run cannot read itself), those are taken.
#pragma once

#include <string>
#include <vector>

#include "formats/importers/imported_run.hpp"
#include "formats/importers/recovery/rank_events.hpp"

namespace debubble {

// `recorder` is for the run's method: "torch.profiler". Throws InputError: D004 a file in which nothing tells ops, D005
// for ranks that are unknown, missing or given twice, D006 where iterations are not whole or not told apart, D010 for
// files of different runs, C003 for a replica that is not there, and what import_kineto_run throws.
[[nodiscard]] ImportedRun recover_run(std::vector<RankEvents> ranks, int replica, const std::string& recorder);

}  // namespace debubble
