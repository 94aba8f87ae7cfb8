#include "sim/engine/cluster.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/engine/cluster_run.hpp"
#include "sim/engine/cluster_timeline.hpp"

namespace debubble {

std::vector<Timeline> simulate_cluster(const Program& program, const Schedule& schedule, const StageCosts& costs,
                                       const Topology& topology, const ClusterOptions& options) {
  ClusterRun run(program, schedule, costs, topology, options);
  run.run();
  if (run.stopped()) return {};
  const StepWork* step = options.step == nullptr || options.step->empty() ? nullptr : options.step;
  std::vector<Timeline> timelines;
  for (int replica = 0; replica < run.replicas(); ++replica) {
    timelines.push_back(timeline_of(run, replica, program, schedule, step));
    check_device_time(timelines.back().makespan, program.devices);
  }
  return timelines;
}

ClusterTotals simulate_cluster_totals(const Program& program, const Schedule& schedule, const StageCosts& costs,
                                      const Topology& topology, const ClusterOptions& options) {
  ClusterRun run(program, schedule, costs, topology, options);
  run.run();
  ClusterTotals result;
  for (int replica = 0; replica < run.replicas(); ++replica) {
    Totals totals;
    for (int d = 0; d < program.devices; ++d) {
      DeviceTotals device = run.lanes().totals(replica, d);
      device.first_begin = std::max<Nanoseconds>(device.first_begin, 0);  // -1: nothing ran here
      totals.span = std::max(totals.span, device.last_end - device.first_begin);
      totals.devices.push_back(device);
    }
    totals.makespan = run.makespan(replica);
    check_device_time(totals.makespan, program.devices);
    result.makespan = std::max(result.makespan, totals.makespan);
    result.replica_makespan.push_back(totals.makespan);
    result.replicas.push_back(std::move(totals));
  }
  return result;
}

}  // namespace debubble
