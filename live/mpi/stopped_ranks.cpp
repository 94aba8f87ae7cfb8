#include "live/mpi/stopped_ranks.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "live/backends.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"

namespace debubble::live {

namespace {

using std::chrono::steady_clock;
using Environment = std::vector<std::string>;

// As mpi_rank_of_environment reads them of this process.
constexpr std::array<std::string_view, 3> kRankVariables{"OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK="};
// What names the job: the same in all its ranks.
constexpr std::array<std::string_view, 3> kJobVariables{"PMIX_NAMESPACE=", "SLURM_JOB_ID=", "PMI_PORT="};

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Environment environment_of(const std::filesystem::path& process) {
  const std::string text = contents(process / "environ");
  Environment variables;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    variables.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return variables;
}

template <std::size_t kCount>
std::string first_of(const Environment& environment, const std::array<std::string_view, kCount>& names) {
  for (const std::string_view name : names) {
    for (const std::string& variable : environment) {
      if (variable.starts_with(name)) return variable.substr(name.size());
    }
  }
  return "";
}

// The state is the first letter after the name, which may hold anything but ends with the last ")".
bool is_stopped(const std::filesystem::path& process) {
  const std::string text = contents(process / "stat");
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end, 3) == ") T";
}

// Looks at the neighbours a few times within the limit. Who has been seen stopped at every look for that long is named.
// If this process was stopped itself, or the whole job was, the looks are far apart, and it begins anew.
class NeighbourWatch {
 public:
  explicit NeighbourWatch(Nanoseconds patience)
      : patience_(patience),
        limit_(std::chrono::nanoseconds(most_silence(patience)) + kMargin),
        own_rank_(mpi_rank_of_environment().value_or(0)) {}

  [[noreturn]] void run() {
    const auto pause = limit_ / kLooks;
    for (auto last = steady_clock::now();; last = steady_clock::now()) {
      std::this_thread::sleep_for(pause);
      if (steady_clock::now() - last > 2 * pause) seen_.clear();
      look();
    }
  }

 private:
  static constexpr std::chrono::nanoseconds kMargin = std::chrono::seconds(1);
  static constexpr int kLooks = 16;

  void look() {
    std::map<int, steady_clock::time_point> now_stopped;
    for (const StoppedRank& stopped : stopped_ranks()) {
      const auto known = seen_.find(stopped.process);
      const auto since = known == seen_.end() ? steady_clock::now() : known->second;
      if (steady_clock::now() - since >= limit_ - limit_ / kLooks) end(stopped);
      now_stopped.emplace(stopped.process, since);
    }
    seen_ = std::move(now_stopped);
  }

  // One after the other: the first that ends takes the rest with it, so that it is said once.
  [[noreturn]] void end(const StoppedRank& stopped) const {
    constexpr int kMostTurns = 10;
    std::this_thread::sleep_for(std::chrono::milliseconds(300) * std::min(own_rank_, kMostTurns));
    const std::string text = "debubble: rank " + std::to_string(stopped.rank) + " (process " +
                             std::to_string(stopped.process) + ") has been stopped for more than " +
                             whole_seconds(patience_) +
                             ", and the others wait for it: the run ends\n  = help: look at what stopped it; "
                             "--watchdog says how long a rank may give no sign of life\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    std::_Exit(1);
  }

  Nanoseconds patience_;
  std::chrono::nanoseconds limit_;
  int own_rank_;
  std::map<int, steady_clock::time_point> seen_;  // by process: stopped since
};

}  // namespace

std::vector<StoppedRank> stopped_ranks() {
  static const std::string own_job = first_of(environment_of("/proc/self"), kJobVariables);
  std::vector<StoppedRank> stopped;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::optional<int> process = read_whole<int>(entry->path().filename().string());
    if (!process || !is_stopped(entry->path())) continue;
    const Environment environment = environment_of(entry->path());
    const std::optional<int> rank = read_whole<int>(first_of(environment, kRankVariables));
    if (rank && first_of(environment, kJobVariables) == own_job) stopped.push_back({*rank, *process});
  }
  std::sort(stopped.begin(), stopped.end(),
            [](const StoppedRank& a, const StoppedRank& b) { return a.process < b.process; });
  return stopped;
}

void watch_for_stopped_ranks(Nanoseconds patience) {
  static bool watching = false;
  if (watching || !mpi_rank_of_environment()) return;
  watching = true;
  // The process's signals are for the thread that works.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([watch = NeighbourWatch(patience)]() mutable { watch.run(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::string whole_seconds(Nanoseconds time) { return format_with_unit(time, scale_of("s")); }

}  // namespace debubble::live
