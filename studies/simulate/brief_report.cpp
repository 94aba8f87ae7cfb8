#include "studies/simulate/brief_report.hpp"

#include <algorithm>
#include <vector>

#include "sim/engine/row_stream.hpp"
#include "studies/simulate/brief_analysis.hpp"
#include "studies/simulate/distinct_replicas.hpp"
#include "studies/simulate/streamed_memory.hpp"

namespace debubble {

namespace {

// What an allocator would have reserved, had the device more memory: of those that do not fit.
bool add_missing(const Job& job, std::vector<DeviceMemory>& memories) {
  const auto fits = [](const DeviceMemory& memory) { return memory.fits; };
  if (std::all_of(memories.begin(), memories.end(), fits)) return true;
  RowStream stream(job.schedule, job.costs, job.topology);
  StreamedMemory without_end(job, stream, {0});
  if (!stream.run([&](const StreamedCell& cell) { without_end.add(cell); })) return false;
  std::vector<DeviceReport> reports(memories.size());
  without_end.finish(reports);
  const std::vector<DeviceMemory> all = without_end.memories();
  for (std::size_t k = 0; k < memories.size(); ++k) {
    if (!memories[k].fits) memories[k].reserved = all[k].reserved;
  }
  return true;
}

}  // namespace

std::optional<Report> brief_report(const Job& job, int iterations) {
  if (!follows_without_spans(job)) return std::nullopt;
  RowStream stream(job.schedule, job.costs, job.topology);
  if (distinct_replicas(job, stream.program(), job.variation) > 1) return std::nullopt;
  BriefAnalysis analysis(job, stream, job.memory.capacities);
  if (!analysis.run()) return std::nullopt;
  Report report = analysis.report();
  if (std::vector<DeviceMemory> memories = analysis.memories(); !memories.empty()) {
    if (!add_missing(job, memories)) return std::nullopt;
    report.memory_fit = memory_fit(memories);
  }
  if (iterations > 0) {
    RowStream again(job.schedule, job.costs, job.topology);
    report.steady_period = steady_period(again, iterations);
  }
  return report;
}

}  // namespace debubble
