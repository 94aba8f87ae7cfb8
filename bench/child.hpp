// CPU time of this process, and CPU time or elapsed time of the real command run as a child.
#pragma once

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace debubble::bench {

inline double cpu_seconds(const rusage& usage) {
  constexpr double kMicroseconds = 1e-6;
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * kMicroseconds;
}

inline double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return cpu_seconds(usage);
}

// A child counts the most memory of its parent as its own, until it runs another program: that of benchmarks that ran
// before. Forgets it, but for what is in use.
inline void forget_most_memory() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

enum class Counted { kCpu, kElapsed, kMostMemory };

// `debubble` with these words, start-up and all; what it prints is thrown away. Of memory bytes stand for seconds.
inline void time_command(benchmark::State& state, std::vector<std::string> words, Counted counted = Counted::kCpu) {
  const char* given = std::getenv("DEBUBBLE_BINARY");
  words.insert(words.begin(), given != nullptr ? given : DEBUBBLE_BINARY);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t silent;
  posix_spawn_file_actions_init(&silent);
  posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  for (auto _ : state) {
    pid_t child = 0;
    int status = 1;
    rusage usage{};
    if (counted == Counted::kMostMemory) forget_most_memory();
    const auto begin = std::chrono::steady_clock::now();
    if (posix_spawn(&child, words.front().c_str(), &silent, nullptr, arguments.data(), environ) == 0) {
      wait4(child, &status, 0, &usage);
    }
    if (status != 0) {
      state.SkipWithError("the debubble binary did not run");
      break;
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    constexpr double kKibibyte = 1024;
    state.SetIterationTime(counted == Counted::kCpu       ? cpu_seconds(usage)
                           : counted == Counted::kElapsed ? elapsed.count()
                                                          : static_cast<double>(usage.ru_maxrss) * kKibibyte);
  }
  posix_spawn_file_actions_destroy(&silent);
}

}  // namespace debubble::bench
