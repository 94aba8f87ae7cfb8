// A launch script run by bash itself inside a bubblewrap: no network, nothing of this machine's files but bash, some
// harmless tools and libraries, a time limit. Never without it.
//
//     debubble ── memory files: script, files beside it, stand-ins ──► bwrap ► pid 1 ► start ► bash script
//        ◄────────── descriptor 9: records, pipe: what the script printed ──────┘
#pragma once

#include <map>
#include <string>
#include <vector>

namespace debubble {

struct GuardedScript {
  std::string path;    // whole
  std::string called;  // as $0 has it
  std::string folder;  // where it is started
  std::vector<std::string> arguments;
  std::map<std::string, std::string> variables;  // all that it has; PATH is the guard's own
  std::map<std::string, std::string> files;      // text by whole path, the script among them
};

struct GuardedEnd {
  std::string records;  // as stand_ins.hpp says; written by somebody hostile, perhaps
  std::string output;   // the last of what it printed, 4 KB at most
  std::string stopped;  // why it was ended: "it ran longer than 10 s"; "": it was not
  int status = 0;       // of bwrap
};

// Throws InputError P032 where there is no bwrap, or where it cannot make a guard on this machine; and where the script
// lies where the guard has the system's own files.
[[nodiscard]] GuardedEnd run_guarded(const GuardedScript& script, int turn);

}  // namespace debubble
