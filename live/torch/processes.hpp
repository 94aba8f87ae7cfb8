// The processes of a run: one Python per device, started together, none of which outlives the run.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace debubble::live {

struct ProcessState {
  bool ended = false;
  int status = 0;  // exit status, where no signal ended it
  int signal = 0;  // the signal that ended it; 0: none

  [[nodiscard]] bool failed() const { return ended && (status != 0 || signal != 0); }
};

class Processes {
 public:
  // `python -m debubble_torch FOLDER RANK` for each rank, each in a process group of its own; what they print goes to
  // rankN.out of the folder. `package` is the folder that holds debubble_torch. Throws UnavailableError U051.
  Processes(const std::string& python, const std::string& package, const std::string& folder, int count);
  ~Processes();  // kills what still runs
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  // Their states now; does not wait.
  [[nodiscard]] const std::vector<ProcessState>& poll();
  void kill_all();

 private:
  void reap(std::size_t rank);

  std::vector<pid_t> ids_;
  std::vector<ProcessState> states_;
};

// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end this process: `received` tells the last one. What is
// ignored stays so, but for SIGCHLD: of children whose end is ignored there is no status to wait for. Not to be nested.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();  // whatever was there before is there again; a signal that came is raised once more
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  [[nodiscard]] static int received();
};

}  // namespace debubble::live
