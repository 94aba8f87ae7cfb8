// A run in the order of events: cells end, flows begin and share links, step tasks take lanes. What cluster.hpp
// promises is made from it.
//
//     ClusterRun ── takes the next event, hands it to the part it concerns, and starts tasks after each instant
//       ClusterTasks ── step tasks            each part knows those below it, none knows one above:
//         ClusterNodes ── cells, transfers    what a node's end means for tasks, ClusterRun passes on
//           ClusterLinks, ClusterLanes ── what nodes and tasks share; ClusterMemory ── what nodes leave
//             ClusterClock ── time and events
#include "sim/engine/cluster.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/step_work.hpp"
#include "sim/core/timeline.hpp"
#include "sim/engine/cluster_clock.hpp"
#include "sim/engine/cluster_lanes.hpp"
#include "sim/engine/cluster_links.hpp"
#include "sim/engine/cluster_memory.hpp"
#include "sim/engine/cluster_nodes.hpp"
#include "sim/engine/cluster_tasks.hpp"
#include "sim/engine/span_recorder.hpp"
#include "sim/engine/tables.hpp"

namespace debubble {
namespace {

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

const StepWork kNoStep;

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

// Writes what a ClusterRun has found out as Timelines.

// The step's spans of one replica, by device, then lane, then begin.
class Steps {
 public:
  Steps(const ClusterRun& run, int replica, const StepWork* step, std::vector<StepSpan>& spans)
      : run_(run), replica_(replica), spans_(spans) {
    if (step == nullptr) return;
    std::vector<std::array<std::int64_t, 4>> order;  // device, lane, begin, task run
    for (std::size_t k = 0; k < run.task_runs().size(); ++k) {
      const ClusterTasks::TaskRun& task = run.task_runs()[k];
      if (task.replica >= 0 && task.replica != replica) continue;
      const StepTask& what = at(step->tasks, task.task);
      for (const std::int32_t device : what.devices) {
        order.push_back({device, static_cast<std::int64_t>(what.lane), task.begin, static_cast<std::int64_t>(k)});
      }
    }
    std::sort(order.begin(), order.end());
    for (const auto& [device, lane, begin, k] : order) add(step, static_cast<std::int32_t>(device), k);
  }

  // The span of that task on that device, or on the first of its devices.
  [[nodiscard]] std::int32_t index(std::int32_t task_run, std::int32_t device) const {
    const auto found = index_.find({task_run, device});
    return found != index_.end() ? found->second : index_.lower_bound({task_run, 0})->second;
  }

  // `gate_of_node`: which span, transfer or copy a node of the program has become.
  template <typename GateOfNode>
  void set_gates(const GateOfNode& gate_of_node, const Program& program) {
    for (const auto& [key, number] : index_) {
      const ClusterTasks::TaskRun& task = at(run_.task_runs(), key.first);
      const Cause& cause = task.causes[task.replica < 0 ? to_index(replica_) : 0];
      StepSpan& span = at(spans_, number);
      Nanoseconds released = 0;
      switch (cause.kind) {
        case Cause::Kind::kNothing:
          break;
        case Cause::Kind::kNode:
          span.gate = gate_of_node(at(program.nodes, cause.index), cause.index);
          released = run_.nodes().end_of(replica_, cause.index);
          break;
        case Cause::Kind::kTask:
          span.gate = {Gate::Kind::kStep, index(cause.index, span.device)};
          released = at(run_.task_runs(), cause.index).end;
          break;
      }
      span.waited_for_replica = span.begin - released;
    }
  }

 private:
  void add(const StepWork* step, std::int32_t device, std::int64_t task_run) {
    const ClusterTasks::TaskRun& task = at(run_.task_runs(), task_run);
    const StepTask& what = at(step->tasks, task.task);
    index_[{static_cast<std::int32_t>(task_run), device}] = static_cast<std::int32_t>(spans_.size());
    StepSpan span;
    span.task = task.task;
    span.kind = what.kind;
    span.lane = what.lane;
    span.what = what.what;
    span.device = device;
    span.begin = task.begin;
    span.end = task.end;
    // A task without flows can only have been stretched by a collective that ran at the same time.
    const bool flows = what.lane == StepTask::Lane::kCollective;
    span.contention = flows ? std::max<Nanoseconds>(task.end - task.begin - task.alone, 0) : 0;
    span.straggled = task.straggled;
    span.bytes = what.bytes;
    spans_.push_back(std::move(span));
  }

  const ClusterRun& run_;
  int replica_;
  std::vector<StepSpan>& spans_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> index_;  // by task run and device
};

// What the run has found out, for the recorder.
struct RunTimes {
  const ClusterRun& run;
  const Program& program;
  const Steps& steps;
  int replica;
  Timeline& timeline;

  [[nodiscard]] Nanoseconds end(std::int32_t node) const { return run.nodes().end_of(replica, node); }
  [[nodiscard]] Nanoseconds arrival(const Input& input) const {
    return program.p2p == P2p::kOverlapped ? run.nodes().arrival(replica, input.number) : end(input.maker);
  }
  [[nodiscard]] TransferTime alone(std::int32_t channel) const { return run.links().channel(replica, channel).alone; }
  [[nodiscard]] bool copy_engines() const { return run.links().copy_engines(); }

  void add_parts(std::size_t k, const Span& span) const {
    const Nanoseconds lasts = run.nodes().duration(replica, static_cast<std::int32_t>(k));
    if (run.nodes().interfere()) return;  // what an op takes depends on when it runs: there is no usual length
    timeline.set_straggled(timeline.index_of(span), lasts - run.tables().cells[program.nodes[k].cell()].duration);
    timeline.set_slowed(timeline.index_of(span), span.end - span.begin - lasts);
  }

  void add_gate(std::size_t k, Nanoseconds gate_end, Gate& gate, Nanoseconds& ready) const {
    const ClusterNodes::Release* release = run.nodes().release_of(replica, static_cast<std::int32_t>(k));
    if (release == nullptr) return;
    const Nanoseconds end = at(run.task_runs(), release->task_run).end;
    if (release->is_input) ready = std::max(ready, end);
    if (end <= gate_end) return;
    gate = {Gate::Kind::kStep, steps.index(release->task_run, program.device_of(program.nodes[k]))};
  }
};

// Of one pipeline replica. `step` may be null.
Timeline timeline_of(const ClusterRun& run, int replica, const Program& program, const Schedule& schedule,
                     const StepWork* step) {
  Timeline timeline;
  timeline.devices = program.devices;
  timeline.transfers_hold_lanes = holds_both_lanes(program.p2p);
  Steps steps(run, replica, step, timeline.steps);
  const RunTimes times{run, program, steps, replica, timeline};
  SpanRecorder<RunTimes> recorder(program, schedule, run.tables(), times, timeline);
  for (std::size_t k = 0; k < program.nodes.size(); ++k) {
    const auto node = static_cast<std::int32_t>(k);
    const Nanoseconds begin = run.nodes().begin_of(replica, node);
    const Nanoseconds end = run.nodes().end_of(replica, node);
    if (program.nodes[k].is_transfer()) {
      recorder.transfer(k, begin, end);
    } else {
      recorder.cell(k, begin, end);
    }
  }
  steps.set_gates(
      [&](const Program::Node& node, std::int32_t number) {
        const std::int32_t index = recorder.index_of(to_index(number));
        if (node.is_transfer()) return Gate{Gate::Kind::kTransfer, index};
        return Gate{program.cells[node.cell()].is_copy ? Gate::Kind::kCopy : Gate::Kind::kSpan, index};
      },
      program);
  timeline.makespan = run.makespan(replica);
  return timeline;
}

}  // namespace

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
