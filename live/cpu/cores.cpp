#include "live/cpu/cores.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace debubble::live {

namespace {

cpu_set_t affinity() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) CPU_SET(0, &mask);
  return mask;
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

int cores_of_quota(const std::string& cpu_max) {
  std::istringstream words(cpu_max);
  long long quota = 0;
  long long period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::clamp(quota / period, 1LL, 1LL << 20));
}

Cores usable_cores() {
  const cpu_set_t mask = affinity();
  Cores cores;
  cores.in_mask = std::max(1, CPU_COUNT(&mask));
  cores.quota = cores_of_quota(first_line("/sys/fs/cgroup/cpu.max"));
  if (cores.quota == 0) {  // version 1 of control groups has a file for each of the two numbers
    cores.quota = cores_of_quota(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") + " " +
                                 first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
  }
  return cores;
}

std::string to_string(const Cores& cores) {
  const std::string mask = std::to_string(cores.in_mask) + " in the affinity mask";
  return cores.quota > 0 ? mask + ", a CPU quota of " + std::to_string(cores.quota) : mask;
}

void pin_to_core(int n) {
  const cpu_set_t mask = affinity();
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &mask) || n-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string name = "unknown CPU";
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    name = line.substr(colon + 2);
    break;
  }
  const int cores = usable_cores().usable();
  return name + " (" + std::to_string(cores) + (cores == 1 ? " core)" : " cores)");
}

}  // namespace debubble::live
