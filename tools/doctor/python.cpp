// PyTorch as seen by the `python3` that a person would start.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>

#include "sim/core/error.hpp"
#include "studies/measure/places.hpp"
#include "tools/doctor/checks.hpp"

namespace debubble {

namespace {

constexpr std::chrono::seconds kPatience{30};  // importing PyTorch from a cold network disk takes long

// Three lines: the interpreter, PyTorch, our hooks. "-" and the reason for what is not there.
constexpr const char* kQuestions = R"(
import platform, sys
print("python3 " + platform.python_version() + ", " + sys.executable)
try:
    import torch
    cuda = torch.version.cuda
    usable = cuda is not None and torch.cuda.is_available()
    state = "without CUDA" if cuda is None else "CUDA " + cuda + (", usable" if usable else ", not usable here")
    print(torch.__version__ + ", " + state + ("" if usable else "; measures scripts with profile --device cpu"))
except Exception as error:
    print("- " + type(error).__name__ + ": " + str(error).splitlines()[0])
try:
    import debubble_hooks
    print(debubble_hooks.__path__[0])
except Exception as error:
    print("- " + type(error).__name__ + ": " + str(error).splitlines()[0])
)";

// Its stdout; nothing when it cannot be started, fails, or takes too long.
std::optional<std::string> output_of_python(const std::string& folder) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  std::string start = "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, '" + folder + "')\n" + kQuestions;
  std::string name = "python3";
  std::string dash = "-c";
  std::array<char*, 4> words{name.data(), dash.data(), start.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, "python3", &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  bool ended = error != 0;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!ended) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting{ends[0], POLLIN, 0};
    if (left.count() <= 0 || (::poll(&waiting, 1, static_cast<int>(left.count())) < 0 && errno != EINTR)) break;
    std::array<char, 1024> buffer{};
    const ssize_t count = waiting.revents == 0 ? -1 : ::read(ends[0], buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    ended = count == 0;
  }
  ::close(ends[0]);
  if (error != 0) return std::nullopt;
  if (!ended) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::optional(text) : std::nullopt;
}

MachineCheck python_answer(const std::string& what, const std::string& line, const std::string& help) {
  if (line.starts_with("- ")) return {what, "missing", line.substr(2) + "; " + help};
  return {what, "ok", line};
}

}  // namespace

std::vector<MachineCheck> check_python() {
  std::string folder;
  try {
    folder = package_folder("debubble_hooks").string();
  } catch (const UnavailableError& error) {
    return {{"debubble_hooks", "missing", error.diagnostic().message}};
  }
  const std::optional<std::string> text = output_of_python(folder);
  if (!text) {
    return {{"python3", "missing", "it cannot be started or takes too long; only measuring PyTorch scripts needs it"}};
  }
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    lines.push_back(text->substr(begin, end - begin));
    begin = end + 1;
  }
  lines.resize(3, "- no answer");
  return {
      python_answer("python3", lines[0], "only measuring PyTorch scripts needs it"),
      python_answer("PyTorch", lines[1], "only measuring PyTorch scripts needs it: install it where the script runs"),
      python_answer("debubble_hooks", lines[2], "build and install debubble again")};
}

}  // namespace debubble
