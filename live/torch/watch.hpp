// Watches the processes of a run to their end: a rank that has gone, rows that wait for each other, a user who stops
// it.
#pragma once

#include <optional>
#include <string>

#include "live/job.hpp"
#include "live/live.hpp"
#include "live/torch/processes.hpp"
#include "live/torch/run_folder.hpp"

namespace debubble::live {

// The file in which the processes say what they are at (python/debubble_torch/status.py). To be written before they
// start.
void write_status_file(const RunFolder& folder, int devices);

// Returns once all have ended well: nothing; or why the run did not: a rank that a signal ended, or rows that wait for
// what does not come for the request's patience. What still runs then is killed. Throws InputError E013 for an error of
// a process (the user's stages, PyTorch), UnavailableError U058 for what its PyTorch lacks, WrongDataError for ops in a
// wrong order, and ends early with nothing when a signal came, see HeldSignals.
[[nodiscard]] std::optional<Stall> watch(const Job& job, Processes& processes, const RunFolder& folder,
                                         const LiveProgress& progress);

}  // namespace debubble::live
