// The work of one rank on the CPU: real matmuls, transfers by MPI, any clock.
#pragma once

#include "live/live.hpp"
#include "live/mpi/control_channel.hpp"

namespace debubble::live {

// Call in every rank; at rank 0 the whole result, elsewhere only its end. Throws InputError E010, E011,
// UnavailableError U051 (memory), U050 (cores for the wall clock), WrongDataError: the same on all ranks.
[[nodiscard]] LiveResult run_cpu_ranks(MessagePassing& passing, ControlChannel& channel, const LiveRequest& request,
                                       const LiveProgress& progress);

}  // namespace debubble::live
