// Step tasks of a ClusterRun: they take lanes of all their devices at once, run, and slow compute beside them down.
#include <algorithm>
#include <cmath>

#include "sim/engine/cluster_run.hpp"

#include "sim/core/at.hpp"

namespace debubble {

namespace {

// Rounded up, but not for what is rounding itself.
Nanoseconds task_nanoseconds(double time) { return static_cast<Nanoseconds>(std::ceil(std::min(time - 1e-6, 0x1p62))); }

}  // namespace

// Of every device it runs on, in every replica it runs in: visit(lane number, replica).
template <typename Visit>
void ClusterRun::for_each_lane(const TaskRun& run, const Visit& visit) {
  const int begin = run.replica < 0 ? 0 : run.replica;
  const int end = run.replica < 0 ? replicas_ : run.replica + 1;
  for (int replica = begin; replica < end; ++replica) {
    for (const std::int32_t device : at(step_->tasks, run.task).devices) visit(lane_id(replica, device), replica);
  }
}

// One thing less that a task waits for.
void ClusterRun::meet(std::int32_t run) {
  TaskRun& task = at(task_runs_, run);
  if (--task.unmet > 0) return;
  task.ready = now_;
  const auto earlier = [&](std::int32_t a, std::int32_t b) {
    return at(task_runs_, a).ready != at(task_runs_, b).ready ? at(task_runs_, a).ready < at(task_runs_, b).ready
                                                              : a < b;
  };
  waiting_tasks_.insert(std::upper_bound(waiting_tasks_.begin(), waiting_tasks_.end(), run, earlier), run);
  tasks_may_start_ = true;
}

bool ClusterRun::can_start(const TaskRun& run) {
  const bool compute = at(step_->tasks, run.task).lane == StepTask::Lane::kCompute;
  bool free = true;
  for_each_lane(run, [&](std::size_t number, int) {
    const Lane& lane = lanes_[number];
    free = free && (compute ? lane.occupied == 0 && lane.task < 0 : lane.collective < 0);
  });
  return free;
}

// Those that may, first the ones that have waited longest. One that finds a lane taken holds nobody up.
void ClusterRun::start_tasks() {
  tasks_may_start_ = false;
  std::vector<std::int32_t> left;
  const std::vector<std::int32_t> candidates = std::move(waiting_tasks_);
  waiting_tasks_.clear();
  for (const std::int32_t run : candidates) {
    if (can_start(at(task_runs_, run))) {
      begin_task(run);
    } else {
      left.push_back(run);
    }
  }
  waiting_tasks_ = std::move(left);
}

void ClusterRun::begin_task(std::int32_t run) {
  TaskRun& task = at(task_runs_, run);
  const StepTask& what = at(step_->tasks, task.task);
  task.begin = now_;
  find_causes(task);
  for_each_lane(task, [&](std::size_t number, int) {
    (what.lane == StepTask::Lane::kCompute ? lanes_[number].task : lanes_[number].collective) = run;
    if (what.slow_down > 0) set_slow(number, 1 + what.slow_down);
  });
  const auto begin = to_index(at(first_chain_, run));
  const auto end = to_index(first_chain_[to_index(run) + 1]);
  task.open_chains = static_cast<std::int32_t>(end - begin);
  for (std::size_t chain = begin; chain < end; ++chain) next_phase(chain);
  if (what.lane != StepTask::Lane::kCompute || end - begin != 1) return;
  at(task_work_, run) = {static_cast<double>(task.alone), now_, 1};
  stretch_task(run);
}

// In each replica the latest of what it waited for; on a tie the lane, for nothing was lost by waiting for the rest.
void ClusterRun::find_causes(TaskRun& run) {
  const StepTask& task = at(step_->tasks, run.task);
  const bool compute = task.lane == StepTask::Lane::kCompute;
  const int begin = run.replica < 0 ? 0 : run.replica;
  const int end = run.replica < 0 ? replicas_ : run.replica + 1;
  for (int replica = begin; replica < end; ++replica) {
    Cause cause;
    Nanoseconds latest = -1;
    const auto offer = [&](const Cause& other, Nanoseconds ended) {
      if (other.kind == Cause::Kind::kNothing || ended <= latest) return;
      cause = other;
      latest = ended;
    };
    for (const std::int32_t device : task.devices) {
      const Lane& lane = lanes_[lane_id(replica, device)];
      if (compute) {
        offer(lane.last, lane.last_end);
      } else if (lane.last_collective.kind == Cause::Kind::kTask) {
        offer(lane.last_collective, at(task_runs_, lane.last_collective.index).end);
      }
    }
    for (const StageName& stage : task.after_stages) {
      const std::int32_t node = stage_nodes_.last_backward[stage_nodes_.index(stage)];
      if (node >= 0) offer({Cause::Kind::kNode, node}, end_of(replica, node));
    }
    for (const std::int32_t before : task.after) {
      const std::int32_t first = at(first_run_, before);
      const std::int32_t other = at(task_runs_, first).replica < 0 ? first : first + replica;
      offer({Cause::Kind::kTask, other}, at(task_runs_, other).end);
    }
    run.causes.push_back(cause);
  }
}

void ClusterRun::next_phase(std::size_t number) {
  Chain& chain = chains_[number];
  if (chain.next == chain.ways.size()) {
    if (--at(task_runs_, chain.task_run).open_chains == 0) end_task(chain.task_run);
    return;
  }
  const Way& way = chain.ways[chain.next];
  if (way.in_network >= 0) {
    network_->begin(way.in_network, chain.bytes[chain.next], way.alone.serialisation,
                    static_cast<std::int64_t>(2 * number + 1), now_);
    return;
  }
  chain.at = now_ + way.alone.total();
  push(chain.at, Happens::kChain, number);
}

void ClusterRun::end_chain(std::size_t number) {
  chains_[number].at = -1;
  ++chains_[number].next;
  next_phase(number);
}

void ClusterRun::end_task(std::int32_t run) {
  TaskRun& task = at(task_runs_, run);
  const StepTask& what = at(step_->tasks, task.task);
  const bool compute = what.lane == StepTask::Lane::kCompute;
  task.end = now_;
  for_each_lane(task, [&](std::size_t number, int) {
    Lane& lane = lanes_[number];
    const Cause cause{Cause::Kind::kTask, run};
    if (what.slow_down > 0) set_slow(number, 1);
    if (!compute) {
      lane.collective = -1;
      lane.last_collective = cause;
      return;
    }
    lane.task = -1;
    lane.last = cause;
    lane.last_end = now_;
    DeviceTotals& totals = totals_[number];
    if (totals.first_begin < 0) totals.first_begin = task.begin;
    totals.busy += now_ - task.begin;
  });
  for_each_lane(task,
                [&](std::size_t number, int) { totals_[number].last_end = std::max(totals_[number].last_end, now_); });
  release_after(task);
  tasks_may_start_ = tasks_may_start_ || !waiting_tasks_.empty();
}

// Ops and tasks that waited for it, and ops that waited for the lane it held.
void ClusterRun::release_after(const TaskRun& task) {
  const StepTask& what = at(step_->tasks, task.task);
  const auto run = static_cast<std::int32_t>(&task - task_runs_.data());
  const int begin = task.replica < 0 ? 0 : task.replica;
  const int end = task.replica < 0 ? replicas_ : task.replica + 1;
  for (int replica = begin; replica < end; ++replica) {
    for (const StageName& stage : what.before_stages) {
      const std::int32_t node = stage_nodes_.first_forward[stage_nodes_.index(stage)];
      if (node < 0) continue;
      releases_[node_id(replica, node)] = {run, true};
      deliver(replica, node, now_);
    }
  }
  for (const std::int32_t next : at(tasks_after_, task.task)) {
    const std::int32_t first = at(first_run_, next);
    if (at(task_runs_, first).replica < 0) {
      meet(first);
    } else {
      for (int replica = begin; replica < end; ++replica) meet(first + replica);
    }
  }
  if (what.lane != StepTask::Lane::kCompute) return;
  const std::vector<std::size_t> waiting = std::move(waiting_nodes_);
  waiting_nodes_.clear();
  for (const std::size_t id : waiting) {
    begin_node(static_cast<int>(id / program_.nodes.size()), static_cast<std::int32_t>(id % program_.nodes.size()));
  }
}

void ClusterRun::set_slow(std::size_t number, double factor) {
  Lane& lane = lanes_[number];
  lane.slow = factor;
  if (lane.running >= 0) stretch_cell(number);
  if (lane.task >= 0) stretch_task(lane.task);
}

void ClusterRun::stretch_cell(std::size_t number) {
  Lane& lane = lanes_[number];
  Stretched& work = lane.work;
  work.left -= static_cast<double>(now_ - work.since) / work.factor;
  work.since = now_;
  work.factor = lane.slow;
  const auto id = static_cast<std::size_t>(lane.running);
  ends_[id] = now_ + std::max<Nanoseconds>(task_nanoseconds(work.left * work.factor), 0);
  push(ends_[id], Happens::kEnd, id);
}

// As long as the slowest of its devices needs.
void ClusterRun::stretch_task(std::int32_t run) {
  const TaskRun& task = at(task_runs_, run);
  const std::size_t number = to_index(at(first_chain_, run));
  if (task.begin < 0 || task.end >= 0 || chains_[number].ways.size() != 1 || chains_[number].ways[0].in_network >= 0) {
    return;
  }
  double factor = 1;
  for_each_lane(task, [&](std::size_t lane, int) { factor = std::max(factor, lanes_[lane].slow); });
  Stretched& work = at(task_work_, run);
  if (factor == work.factor) return;
  work.left -= static_cast<double>(now_ - work.since) / work.factor;
  work.since = now_;
  work.factor = factor;
  chains_[number].at = now_ + std::max<Nanoseconds>(task_nanoseconds(work.left * work.factor), 0);
  push(chains_[number].at, Happens::kChain, number);
}

}  // namespace debubble
