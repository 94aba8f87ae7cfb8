#include "tests/support/command.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/support/places.hpp"

namespace debubble::testing {

namespace {

namespace fs = std::filesystem;

// mkdtemp puts letters of its own in place of six X.
std::string make_folder() {
  std::string name = (fs::temp_directory_path() / ("debubble-cli-" + std::string(6, 'X'))).string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  return name;
}

std::string contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// posix_spawn's lists need to be freed.
class Actions {
 public:
  Actions() { ::posix_spawn_file_actions_init(&actions_); }
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;

  void open(int descriptor, const std::string& path, int flags) {
    ::posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(), flags, 0600);
  }
  void close(int descriptor) { ::posix_spawn_file_actions_addclose(&actions_, descriptor); }
  void copy(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void enter(const std::string& folder) { ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str()); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// Signals as a shell in the foreground hands them over, whatever the test runner ignores.
class DefaultSignals {
 public:
  DefaultSignals() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&signals, signal);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~DefaultSignals() { ::posix_spawnattr_destroy(&attributes_); }
  DefaultSignals(const DefaultSignals&) = delete;
  DefaultSignals& operator=(const DefaultSignals&) = delete;
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

void connect_stdout(Actions& actions, Surroundings::Stdout kind, const std::string& file) {
  switch (kind) {
    case Surroundings::Stdout::kFile:
      actions.open(STDOUT_FILENO, file, O_WRONLY | O_CREAT | O_TRUNC);
      break;
    case Surroundings::Stdout::kClosed:
      actions.close(STDOUT_FILENO);
      break;
    case Surroundings::Stdout::kFull:
      actions.open(STDOUT_FILENO, "/dev/full", O_WRONLY);
      break;
    case Surroundings::Stdout::kPipeWithoutReader:
      break;  // made by spawn, which must close its ends
  }
}

pid_t spawn(const Words& arguments, const Surroundings& surroundings, const std::string& folder,
            const std::string& aside) {
  std::vector<std::string> words{command_path()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment{"PATH=/usr/bin:/bin", "TERM=xterm"};
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
  }
  environment.insert(environment.end(), surroundings.environment.begin(), surroundings.environment.end());
  Actions actions;
  actions.open(STDIN_FILENO, aside + "/in", O_RDONLY);
  actions.open(STDERR_FILENO, aside + "/err", O_WRONLY | O_CREAT | O_TRUNC);
  connect_stdout(actions, surroundings.standard_output, aside + "/out");
  int ends[2] = {-1, -1};
  if (surroundings.standard_output == Surroundings::Stdout::kPipeWithoutReader) {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    actions.copy(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
  }
  actions.enter(folder);
  const DefaultSignals attributes;
  pid_t child = 0;
  const int error = ::posix_spawn(&child, command_path().c_str(), actions.get(), attributes.get(),
                                  pointers(words).data(), pointers(environment).data());
  if (ends[1] >= 0) ::close(ends[1]);
  if (error != 0) throw std::runtime_error("cannot start " + command_path());
  return child;
}

// Waits until it ends, sending what is to be sent meanwhile.
void wait_for(pid_t child, const Surroundings& surroundings, Outcome& outcome) {
  const auto end = std::chrono::steady_clock::now() + surroundings.limit;
  bool sent = surroundings.signal == 0;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (!sent && surroundings.signal_when()) {
      ::kill(child, surroundings.signal);
      sent = true;
    }
    if (std::chrono::steady_clock::now() > end) {
      outcome.timed_out = true;
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// What is left of stderr but "debubble: simulating 80 ops ...", said of whatever takes longer than two seconds: where a
// sanitizer watches, that may be anything.
std::string without_progress(const std::string& err) {
  std::istringstream lines(err);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    const bool progress = line.ends_with(" ...") || line.ends_with(" left");  // "589 of 1000 rows, about 1 s left"
    if (!line.starts_with("debubble: ") || !progress) rest += line + "\n";
  }
  return rest;
}

}  // namespace

Words::Words(const std::string& text) {
  std::string word;
  bool quoted = false;
  bool begun = false;
  for (const char letter : text) {
    if (letter == '\'') {
      quoted = !quoted;
      begun = true;
    } else if (letter != ' ' || quoted) {
      word += letter;
      begun = true;
    } else if (begun) {
      push_back(std::exchange(word, {}));
      begun = false;
    }
  }
  if (begun) push_back(word);
}

Folder::Folder() : path_(make_folder()) {}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void Folder::write(const std::string& name, std::string_view text) const {
  std::ofstream stream(path(name), std::ios::binary);
  stream << text;
  if (!stream.flush()) throw std::runtime_error("cannot write " + name);
}

std::string Folder::read(const std::string& name) const { return contents(path(name)); }

std::string Folder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

Outcome Folder::run(const Words& arguments, const Surroundings& surroundings) const {
  const Folder aside;  // so that what is captured does not lie among the command's own files
  aside.write("in", surroundings.input);
  Outcome outcome;
  wait_for(spawn(arguments, surroundings, path_, aside.path("")), surroundings, outcome);
  if (surroundings.standard_output == Surroundings::Stdout::kFile) outcome.out = aside.read("out");
  outcome.err = aside.read("err");
  return outcome;
}

std::string Folder::data(const Words& arguments, const Surroundings& surroundings) const {
  const Outcome outcome = run(arguments, surroundings);
  REQUIRE(without_progress(outcome.err) == "");
  REQUIRE(outcome.status == 0);
  return outcome.out;
}

nlohmann::json Folder::json(const Words& arguments, const Surroundings& surroundings) const {
  const bool said = std::find(arguments.begin(), arguments.end(), "--format") != arguments.end();
  return nlohmann::json::parse(data(said ? arguments : joined(arguments, "--format json"), surroundings));
}

std::string Folder::refusal(const Words& arguments, const Surroundings& surroundings) const {
  const auto snapshot = [this] {
    std::string text;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      text += entry.path().string() + " " + std::to_string(entry.last_write_time().time_since_epoch().count()) + "\n";
    }
    return text;
  };
  const std::string before = snapshot();
  const Outcome outcome = run(arguments, surroundings);
  if (outcome.timed_out) return "it ran too long";
  if (outcome.status != 2) return "exit status " + std::to_string(outcome.status) + ", stderr:\n" + outcome.err;
  if (!outcome.out.empty()) return "it printed:\n" + outcome.out;
  if (snapshot() != before) return "it changed files; now there are: " + files();
  return without_progress(outcome.err);  // of a slow machine
}

}  // namespace debubble::testing
