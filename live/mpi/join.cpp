#include "live/mpi/join.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

namespace debubble::live {

namespace {

MessagePassing* left_at_exit = nullptr;
bool alone = false;
bool end_job = false;

// Once a rank has ended with a status that is not 0, mpirun ends the others. So rank 0, which has the report to write,
// leaves MPI as the last thing it does, and the others wait for it there, in `finish`. All leave when the process ends,
// not after a run: a suite may hold several.
void leave_last() {
  std::cout.flush();
  std::fflush(nullptr);
  if (end_job) left_at_exit->abort();
  if (!alone) left_at_exit->finish();
}

}  // namespace

MessagePassing& join(const MessagePassingPlugin& plugin) {
  MessagePassing& passing = *plugin.start();
  if (left_at_exit != nullptr) return passing;
  left_at_exit = &passing;
  if (std::atexit(leave_last) != 0) throw std::runtime_error("no room to leave MPI when the process ends");
  return passing;
}

void leave_alone() { alone = true; }

void end_job_at_exit() { end_job = true; }

}  // namespace debubble::live
