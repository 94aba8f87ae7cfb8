// One bwrap: started with memory files in place of files, read with bounds, ended in time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace debubble {

struct GuardedProcess {
  std::vector<std::string> argv;
  std::size_t options_at = 0;        // the argument that becomes the descriptor of `options`
  std::vector<std::string> options;  // handed over in a memory file: a list of processes shows none of them
  int first_file = 20;               // the descriptor of files[0]; the others follow
  std::vector<std::string> files;
};

struct ProcessEnd {
  std::string records;  // of descriptor 9, 8 MiB at most
  std::string output;   // of stdout and stderr, the last 4 KiB
  std::string stopped;  // why it was ended before its end
  int status = 0;
};

// Without any of our environment; as nobody where we are root, whose processes no limit counts. Throws InputError P032
// where it cannot be started.
[[nodiscard]] ProcessEnd run_process(GuardedProcess process);

}  // namespace debubble
