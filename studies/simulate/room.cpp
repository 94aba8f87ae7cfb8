#include "studies/simulate/room.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {

namespace {

constexpr Bytes kKibibyte = 1024;

// "Name:  12345 kB" of a file of /proc.
std::optional<Bytes> kibibytes_in(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    Bytes value = 0;
    if (word == name && file >> value) return value * kKibibyte;
  }
  return std::nullopt;
}

std::optional<Bytes> figure_in(const std::string& path) {
  std::ifstream file(path);
  Bytes value = 0;
  if (file >> value) return value;
  return std::nullopt;  // "max", or no such file
}

// Of its control group and those around it (version 2): the least that any has left. What only caches files gives way.
std::optional<Bytes> group_left() {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("0::")) {
  }
  if (!line.starts_with("0::")) return std::nullopt;
  std::optional<Bytes> least;
  for (std::string group = line.substr(3);; group.resize(group.rfind('/'))) {
    const std::string folder = "/sys/fs/cgroup" + (group == "/" ? "" : group);
    const std::optional<Bytes> most = figure_in(folder + "/memory.max");
    const std::optional<Bytes> used = figure_in(folder + "/memory.current");
    if (most && used) {
      std::ifstream statistics(folder + "/memory.stat");
      Bytes cached = 0;
      for (std::string name; statistics >> name && name != "inactive_file";) {
      }
      statistics >> cached;
      least = std::min(least.value_or(*most), *most - *used + cached);
    }
    if (group.find('/') == std::string::npos || group == "/") break;
  }
  return least;
}

std::optional<Bytes> own_limit_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  constexpr auto kMost = static_cast<rlim_t>(std::numeric_limits<Bytes>::max());
  const auto most = static_cast<Bytes>(std::min<rlim_t>(limit.rlim_cur, kMost));
  return most - kibibytes_in("/proc/self/status", "VmSize:").value_or(0);
}

}  // namespace

Bytes memory_left() {
  Bytes least = std::numeric_limits<Bytes>::max();
  for (const auto& left : {kibibytes_in("/proc/meminfo", "MemAvailable:"), group_left(), own_limit_left()}) {
    if (left) least = std::min(least, std::max<Bytes>(*left, 0));
  }
  return least;
}

void require_room(std::size_t ops, std::size_t bytes_each, const std::string& help) {
  constexpr std::size_t kAlwaysTried = 1'000'000;  // ops: whoever has no room for these has none for debubble
  if (ops <= kAlwaysTried) return;
  const auto needed = static_cast<Bytes>(ops * bytes_each);
  const Bytes left = memory_left();
  if (needed <= left) return;
  fail("X005", "",
       std::to_string(ops) + " ops take about " + format_size(needed) + " of memory, and this machine has " +
           format_size(left) + " left for them",
       help);
}

std::optional<MemoryFit> judge_memory(const Job& job, const Timeline& timeline) {
  if (job.memory.capacities.empty()) return std::nullopt;
  return memory_fit(device_memories(timeline, job.schedule, job.costs, job.memory.capacities, job.memory.allocator));
}

bool out_of_memory(const Report& report) { return report.memory_fit && report.memory_fit->spare < 0; }

}  // namespace debubble
