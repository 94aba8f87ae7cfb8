// ClusterTasks: the step tasks of a ClusterRun. They take lanes of all their devices at once, run their phases, and
// slow the compute down that runs at the same time. Internal to sim/engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/step_work.hpp"
#include "sim/core/variation.hpp"
#include "sim/engine/activities.hpp"
#include "sim/engine/cluster_clock.hpp"
#include "sim/engine/cluster_lanes.hpp"
#include "sim/engine/cluster_links.hpp"
#include "sim/engine/cluster_nodes.hpp"

namespace debubble {

class ClusterTasks {
 public:
  // A step task in one replica, or in all of them at once.
  struct TaskRun {
    std::int32_t task = 0;
    std::int32_t replica = -1;  // -1: all
    std::int32_t unmet = 0;
    std::int32_t open_sequences = 0;
    Nanoseconds ready = -1;
    Nanoseconds begin = -1;
    Nanoseconds end = -1;
    Nanoseconds alone = 0;      // its length without contention
    Nanoseconds straggled = 0;  // the part of it by which it varies from its task's; may be below 0
    std::vector<Cause> causes;  // by replica that takes part: what it waited for last there
  };

  // Makes the lanes contended and adds waits to nodes where the step asks for it. `variation` may be null.
  ClusterTasks(const Program& program, const Schedule& schedule, const StepWork& step, const Variation* variation,
               int replicas, ClusterClock& clock, ClusterLanes& lanes, ClusterLinks& links, ClusterNodes& nodes);

  [[nodiscard]] const std::vector<TaskRun>& runs() const { return runs_; }
  [[nodiscard]] bool all_ended() const;

  // Those that wait for nothing may start.
  void start();
  // Starts what may start, after the events of an instant.
  void start_waiting();

  void node_has_ended(int replica, std::int32_t node) {
    if (lanes_.contended()) may_start_ = may_start_ || !waiting_.empty();  // it has left a lane
    if (!after_node_.empty()) meet_after_node(replica, node);
  }
  // Events: a phase's flow has left its links; a phase has ended.
  void phase_has_left(std::int32_t number);
  void end_phase(std::int32_t number);

 private:
  // Flows of a task one after the other, or its duration.
  struct PhaseSequence {
    std::int32_t run = 0;
    std::vector<ClusterLinks::Route> routes;
    std::vector<Bytes> bytes;
    std::size_t next = 0;
    Nanoseconds at = -1;  // when its event happens; others are out of date
  };

  void add_sequences(std::int32_t run, const Variation* variation);
  [[nodiscard]] Nanoseconds varied(const TaskRun& run, const Variation* variation) const;
  void count_waits();

  template <typename Visit>
  void for_each_lane(const TaskRun& run, const Visit& visit);
  void meet_wait(std::int32_t run);
  void meet_after_node(int replica, std::int32_t node);
  [[nodiscard]] bool can_begin(const TaskRun& run);
  void begin(std::int32_t run);
  void find_causes(TaskRun& run);
  void begin_phase(std::int32_t number);
  void end(std::int32_t run);
  void release_after(std::int32_t run);
  void set_slow(int replica, std::int32_t device, double factor);
  void stretch(std::int32_t run);

  const StepWork& step_;
  int replicas_;
  ClusterClock& clock_;
  ClusterLanes& lanes_;
  ClusterLinks& links_;
  ClusterNodes& nodes_;
  StageNodes stage_nodes_;

  std::vector<TaskRun> runs_;
  std::vector<std::int32_t> first_run_;  // by task: its run in replica 0, or in all
  std::vector<StretchedWork> work_;      // by run; of those on compute lanes
  std::vector<PhaseSequence> sequences_;
  std::vector<std::int32_t> first_sequence_;           // by run, one more
  std::vector<std::vector<std::int32_t>> after_task_;  // by task: tasks
  std::vector<std::vector<std::int32_t>> after_node_;  // by node: tasks
  std::vector<std::int32_t> waiting_;                  // runs with nothing unmet, by (ready, task, replica)
  bool may_start_ = false;                             // something has changed since `waiting_` was tried
};

}  // namespace debubble
