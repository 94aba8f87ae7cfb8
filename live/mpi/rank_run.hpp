// One rank's run, from the first handshake to the results at rank 0, over whatever passes the messages.
//
//     agree ─► open edges ─► read clocks ─► work ∥ exchange + watch ─► read clocks ─► gather
#pragma once

#include <functional>
#include <vector>

#include "live/device_runner.hpp"
#include "live/job.hpp"
#include "live/mpi/message_passing.hpp"
#include "live/mpi/watch.hpp"
#include "live/transport.hpp"

namespace debubble::live {

// What differs between CPU and GPU.
struct RankWork {
  // All iterations, warm-up first, in a thread of its own; what it throws ends the run on all ranks.
  std::function<std::vector<DeviceRun>(Transport& transport)> run;
  WallClock now;  // of the times in DeviceRun; needed with Clock::kWall
};

struct RankReport {
  Outcome outcome;
  std::vector<std::vector<DeviceRun>> runs;  // complete and rank 0 only: by device, then iteration, on rank 0's clock
  ClockAlignment clocks;
};

// Call in every rank, from the thread that started MPI, after `agree`.
[[nodiscard]] RankReport run_rank(MessagePassing& passing, ControlLine& line, const Job& job, const RankWork& work);

}  // namespace debubble::live
