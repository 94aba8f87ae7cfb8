#include "tools/script_run/guard_process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "formats/files/system_reason.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr std::chrono::milliseconds kTimeLimit{10'000};
constexpr std::size_t kMostRecordBytes = 8U << 20U;
constexpr std::size_t kMostOutput = 16U << 20U;
constexpr std::size_t kKeptOutput = 4096;
constexpr int kOptionsEnd = 10;
constexpr int kRecordsEnd = 9;
constexpr ::uid_t kNobody = 65534;

[[noreturn]] void cannot_start(const char* what) {
  fail("P032", "--run-script", std::string("the guard cannot be started: ") + what + ": " + system_reason(errno),
       "without --run-script the script is read, and nothing is run");
}

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

// Numbers that are out of the way of those that the child gets.
Descriptor high(int number) {
  Descriptor low(number);
  Descriptor result(::fcntl(low.number(), F_DUPFD_CLOEXEC, 700));
  if (result.number() < 0) cannot_start("descriptor");
  return result;
}

Descriptor memory_file(const std::string& text) {
  const int number = ::memfd_create("debubble", MFD_CLOEXEC);
  if (number < 0) cannot_start("memory file");
  Descriptor file = high(number);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(file.number(), text.data() + at, text.size() - at);
    if (count < 0 && errno != EINTR) cannot_start("memory file");
    if (count > 0) at += static_cast<std::size_t>(count);
  }
  if (::lseek(file.number(), 0, SEEK_SET) < 0) cannot_start("memory file");
  return file;
}

std::pair<Descriptor, Descriptor> pipe_ends() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) cannot_start("pipe");
  Descriptor reading = high(ends[0]);
  return {std::move(reading), high(ends[1])};
}

struct Handed {
  int from;
  int to;
};

// Between fork and exec: nothing but system calls.
[[noreturn]] void become(const std::vector<Handed>& handed, char* const* argv) {
  std::array<char*, 1> nothing{nullptr};
  if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
                           ::setresuid(kNobody, kNobody, kNobody) != 0)) {
    ::_exit(126);
  }
  for (const Handed& one : handed) {
    if (::dup2(one.from, one.to) < 0) ::_exit(126);
  }
  ::sigset_t none{};
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(argv[0], argv, nothing.data());
  ::_exit(126);
}

class BoundedReading {
 public:
  explicit BoundedReading(ProcessEnd& end) : end_(end) {}

  // Until both are closed, which is when nobody of the guard is left; or why it is to be ended.
  std::string follow(std::array<Descriptor, 2>& ends) {
    const auto deadline = std::chrono::steady_clock::now() + kTimeLimit;
    while (ends[0].number() >= 0 || ends[1].number() >= 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) return "it ran longer than 10 s";
      std::array<pollfd, 2> waiting{pollfd{ends[0].number(), POLLIN, 0}, pollfd{ends[1].number(), POLLIN, 0}};
      if (::poll(waiting.data(), waiting.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) return "poll";
      for (std::size_t k = 0; k < 2; ++k) {
        if (waiting.at(k).revents != 0 && !take(ends.at(k), k == 0)) ends.at(k).close();
      }
      if (end_.records.size() > kMostRecordBytes) return "it started more programs than can be recorded (8 MiB)";
      if (printed_ > kMostOutput) return "it printed more than 16 MiB";
    }
    return "";
  }

 private:
  bool take(const Descriptor& from, bool records) {
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(from.number(), buffer.data(), buffer.size());
    if (count < 0) return errno == EINTR;
    std::string& text = records ? end_.records : end_.output;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (!records) {
      printed_ += static_cast<std::size_t>(count);
      if (text.size() > kKeptOutput) text.erase(0, text.size() - kKeptOutput);
    }
    return count > 0;
  }

  ProcessEnd& end_;
  std::size_t printed_ = 0;
};

// A limit of 1,024 is usual; a run needs two for each file.
void allow_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= 2048) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= 2048 ? 2048 : limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

ProcessEnd run_process(GuardedProcess process) {
  allow_descriptors();
  std::string options;
  for (const std::string& word : process.options) options += word + '\0';
  std::vector<Descriptor> files;
  files.push_back(memory_file(options));
  std::vector<Handed> handed{{files.back().number(), kOptionsEnd}};
  for (std::size_t k = 0; k < process.files.size(); ++k) {
    files.push_back(memory_file(process.files[k]));
    handed.push_back({files.back().number(), process.first_file + static_cast<int>(k)});
  }
  Descriptor nothing = high(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto [records, records_in] = pipe_ends();
  auto [output, output_in] = pipe_ends();
  for (const Handed one : {Handed{nothing.number(), STDIN_FILENO}, Handed{output_in.number(), STDOUT_FILENO},
                           Handed{output_in.number(), STDERR_FILENO}, Handed{records_in.number(), kRecordsEnd}}) {
    handed.push_back(one);
  }
  process.argv[process.options_at] = std::to_string(kOptionsEnd);
  std::vector<char*> argv;
  for (std::string& word : process.argv) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) cannot_start("fork");
  if (child == 0) become(handed, argv.data());
  records_in.close();
  output_in.close();
  ProcessEnd end;
  std::array<Descriptor, 2> ends{std::move(records), std::move(output)};
  end.stopped = BoundedReading(end).follow(ends);
  // bwrap's death is that of its child, which is the first process of the guard, and so of all of them.
  if (!end.stopped.empty()) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

}  // namespace debubble
