#include "live/torch/processes.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "sim/core/error.hpp"

namespace debubble::live {

namespace {

constexpr std::array kHeld{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
std::atomic<int> held_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);
std::array<struct sigaction, kHeld.size()> actions_before{};
struct sigaction child_action_before {};

extern "C" void hold_signal(int signal) { held_signal = signal; }

std::string variable_of(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value == nullptr ? "" : value;
}

// One thread for each process; on one host the connections go over the loopback, whatever the host's name means.
std::vector<std::string> rank_environment(const std::string& package) {
  const std::string path = variable_of("PYTHONPATH");
  std::vector<std::string> result{"PYTHONPATH=" + package + (path.empty() ? "" : ":" + path),
                                  "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1",
                                  "DEBUBBLE_TORCH_PARENT=" + std::to_string(::getpid())};
  if (variable_of("GLOO_SOCKET_IFNAME").empty()) result.emplace_back("GLOO_SOCKET_IFNAME=lo");
  const std::size_t added = result.size();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (std::size_t k = 0; k < added; ++k) replaced = replaced || result[k].starts_with(name);
    if (!replaced) result.push_back(text);
  }
  return result;
}

std::vector<char*> c_strings(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

pid_t start_rank(std::vector<std::string> words, std::vector<std::string> variables, const std::string& output) {
  posix_spawn_file_actions_t files{};
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes{};
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // a terminal's Control-C is for us alone
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words[0].c_str(), &files, &attributes, c_strings(words).data(),
                                   c_strings(variables).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error == 0) return child;
  const char* reason = strerrordesc_np(error);
  throw UnavailableError(Diagnostic{"U051", "",
                                    "cannot start " + words[0] + ": " + (reason != nullptr ? reason : "unknown error"),
                                    "run fewer devices, or raise the limit of processes (ulimit -u)"});
}

}  // namespace

Processes::Processes(const std::string& python, const std::string& package, const std::string& folder, int count) {
  const std::vector<std::string> variables = rank_environment(package);
  for (int rank = 0; rank < count; ++rank) {
    const std::string number = std::to_string(rank);
    try {
      ids_.push_back(
          start_rank({python, "-m", "debubble_torch", folder, number}, variables, folder + "/rank" + number + ".out"));
    } catch (...) {
      kill_all();
      throw;
    }
    states_.emplace_back();
  }
}

Processes::~Processes() { kill_all(); }

const std::vector<ProcessState>& Processes::poll() {
  for (std::size_t k = 0; k < ids_.size(); ++k) {
    siginfo_t info{};
    if (states_[k].ended || ::waitid(P_PID, static_cast<id_t>(ids_[k]), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
      continue;
    if (info.si_pid == ids_[k]) reap(k);
  }
  return states_;
}

// As long as a process is not waited for, its number, and so its group's, is no other's. What the user's code has
// started in the group goes with it.
void Processes::reap(std::size_t rank) {
  ::kill(-ids_[rank], SIGKILL);
  int status = 0;
  while (::waitpid(ids_[rank], &status, 0) < 0 && errno == EINTR) {
  }
  ProcessState& state = states_[rank];
  state.ended = true;
  if (WIFSIGNALED(status)) {
    state.signal = WTERMSIG(status);
  } else {
    state.status = WEXITSTATUS(status);
  }
}

void Processes::kill_all() {
  for (std::size_t k = 0; k < states_.size(); ++k) {
    if (!states_[k].ended) reap(k);
  }
}

HeldSignals::HeldSignals() {
  held_signal = 0;
  struct sigaction action {};
  action.sa_handler = hold_signal;
  for (std::size_t k = 0; k < kHeld.size(); ++k) {
    ::sigaction(kHeld[k], nullptr, &actions_before[k]);
    if (actions_before[k].sa_handler != SIG_IGN) ::sigaction(kHeld[k], &action, nullptr);
  }
  struct sigaction default_action {};
  default_action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &default_action, &child_action_before);
}

HeldSignals::~HeldSignals() {
  ::sigaction(SIGCHLD, &child_action_before, nullptr);
  for (std::size_t k = 0; k < kHeld.size(); ++k) ::sigaction(kHeld[k], &actions_before[k], nullptr);
  if (held_signal != 0) ::raise(held_signal);
}

int HeldSignals::received() { return held_signal; }

}  // namespace debubble::live
