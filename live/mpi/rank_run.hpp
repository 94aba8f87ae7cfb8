// One rank's run, from the first handshake to the results at rank 0, over whatever passes the messages.
//
//     agree ─► open edges ─► read clocks ─► work ∥ exchange + watch ─► read clocks ─► gather
#pragma once

#include <functional>
#include <vector>

#include "live/device_runner.hpp"
#include "live/job.hpp"
#include "live/mpi/message_codec.hpp"
#include "live/mpi/message_passing.hpp"
#include "live/mpi/watchdog.hpp"
#include "live/transport.hpp"

namespace debubble::live {

// The clock that ranks use; see clock_alignment.hpp.
[[nodiscard]] Nanoseconds steady_time();

// What one rank has to tell when its work has ended.
struct RankResult {
  std::vector<DeviceRun> runs;  // one per iteration, warm-up first
  MessageWriter more;           // whatever else rank 0 wants to know
};

// What differs between CPU and GPU.
struct RankWork {
  // All iterations, in a thread of its own; what it throws ends the run on all ranks.
  std::function<RankResult(Mailbox& transport)> run;
  WallClock now;        // of the times in DeviceRun; needed with Clock::kWall
  bool urgent = false;  // the thread that talks to MPI never sleeps: for ranks with a core to spare
};

struct RankReport {
  Outcome outcome;
  // Complete and rank 0 only: by device.
  std::vector<std::vector<DeviceRun>> runs;  // by iteration, on rank 0's clock
  std::vector<MessageReader> more;
  ClockAlignment clocks;
  Nanoseconds leaving_error = 0;  // of the transfers' begins, against their ends
};

// Call in every rank, from the thread that started MPI, after `agree`. What goes wrong on one rank outside its work, so
// that the others cannot be informed, is printed and ends the whole job (MessagePassing::abort); it is thrown all the
// same.
[[nodiscard]] RankReport run_rank(MessagePassing& passing, ControlChannel& channel, const Job& job,
                                  const RankWork& work);

}  // namespace debubble::live
