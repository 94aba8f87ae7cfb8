#include "studies/simulate/memory_verdict.hpp"

namespace debubble {

std::optional<MemoryFit> judge_memory(const Job& job, const Timeline& timeline) {
  if (job.memory.capacities.empty()) return std::nullopt;
  return memory_fit(device_memories(timeline, job.schedule, job.costs, job.memory.capacities, job.memory.allocator));
}

bool out_of_memory(const Report& report) { return report.memory_fit && report.memory_fit->spare < 0; }

}  // namespace debubble
