// Facts of this process for the record file.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace debubble {

// The rank that torchrun, Open MPI, MPICH or Slurm gave this process; empty without one.
[[nodiscard]] std::string rank_of_process();

// "rank3-pid4711.dbrec"; without a rank "pid4711.dbrec".
[[nodiscard]] std::string record_file_name();

// "pid", "command", "rank" (where there is one), "date" (of today, UTC, 2026-11-20), in this order.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> process_facts();

}  // namespace debubble
