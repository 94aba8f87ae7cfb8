// The program under measurement: started with the injection in its environment, waited for, and sent every signal
// that reaches us alone.
//
//     debubble profile -o x.json -- torchrun --nproc-per-node 2 -m debubble_hooks train.py
//                                   |__________________ argv as given, stdin, stdout and stderr as ours
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace debubble {

struct ProgramEnd {
  int status = 0;            // exit status, when no signal ended it
  int signal = 0;            // the signal that ended it; 0: none
  bool interrupted = false;  // SIGINT, SIGTERM or SIGHUP came while it ran
  [[nodiscard]] bool well() const { return status == 0 && signal == 0; }
};

// "ended with status 3", "was ended by signal 11 (Segmentation fault)".
[[nodiscard]] std::string to_string(const ProgramEnd& end);

// Variables that are added to ours or replace them; one without a value is taken away.
using Environment = std::vector<std::pair<std::string, std::string>>;

// Runs it to its end. A signal from a terminal reaches the program by itself; one that was sent to this process only is
// passed on. Throws InputError (C080) when it cannot be started.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& argv, const Environment& added);

}  // namespace debubble
