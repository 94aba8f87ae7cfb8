// A run's result from the reports of its ranks.
#pragma once

#include "live/job.hpp"
#include "live/live.hpp"
#include "live/mpi/rank_run.hpp"

namespace debubble::live {

// Iterations, checked tensors, clocks and stall; who ran what is for the caller to add. Raises a rank's failure.
[[nodiscard]] LiveResult result_of(const Job& job, RankReport report);

}  // namespace debubble::live
