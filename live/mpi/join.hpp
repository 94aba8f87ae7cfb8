// Joining the ranks of a job, and leaving them.
#pragma once

#include "live/mpi/message_passing.hpp"

namespace debubble::live {

// Starts MPI, the first time. All ranks leave it together when their processes end.
[[nodiscard]] MessagePassing& join(const MessagePassingPlugin& plugin);

// For a job that has lost a rank: this one no longer waits for the others when it ends.
void leave_alone();

// For a job with a rank that takes no messages: when this process ends, it ends all the others instead of waiting for
// them. The job's status is then 1.
void end_job_at_exit();

}  // namespace debubble::live
