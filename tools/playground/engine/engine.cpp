// What the page calls: the command's main function, with files in memory for stdout and stderr.
#include <emscripten/emscripten.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tools/dispatch.hpp"

namespace debubble {
namespace {

void send_to_file(int descriptor, const char* path) {
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(file, descriptor);
  ::close(file);
}

}  // namespace
}  // namespace debubble

// The exit status of the command line in `words`, each ended by a zero byte. Its output is in /stdout and /stderr.
extern "C" EMSCRIPTEN_KEEPALIVE int debubble_run(const char* words, int bytes) {
  using namespace debubble;
  std::vector<std::string> arguments;
  for (const char* at = words; at < words + bytes; at += arguments.back().size() + 1) arguments.emplace_back(at);
  send_to_file(STDOUT_FILENO, "/stdout");
  send_to_file(STDERR_FILENO, "/stderr");
  const int status = run_command(arguments);
  std::fflush(stdout);
  std::fflush(stderr);
  return status;
}
