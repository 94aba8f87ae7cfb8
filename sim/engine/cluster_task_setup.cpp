// What a ClusterRun's step tasks are before the first event: their runs, their phases, and what they wait for.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/engine/cluster_tasks.hpp"

namespace debubble {

ClusterTasks::ClusterTasks(const Program& program, const Schedule& schedule, const StepWork& step,
                           const Variation* variation, int replicas, ClusterClock& clock, ClusterLanes& lanes,
                           ClusterLinks& links, ClusterNodes& nodes)
    : step_(step), replicas_(replicas), clock_(clock), lanes_(lanes), links_(links), nodes_(nodes) {
  if (step.empty()) return;
  stage_nodes_ = find_stage_nodes(program, schedule);
  const std::vector<StepTask>& tasks = step.tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    first_run_.push_back(static_cast<std::int32_t>(runs_.size()));
    const int runs = tasks[t].across_replicas ? 1 : replicas;
    for (int r = 0; r < runs; ++r) {
      TaskRun run;
      run.task = static_cast<std::int32_t>(t);
      run.replica = tasks[t].across_replicas ? -1 : r;
      first_sequence_.push_back(static_cast<std::int32_t>(sequences_.size()));
      runs_.push_back(run);
      add_sequences(static_cast<std::int32_t>(runs_.size()) - 1, variation);
    }
    if (tasks[t].lane == StepTask::Lane::kCompute || tasks[t].slow_down > 0) lanes.set_contended();
  }
  first_sequence_.push_back(static_cast<std::int32_t>(sequences_.size()));
  work_.resize(runs_.size());
  after_task_.resize(tasks.size());
  after_node_.resize(program.nodes.size());
  count_waits();
}

// What a task without flows takes in its replica.
Nanoseconds ClusterTasks::varied(const TaskRun& run, const Variation* variation) const {
  const StepTask& task = at(step_.tasks, run.task);
  if (variation == nullptr || variation->none()) return task.duration;
  const double by = run.replica < 0 ? variation->task_factor(task, 0, replicas_)  //
                                    : variation->task_factor(task, run.replica, 1);
  return by == 1 ? task.duration : std::llround(static_cast<double>(task.duration) * by);
}

// A run of one replica has one sequence of phases. One across replicas has a sequence per replica where each has phases
// of its own: they run concurrently, and the task ends with the last. Without a graph all of them are a duration.
void ClusterTasks::add_sequences(std::int32_t run, const Variation* variation) {
  TaskRun& of = at(runs_, run);
  const StepTask& task = at(step_.tasks, of.task);
  std::vector<const std::vector<Flow>*> entries;
  if (links_.has_graph() && task.phases.size() == 1) entries.push_back(&task.phases.front());
  if (links_.has_graph() && task.phases.size() > 1 && of.replica >= 0)
    entries.push_back(&task.phases.at(to_index(of.replica)));
  if (links_.has_graph() && task.phases.size() > 1 && of.replica < 0) {
    for (const std::vector<Flow>& entry : task.phases) entries.push_back(&entry);
  }
  const std::vector<Flow> nothing;
  if (entries.empty()) entries.push_back(&nothing);
  for (const std::vector<Flow>* flows : entries) {
    PhaseSequence sequence;
    sequence.run = run;
    Nanoseconds lasts = 0;
    for (const Flow& flow : *flows) {
      sequence.routes.push_back(links_.add_flow(flow));
      sequence.bytes.push_back(flow.bytes);
      lasts += sequence.routes.back().alone.total();
    }
    if (flows->empty()) {
      lasts = varied(of, variation);
      of.straggled = lasts - task.duration;
      sequence.routes.push_back({{lasts, 0}, -1});
      sequence.bytes.push_back(0);
    }
    of.alone = std::max(of.alone, lasts);
    sequences_.push_back(std::move(sequence));
  }
}

// A run across replicas waits for each of them: its nodes count once per replica, and so do tasks that run per replica.
void ClusterTasks::count_waits() {
  for (std::size_t t = 0; t < step_.tasks.size(); ++t) {
    const StepTask& task = step_.tasks[t];
    const auto number = static_cast<std::int32_t>(t);
    std::int32_t nodes = 0;
    for (const StageName& stage : task.after_stages) {
      const std::int32_t node = stage_nodes_.last_backward.at(stage_nodes_.index(stage));
      if (node < 0) continue;
      at(after_node_, node).push_back(number);
      ++nodes;
    }
    std::int32_t tasks = 0;  // of one replica, and of all of them
    std::int32_t tasks_of_all = 0;
    for (const std::int32_t before : task.after) {
      after_task_.at(to_index(before)).push_back(number);
      ++tasks;
      tasks_of_all += at(step_.tasks, before).across_replicas ? 1 : replicas_;
    }
    const int runs = task.across_replicas ? 1 : replicas_;
    for (std::int32_t r = 0; r < runs; ++r) {
      at(runs_, first_run_[t] + r).unmet = task.across_replicas ? nodes * replicas_ + tasks_of_all : nodes + tasks;
    }
    for (const StageName& stage : task.before_stages) {
      const std::int32_t node = stage_nodes_.first_forward.at(stage_nodes_.index(stage));
      for (int r = 0; r < replicas_ && node >= 0; ++r) nodes_.add_wait(r, node);
    }
  }
}

}  // namespace debubble
