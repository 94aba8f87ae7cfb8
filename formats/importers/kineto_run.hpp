// A run of PyTorch's pipelining, out of torch.profiler's traces: one file per rank, in any order.
//
//     rank 0  | PP:0F0 | PP:0SEND_F0 |...          ops by their PP: names, once per step and rank
//     rank 1     | PP:1RECV_F0  | PP:1F0 |         a transfer from the later start of its two ends on
//                ^ waits        ^ transfer begins
//
// - Ops are taken from GPU ranges (gpu_user_annotation) where every op of every rank has one, else from the host's. The
//   host's are when work was launched, or, without a GPU, done: a note says which.
// - Send and receive of one tensor are paired across ranks, which also aligns the clocks (clock_alignment.hpp). On the
//   GPU a receive lasts until the tensor is there; what lies before the later start is waiting, not transfer.
// - On the host both only post. The wait is in the range of the op that uses the tensor, so that op's end is all that
// is
//   known of the arrival, and the transfer itself counts as not seen. Where ops are the host's, what lies before the
//   sender posted is cut off the op's beginning; the rest of the wait stays in it.
// - Ranges of one device that overlap by up to 1 us (rounded times) are trimmed, which is counted as a loss.
// - An iteration is one ProfilerStep, or without those the n-th time each op runs. Only whole iterations count.
// - Ranks in order of their number are devices 0, 1, ... Of data-parallel replicas, `replica` is read.
// - The first iterations are left out where they take a quarter longer than the median (imported_run.hpp).
#pragma once

#include <vector>

#include "formats/importers/imported_run.hpp"
#include "formats/importers/pipeline_trace.hpp"

namespace debubble {

// Throws InputError: D004 a file without a PP: range, D005 a file without its rank, two of one rank or none of one,
// D006 no whole iteration, D010 ranks of different runs, C003 a replica that is not there, V023 times of ranks that
// cannot belong to one run.
[[nodiscard]] ImportedRun import_kineto_run(std::vector<PipelineTrace> ranks, int replica = 0);

}  // namespace debubble
