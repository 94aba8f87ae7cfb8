// Recordings of several ranks whose ops have no PP: names, or whose format has a reader here only.
//
//     torch   torch.profiler's traces without PP: ranges, one file per rank
//     nsys    Nsight Systems exports (nsys export --type sqlite), one file per rank, or one of all ranks of a machine
//
// How ops are found is in recovery/recover_run.hpp.
#pragma once

#include <vector>

#include "formats/importers/runs/run_reader.hpp"

namespace debubble {

// Throw what recover_run, read_kineto_rank and read_nsys_ranks throw.
[[nodiscard]] ImportedRun read_unnamed_traces(std::vector<RunText> files, const RunReaderOptions& options);
[[nodiscard]] ImportedRun read_nsys_exports(std::vector<RunText> files, const RunReaderOptions& options);

}  // namespace debubble
