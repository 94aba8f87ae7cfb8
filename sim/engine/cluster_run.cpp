#include "sim/engine/cluster_run.hpp"

#include <algorithm>
#include <stdexcept>

namespace debubble {

namespace {

const StepWork kNoStep;

}  // namespace

ClusterRun::ClusterRun(const Program& program, const Schedule& schedule, const StageCosts& costs,
                       const Topology& topology, const ClusterOptions& options)
    : devices_(program.devices),
      replicas_(std::max(options.pipeline_replicas, 1)),
      tables_(make_tables(program, costs, topology)),
      lanes_(program, replicas_),
      links_(program, tables_, topology, replicas_, clock_),
      memory_(program, tables_, options.capacities, replicas_),
      nodes_(program, schedule, costs, tables_, options.variation, replicas_, clock_, lanes_, links_, memory_),
      tasks_(program, schedule, options.step == nullptr ? kNoStep : *options.step, options.variation, replicas_, clock_,
             lanes_, links_, nodes_) {
  // A copy that is a flow must enter the network when it begins, not when it becomes known that it will.
  if (links_.copy_engines()) lanes_.set_contended();
  links_.prepare();
}

// One instant at a time. All its events come before the tasks that they may have released, for an op that may begin
// goes before a task; tasks that start may cause further events of the same instant (phases without length), so the two
// alternate until nothing is left of it. Only then do the flows that met share their links: a flow that ends and one
// that begins at the same time never met.
void ClusterRun::run() {
  nodes_.start();
  tasks_.start();
  tasks_.start_waiting();
  nodes_.settle();
  links_.settle();
  EventQueue& queue = clock_.queue;
  while (!queue.empty()) {
    stopped_ = queue.top().at > clock_.now && memory_.is_full();
    if (stopped_) return;
    clock_.now = queue.top().at;
    while (!queue.empty() && queue.top().at == clock_.now) {
      while (!queue.empty() && queue.top().at == clock_.now) handle(queue.pop());
      tasks_.start_waiting();
    }
    nodes_.settle();
    links_.settle();
  }
  if (!nodes_.all_ended() || !tasks_.all_ended()) {
    throw std::logic_error("simulate_cluster: step tasks and ops wait for each other");
  }
}

void ClusterRun::handle(const Event& event) {
  const int replica = event.what.replica();
  const auto index = static_cast<std::int32_t>(event.what.index());
  switch (event.what.kind()) {
    case Event::Kind::kNetwork:
      return flow_has_left(links_.fire(event));
    case Event::Kind::kNodeEnds:
      if (nodes_.end(replica, index)) tasks_.node_has_ended(replica, index);
      return;
    case Event::Kind::kNodeBegins:
      nodes_.begin(replica, index);
      return;
    case Event::Kind::kPhaseEnds:
      tasks_.end_phase(index);
      return;
    case Event::Kind::kFlowBegins:
      break;
  }
  throw std::logic_error("simulate_cluster: an event of no part of the run");
}

void ClusterRun::flow_has_left(FlowOwner owner) {
  const auto index = static_cast<std::int32_t>(owner.index());
  switch (owner.kind()) {
    case FlowUse::kInFlight:
      return;
    case FlowUse::kInput:
      return nodes_.input_has_left(owner.replica(), index);
    case FlowUse::kNode:
      return nodes_.node_has_left(owner.replica(), index);
    case FlowUse::kPhase:
      return tasks_.phase_has_left(index);
    case FlowUse::kListed:
      break;
  }
  throw std::logic_error("simulate_cluster: a flow of no part of the run");
}

Nanoseconds ClusterRun::makespan(int replica) const {
  Nanoseconds latest = 0;
  for (int d = 0; d < devices_; ++d) latest = std::max(latest, lanes_.totals(replica, d).last_end);
  for (const ClusterTasks::TaskRun& run : task_runs()) {
    if (run.replica < 0 || run.replica == replica) latest = std::max(latest, run.end);
  }
  return latest;
}

}  // namespace debubble
