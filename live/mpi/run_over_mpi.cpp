#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "live/backends.hpp"
#include "live/mpi/agreement.hpp"
#include "live/mpi/cpu_rank.hpp"
#include "live/mpi/gpu_rank.hpp"
#include "live/mpi/plugin_loader.hpp"

namespace debubble::live {

namespace {

MessagePassing* left_at_exit = nullptr;

// Once a rank has ended with a status that is not 0, mpirun ends the others. So rank 0, which has the report to write,
// leaves MPI as the last thing it does, and the others wait for it there, in `finish`.
void leave_last() {
  std::cout.flush();
  std::fflush(nullptr);
  left_at_exit->finish();
}

class Membership {
 public:
  explicit Membership(MessagePassing& passing) : passing_(passing) {}
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;
  ~Membership() {
    left_at_exit = &passing_;
    if (passing_.rank() != 0 || std::atexit(leave_last) != 0) passing_.finish();
  }

 private:
  MessagePassing& passing_;
};

}  // namespace

LiveResult run_over_mpi(const LiveRequest& request, const MpiOptions& options, const LiveProgress& progress) {
  const MessagePassingPlugin& plugin = load_message_passing();
  if (!mpi_rank_of_environment().has_value() && request.schedule.devices > 1) {
    throw wrong_number_of_ranks(request.schedule.devices, 0);
  }
  MessagePassing& passing = *plugin.start();
  const Membership membership(passing);
  ControlLine line(passing);
  agree(passing, line, request, options);
  return options.gpus ? run_gpu_ranks(passing, line, request, options.model, progress)
                      : run_cpu_ranks(passing, line, request, progress);
}

}  // namespace debubble::live
