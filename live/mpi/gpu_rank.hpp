// The work of one rank on its own GPU: the layers of the built-in workload, transfers by NCCL, wall clock.
#pragma once

#include "live/backends.hpp"
#include "live/mpi/control_channel.hpp"

namespace debubble::live {

// Call in every rank; at rank 0 the whole result, elsewhere only its end. Costs are calibrated with all GPUs at work.
// Throws InputError E010, E011, E003 (what cannot run on GPUs), UnavailableError U020 to U027 (the GPU, or NCCL,
// failed), U054 (no NCCL), WrongDataError: the same on all ranks.
[[nodiscard]] LiveResult run_gpu_ranks(MessagePassing& passing, ControlChannel& channel, const LiveRequest& request,
                                       const CudaOptions& model, const LiveProgress& progress);

}  // namespace debubble::live
