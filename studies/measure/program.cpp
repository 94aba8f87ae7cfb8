#include "studies/measure/program.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "sim/core/error.hpp"

namespace debubble {

namespace {

constexpr std::array kForwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// A handler may read nothing else.
std::atomic<pid_t> child_to_tell = 0;
std::atomic<int> last_signal = 0;
static_assert(std::atomic<pid_t>::is_always_lock_free);

// The terminal sends its signals to everybody in the foreground (SI_KERNEL), so the child has those already.
extern "C" void pass_on(int signal, siginfo_t* info, void* /*context*/) {
  const int saved = errno;
  last_signal = signal;
  const pid_t child = child_to_tell;
  if (child > 0 && info->si_code <= 0) ::kill(child, signal);
  errno = saved;
}

// Our handlers while the program runs, whatever was there before afterwards.
class Forwarding {
 public:
  Forwarding() {
    last_signal = 0;
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO;
    for (std::size_t k = 0; k < kForwarded.size(); ++k) {
      ::sigaction(kForwarded[k], nullptr, &before_[k]);
      if (before_[k].sa_handler != SIG_IGN) ::sigaction(kForwarded[k], &action, nullptr);
    }
  }
  ~Forwarding() {
    child_to_tell = 0;
    for (std::size_t k = 0; k < kForwarded.size(); ++k) ::sigaction(kForwarded[k], &before_[k], nullptr);
  }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

 private:
  std::array<struct sigaction, kForwarded.size()> before_{};
};

std::vector<std::string> program_environment(const Environment& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : added) replaced = replaced || text.starts_with(name + "=");
    if (!replaced) result.push_back(text);
  }
  for (const auto& [name, value] : added) {
    if (!value.empty()) result.push_back(name + "=" + value);
  }
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

pid_t start(const std::vector<std::string>& argv, const Environment& added) {
  std::vector<std::string> words = argv;
  std::vector<std::string> variables = program_environment(added);
  pid_t child = 0;
  // Handlers do not survive exec, and what we ignore the program shall ignore too.
  const int error =
      ::posix_spawnp(&child, words[0].c_str(), nullptr, nullptr, pointers(words).data(), pointers(variables).data());
  if (error == 0) return child;
  const char* reason = strerrordesc_np(error);
  throw InputError(Diagnostic{"C080", "--",
                              "cannot start " + words[0] + ": " + (reason != nullptr ? reason : "unknown error"),
                              error == ENOENT ? "check its spelling and PATH; give a script to its interpreter: -- "
                                                "python train.py"
                                              : "check that it is an executable file"});
}

}  // namespace

std::string to_string(const ProgramEnd& end) {
  if (end.signal == 0) return "ended with status " + std::to_string(end.status);
  const char* name = sigdescr_np(end.signal);
  return "was ended by signal " + std::to_string(end.signal) + (name != nullptr ? std::string(" (") + name + ")" : "");
}

ProgramEnd run_program(const std::vector<std::string>& argv, const Environment& added) {
  const Forwarding forwarding;
  const pid_t child = start(argv, added);
  child_to_tell = child;
  if (last_signal != 0) ::kill(child, last_signal);  // it came between the handler and the child
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ProgramEnd end;
  end.interrupted = last_signal != 0;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.status = WEXITSTATUS(status);
  }
  return end;
}

}  // namespace debubble
