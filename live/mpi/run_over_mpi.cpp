#include "live/backends.hpp"
#include "live/mpi/agreement.hpp"
#include "live/mpi/cpu_rank.hpp"
#include "live/mpi/gpu_rank.hpp"
#include "live/mpi/join.hpp"
#include "live/mpi/plugin_loader.hpp"
#include "live/mpi/stopped_ranks.hpp"

namespace debubble::live {

LiveResult run_over_mpi(const LiveRequest& request, const MpiOptions& options, const LiveProgress& progress) {
  const MessagePassingPlugin& plugin = load_message_passing();
  if (!mpi_rank_of_environment().has_value() && request.schedule.devices > 1) {
    throw wrong_number_of_ranks(request.schedule.devices, 0);
  }
  watch_for_stopped_ranks(request.patience);
  MessagePassing& passing = join(plugin);
  ControlChannel channel(passing);
  agree(passing, channel, request, options);
  return options.gpus ? run_gpu_ranks(passing, channel, request, options.model, progress)
                      : run_cpu_ranks(passing, channel, request, progress);
}

}  // namespace debubble::live
