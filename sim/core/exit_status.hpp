// Exit codes of `debubble`; the manual and the tests quote this list.
#pragma once

namespace debubble {

enum ExitStatus : int {
  kExitOk = 0,
  kExitFinding = 1,      // a threshold crossed, a deadlock or out of memory found
  kExitUsage = 2,        // wrong usage or input
  kExitUnavailable = 3,  // something this machine lacks
  kExitInternal = 70,    // a bug of ours
  kExitInterrupted = 130,
};

}  // namespace debubble
