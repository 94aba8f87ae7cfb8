#include "sim/engine/cluster_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble {

bool ClusterTasks::all_ended() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const TaskRun& run) { return run.end >= 0; });
}

// Of every device it runs on, in every replica it runs in: visit(replica, device).
template <typename Visit>
void ClusterTasks::for_each_lane(const TaskRun& run, const Visit& visit) {
  const int first = run.replica < 0 ? 0 : run.replica;
  const int last = run.replica < 0 ? replicas_ - 1 : run.replica;
  for (int replica = first; replica <= last; ++replica) {
    for (const std::int32_t device : step_.tasks[to_index(run.task)].devices) visit(replica, device);
  }
}

void ClusterTasks::start() {
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (runs_[run].unmet != 0) continue;
    runs_[run].unmet = 1;  // the start itself
    meet_wait(static_cast<std::int32_t>(run));
  }
}

// One thing less that a task waits for. It is never begun here: all events of the instant come first, so that an op
// that may begin now goes before a task on its lane, whichever of the two was reported first.
void ClusterTasks::meet_wait(std::int32_t run) {
  TaskRun& task = runs_[to_index(run)];
  if (--task.unmet > 0) return;
  task.ready = clock_.now;
  const auto earlier = [&](std::int32_t a, std::int32_t b) {
    return runs_[to_index(a)].ready != runs_[to_index(b)].ready ? runs_[to_index(a)].ready < runs_[to_index(b)].ready
                                                                : a < b;
  };
  waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), run, earlier), run);
  may_start_ = true;
}

void ClusterTasks::meet_after_node(int replica, std::int32_t node) {
  for (const std::int32_t task : after_node_[to_index(node)]) {
    const std::int32_t first = first_run_[to_index(task)];
    meet_wait(first + (runs_[to_index(first)].replica < 0 ? 0 : replica));
  }
}

bool ClusterTasks::can_begin(const TaskRun& run) {
  const bool compute = step_.tasks[to_index(run.task)].lane == StepTask::Lane::kCompute;
  bool free = true;
  for_each_lane(run, [&](int replica, std::int32_t device) {
    const DeviceLanes& lane = lanes_.of(replica, device);
    free = free && (compute ? lane.occupied == 0 && lane.task < 0 : lane.collective < 0);
  });
  return free;
}

// Those that have waited longest go first. One that finds a lane taken delays no other, nor does it keep the lanes that
// are free: tasks that need many devices would idle them all.
void ClusterTasks::start_waiting() {
  if (!may_start_) return;
  may_start_ = false;
  std::vector<std::int32_t> left;
  const std::vector<std::int32_t> candidates = std::move(waiting_);
  waiting_.clear();
  for (const std::int32_t run : candidates) {
    if (can_begin(runs_[to_index(run)])) {
      begin(run);  // even a task without length ends in an event of its own, so nothing joins those waiting here
    } else {
      left.push_back(run);
    }
  }
  waiting_ = std::move(left);
}

void ClusterTasks::begin(std::int32_t run) {
  TaskRun& task = runs_[to_index(run)];
  const StepTask& what = step_.tasks[to_index(task.task)];
  const bool compute = what.lane == StepTask::Lane::kCompute;
  task.begin = clock_.now;
  find_causes(task);
  for_each_lane(task, [&](int replica, std::int32_t device) {
    DeviceLanes& lane = lanes_.of(replica, device);
    (compute ? lane.task : lane.collective) = run;
    if (what.slow_down > 0) set_slow(replica, device, 1 + what.slow_down);
  });
  const std::int32_t first = first_sequence_[to_index(run)];
  const std::int32_t end = first_sequence_[to_index(run) + 1];
  task.open_sequences = end - first;
  for (std::int32_t sequence = first; sequence < end; ++sequence) begin_phase(sequence);
  if (!compute || end - first != 1) return;
  work_[to_index(run)] = {static_cast<double>(task.alone), clock_.now, 1};
  stretch(run);
}

// In each replica the latest of what it waited for; on a tie the lane, for nothing was lost by waiting for the rest.
void ClusterTasks::find_causes(TaskRun& run) {
  const StepTask& task = step_.tasks[to_index(run.task)];
  const bool compute = task.lane == StepTask::Lane::kCompute;
  const int first_replica = run.replica < 0 ? 0 : run.replica;
  const int last_replica = run.replica < 0 ? replicas_ - 1 : run.replica;
  for (int replica = first_replica; replica <= last_replica; ++replica) {
    Cause cause;
    Nanoseconds latest = -1;
    const auto offer = [&](const Cause& other, Nanoseconds ended) {
      if (other.kind == Cause::Kind::kNothing || ended <= latest) return;
      cause = other;
      latest = ended;
    };
    for (const std::int32_t device : task.devices) {
      const DeviceLanes& lane = lanes_.of(replica, device);
      if (compute) {
        offer(lane.last, lane.last_end);
      } else if (lane.last_collective.kind == Cause::Kind::kTask) {
        offer(lane.last_collective, runs_[to_index(lane.last_collective.index)].end);
      }
    }
    for (const StageName& stage : task.after_stages) {
      const std::int32_t node = stage_nodes_.last_backward[stage_nodes_.index(stage)];
      if (node >= 0) offer({Cause::Kind::kNode, node}, nodes_.end_of(replica, node));
    }
    for (const std::int32_t before : task.after) {
      const std::int32_t first = first_run_[to_index(before)];
      const std::int32_t other = runs_[to_index(first)].replica < 0 ? first : first + replica;
      offer({Cause::Kind::kTask, other}, runs_[to_index(other)].end);
    }
    run.causes.push_back(cause);
  }
}

void ClusterTasks::begin_phase(std::int32_t number) {
  PhaseSequence& sequence = sequences_[to_index(number)];
  if (sequence.next == sequence.routes.size()) {
    if (--runs_[to_index(sequence.run)].open_sequences == 0) end(sequence.run);
    return;
  }
  const ClusterLinks::Route& route = sequence.routes[sequence.next];
  if (route.in_network >= 0) {
    return links_.begin(route, sequence.bytes[sequence.next], {FlowUse::kPhase, 0, static_cast<std::uint32_t>(number)});
  }
  sequence.at = clock_.now + route.alone.total();
  clock_.schedule(sequence.at, Event::Kind::kPhaseEnds, number);
}

void ClusterTasks::phase_has_left(std::int32_t number) {
  PhaseSequence& sequence = sequences_[to_index(number)];
  sequence.at = links_.arrival(sequence.routes[sequence.next]);
  clock_.schedule(sequence.at, Event::Kind::kPhaseEnds, number);
}

void ClusterTasks::end_phase(std::int32_t number) {
  PhaseSequence& sequence = sequences_[to_index(number)];
  if (sequence.at != clock_.now) return;  // it was stretched since
  sequence.at = -1;
  ++sequence.next;
  begin_phase(number);
}

void ClusterTasks::end(std::int32_t run) {
  TaskRun& task = runs_[to_index(run)];
  const StepTask& what = step_.tasks[to_index(task.task)];
  const bool compute = what.lane == StepTask::Lane::kCompute;
  task.end = clock_.now;
  for_each_lane(task, [&](int replica, std::int32_t device) {
    DeviceLanes& lane = lanes_.of(replica, device);
    DeviceTotals& totals = lanes_.totals(replica, device);
    totals.last_end = std::max(totals.last_end, clock_.now);
    const Cause cause{Cause::Kind::kTask, run};
    if (what.slow_down > 0) set_slow(replica, device, 1);
    if (!compute) {
      lane.collective = -1;
      lane.last_collective = cause;
      return;
    }
    lane.task = -1;
    lane.last = cause;
    lane.last_end = clock_.now;
    if (totals.first_begin < 0) totals.first_begin = task.begin;
    totals.busy += clock_.now - task.begin;
  });
  release_after(run);
  if (compute) nodes_.retry_waiting();
  may_start_ = may_start_ || !waiting_.empty();
}

// Ops and tasks that waited for it.
void ClusterTasks::release_after(std::int32_t run) {
  const TaskRun& task = runs_[to_index(run)];
  const int first_replica = task.replica < 0 ? 0 : task.replica;
  const int last_replica = task.replica < 0 ? replicas_ - 1 : task.replica;
  for (int replica = first_replica; replica <= last_replica; ++replica) {
    for (const StageName& stage : step_.tasks[to_index(task.task)].before_stages) {
      const std::int32_t node = stage_nodes_.first_forward[stage_nodes_.index(stage)];
      if (node >= 0) nodes_.meet_task(replica, node, run);
    }
  }
  for (const std::int32_t next : after_task_[to_index(task.task)]) {
    const std::int32_t first = first_run_[to_index(next)];
    if (runs_[to_index(first)].replica < 0) {
      meet_wait(first);  // one of as many as there are replicas of this task
    } else {
      for (int replica = first_replica; replica <= last_replica; ++replica) meet_wait(first + replica);
    }
  }
}

void ClusterTasks::set_slow(int replica, std::int32_t device, double factor) {
  DeviceLanes& lane = lanes_.of(replica, device);
  lane.slow = factor;
  nodes_.stretch_running(replica, device);
  if (lane.task >= 0) stretch(lane.task);
}

// A task on compute lanes takes as long as the slowest of its devices needs. One with flows is not stretched: the
// network says how long those take.
void ClusterTasks::stretch(std::int32_t run) {
  const TaskRun& task = runs_[to_index(run)];
  const std::int32_t number = first_sequence_[to_index(run)];
  PhaseSequence& sequence = sequences_[to_index(number)];
  const bool computes = sequence.routes.size() == 1 && sequence.routes[0].in_network < 0;
  if (task.begin < 0 || task.end >= 0 || !computes) return;
  double factor = 1;
  for_each_lane(task,
                [&](int replica, std::int32_t device) { factor = std::max(factor, lanes_.of(replica, device).slow); });
  if (factor == work_[to_index(run)].factor) return;
  sequence.at = work_[to_index(run)].stretch(clock_.now, factor);
  clock_.schedule(sequence.at, Event::Kind::kPhaseEnds, number);
}

}  // namespace debubble
