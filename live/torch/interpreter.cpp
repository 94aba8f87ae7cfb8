#include "live/torch/interpreter.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble::live {

namespace {

// Looks for the module without importing it, which takes a second.
bool finds_torch(const std::string& python) {
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = python;
  std::string dash = "-c";
  std::string question = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)";
  std::array<char*, 4> words{name.data(), dash.data(), question.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, name.c_str(), &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string python_with_torch() {
  const char* chosen = std::getenv("DEBUBBLE_PYTHON");  // NOLINT(concurrency-mt-unsafe): read before any thread of ours
  const bool is_chosen = chosen != nullptr && *chosen != '\0';
  const std::vector<std::string> candidates =
      is_chosen ? std::vector<std::string>{chosen} : std::vector<std::string>{"python3", "/usr/bin/python3"};
  for (const std::string& candidate : candidates) {
    if (finds_torch(candidate)) return candidate;
  }
  throw UnavailableError(Diagnostic{
      "U058", is_chosen ? "DEBUBBLE_PYTHON" : "",
      is_chosen ? "\"" + candidates[0] + "\" does not start, or has no PyTorch"
                : "neither python3 on PATH nor /usr/bin/python3 has PyTorch",
      "install PyTorch (pip install torch; on Debian: apt-get install python3-torch), or set DEBUBBLE_PYTHON "
      "to the Python that has it"});
}

}  // namespace debubble::live
