// ClusterRun: a run in the order of events: cells end, flows begin and share links, step tasks take lanes. What
// sim/engine/cluster.hpp promises is made from it. Internal to sim/engine.
//
//     ClusterRun ── takes the next event, hands it to the part it concerns, and starts tasks after each instant
//       ClusterTasks ── step tasks            each part knows those below it, none knows one above:
//         ClusterNodes ── cells, transfers    what a node's end means for tasks, ClusterRun passes on
//           ClusterLinks, ClusterLanes ── what nodes and tasks share; ClusterMemory ── what nodes leave
//             ClusterClock ── time and events
#pragma once

#include <cstdint>

#include "sim/engine/cluster.hpp"
#include "sim/engine/cluster_clock.hpp"
#include "sim/engine/cluster_lanes.hpp"
#include "sim/engine/cluster_links.hpp"
#include "sim/engine/cluster_memory.hpp"
#include "sim/engine/cluster_nodes.hpp"
#include "sim/engine/cluster_tasks.hpp"
#include "sim/engine/tables.hpp"

namespace debubble {

class ClusterRun {
 public:
  ClusterRun(const Program& program, const Schedule& schedule, const StageCosts& costs, const Topology& topology,
             const ClusterOptions& options);
  void run();

  // By ClusterOptions::capacities; then only the beginning is known.
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] int replicas() const { return replicas_; }
  [[nodiscard]] const Tables& tables() const { return tables_; }
  [[nodiscard]] const ClusterLanes& lanes() const { return lanes_; }
  [[nodiscard]] const ClusterLinks& links() const { return links_; }
  [[nodiscard]] const ClusterNodes& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<ClusterTasks::TaskRun>& task_runs() const { return tasks_.runs(); }
  // End of the replica's last cell or task.
  [[nodiscard]] Nanoseconds makespan(int replica) const;

 private:
  void handle(const Event& event);
  void flow_has_left(FlowOwner owner);

  int devices_;
  int replicas_;
  bool stopped_ = false;
  Tables tables_;
  // Each part holds references to those before it.
  ClusterClock clock_;
  ClusterLanes lanes_;
  ClusterLinks links_;
  ClusterMemory memory_;
  ClusterNodes nodes_;
  ClusterTasks tasks_;
};

}  // namespace debubble
