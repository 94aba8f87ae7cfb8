// Before a run: do all ranks mean the same run? Each reads its own copy of the files, maybe on another host.
#pragma once

#include "live/backends.hpp"
#include "live/live.hpp"
#include "live/mpi/control_channel.hpp"

namespace debubble::live {

// Call in every rank; throws the same everywhere. InputError E010: as many ranks as devices are needed; E011: some rank
// has another debubble, schedule, model, other costs or other settings than rank 0.
void agree(MessagePassing& passing, ControlChannel& channel, const LiveRequest& request, const MpiOptions& options);

// E010 of a run whose number of processes is not its number of devices; `started` is 0 where mpirun had no part.
[[nodiscard]] InputError wrong_number_of_ranks(int devices, int started);

}  // namespace debubble::live
