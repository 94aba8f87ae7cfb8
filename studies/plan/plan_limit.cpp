// What limits the best plan.

#include <algorithm>

#include "studies/plan/plan.hpp"

namespace debubble {
namespace {

constexpr double kLiftedGap = 0.02;

PlanLimit shares_of(const Report& report) {
  PlanLimit limit;
  const double all = static_cast<double>(report.makespan) * static_cast<double>(report.devices.size());
  if (all <= 0) return limit;
  Nanoseconds busy = 0;
  Nanoseconds idle = 0;
  for (const DeviceReport& device : report.devices) {
    busy += device.busy;
    idle += device.idle;
  }
  Nanoseconds communication = 0;
  for (const IdleCause cause :
       {IdleCause::kTransferLatency, IdleCause::kTransferBandwidth, IdleCause::kContention, IdleCause::kCollective}) {
    communication += idle_by(report, cause);
  }
  const Nanoseconds inside = std::min(busy, report.inside_collectives);
  limit.compute = static_cast<double>(busy - inside) / all;
  limit.inside_collectives = static_cast<double>(inside) / all;
  limit.communication = static_cast<double>(communication) / all;
  limit.waiting = static_cast<double>(idle - communication) / all;
  return limit;
}

}  // namespace

PlanLimit find_plan_limit(const PlanRequest& request, const SearchOptions& options, const SearchResult& found,
                          const PlanSearch& search, const Report& best, Progress& progress) {
  PlanLimit limit = shares_of(best);
  const bool excludes = found.excluded_by_memory > 0 || found.out_of_memory > 0;
  if (!excludes || found.interrupted || options.budget || options.objective != PlanObjective::kStep) return limit;
  progress.phase("what the limit of the memory costs");
  PlanRequest lifted = request;
  lifted.job.memory.memory = "off";
  SearchOptions wider = options;
  wider.gap = std::max(options.gap, kLiftedGap);
  PlanSearch without_limit(lifted, plan_space(lifted));
  without_limit.take_bases(search);
  const SearchResult free = without_limit.run(wider, progress);
  if (free.runs.empty()) return limit;
  const PlannedRun& fastest = free.runs.front();
  // Not the best where another comes first than the fastest.
  const Nanoseconds limited =
      std::min_element(found.runs.begin(), found.runs.end(), [](const PlannedRun& a, const PlannedRun& b) {
        return a.step < b.step;
      })->step;
  const auto step = static_cast<double>(limited);
  if (fastest.step < limited) limit.without_memory_limit = fastest;
  limit.most_gain = std::max(0.0, 1 - static_cast<double>(fastest.step) * (1 - free.remaining_gap) / step);
  return limit;
}

}  // namespace debubble
