// The cores that this process may use, and pinning threads to them.
#pragma once

#include <string>

namespace debubble::live {

struct Cores {
  int in_mask = 0;  // of the affinity mask
  int quota = 0;    // whole cores of the cgroup's CPU quota; 0: no quota

  [[nodiscard]] int usable() const { return quota > 0 && quota < in_mask ? quota : in_mask; }
};
[[nodiscard]] Cores usable_cores();
// "4 in the affinity mask, a CPU quota of 2"
[[nodiscard]] std::string to_string(const Cores& cores);

// A line of /sys/fs/cgroup/cpu.max, "150000 100000": 1 core. "max 100000", or anything else: 0.
[[nodiscard]] int cores_of_quota(const std::string& cpu_max);

// The calling thread runs on the n-th core of the mask from now on. Without effect where the system refuses.
void pin_to_core(int n);

// "AMD EPYC 9654 96-Core Processor (2 cores)"; "unknown CPU" where the system does not say.
[[nodiscard]] std::string cpu_name();

}  // namespace debubble::live
