// Ranks of this job on this machine whose processes are stopped (SIGSTOP): they neither work nor answer, and MPI's own
// calls wait for them for ever. Between messages the watchdog misses their signs of life; in MPI's start and end nobody
// could, so every process looks at its neighbours from a thread of its own, by what Linux says in /proc.
#pragma once

#include <string>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble::live {

// How long a rank may give no sign of life: the watchdog's patience, but never so short that a busy machine looks like
// a stopped process.
[[nodiscard]] constexpr Nanoseconds most_silence(Nanoseconds patience) {
  constexpr Nanoseconds kLeast = 2'000'000'000;
  return patience < kLeast ? kLeast : patience;
}

struct StoppedRank {
  int rank = -1;
  int process = 0;
};
// By process. Ranks are told by their launcher's environment variables; where /proc says nothing there are none.
[[nodiscard]] std::vector<StoppedRank> stopped_ranks();

// From now on to the process's end: when a rank has been stopped for so long and a second more, in which the watchdog
// may report it with all positions, says on stderr which and ends this process with status 1, whereupon the launcher
// ends the others. The first call counts.
void watch_for_stopped_ranks(Nanoseconds patience);

// "3 s"
[[nodiscard]] std::string whole_seconds(Nanoseconds time);

}  // namespace debubble::live
