// The `debubble` command: tools/dispatch.hpp does the work.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "formats/files/interrupt.hpp"
#include "sim/core/exit_status.hpp"
#include "tools/dispatch.hpp"

namespace debubble {

namespace {

// Started with stdout or stderr closed, the first file to be opened would take its number and get what is meant for it.
void claim_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_RDONLY) != descriptor) std::_Exit(kExitUnavailable);
  }
}

}  // namespace

}  // namespace debubble

int main(int argc, char** argv) {
  using namespace debubble;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  claim_standard_descriptors();
  leave_nothing_when_interrupted();
  return run_command(arguments);
}
