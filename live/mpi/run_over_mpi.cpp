#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "live/backends.hpp"
#include "live/mpi/agreement.hpp"
#include "live/mpi/cpu_rank.hpp"
#include "live/mpi/gpu_rank.hpp"
#include "live/mpi/plugin_loader.hpp"

namespace debubble::live {

namespace {

MessagePassing* left_at_exit = nullptr;

// Once a rank has ended with a status that is not 0, mpirun ends the others. So rank 0, which has the report to write,
// leaves MPI as the last thing it does, and the others wait for it there, in `finish`. All leave when the process ends,
// not after a run: a suite may hold several.
void leave_last() {
  std::cout.flush();
  std::fflush(nullptr);
  left_at_exit->finish();
}

void leave_at_exit(MessagePassing& passing) {
  if (left_at_exit != nullptr) return;
  left_at_exit = &passing;
  if (std::atexit(leave_last) != 0) throw std::runtime_error("no room to leave MPI when the process ends");
}

}  // namespace

LiveResult run_over_mpi(const LiveRequest& request, const MpiOptions& options, const LiveProgress& progress) {
  const MessagePassingPlugin& plugin = load_message_passing();
  if (!mpi_rank_of_environment().has_value() && request.schedule.devices > 1) {
    throw wrong_number_of_ranks(request.schedule.devices, 0);
  }
  MessagePassing& passing = *plugin.start();
  leave_at_exit(passing);
  ControlChannel channel(passing);
  agree(passing, channel, request, options);
  return options.gpus ? run_gpu_ranks(passing, channel, request, options.model, progress)
                      : run_cpu_ranks(passing, channel, request, progress);
}

}  // namespace debubble::live
