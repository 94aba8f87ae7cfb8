// Joining the ranks of a job, and leaving them.
#pragma once

#include "live/mpi/message_passing.hpp"

namespace debubble::live {

// Starts MPI, the first time. All ranks leave it together when their processes end.
[[nodiscard]] MessagePassing& join(const MessagePassingPlugin& plugin);

// For a job that has lost a rank: this one no longer waits for the others when it ends.
void leave_alone();

}  // namespace debubble::live
