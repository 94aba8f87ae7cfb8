// What stands before the first event: ways of transfers and copies, step tasks and what they wait for.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/engine/cluster_run.hpp"

#include "sim/core/at.hpp"

namespace debubble {

namespace {

// From a device's ranks to their hosts' memory, or back; no links where one of them has no host.
FlowPath host_path(const Network& network, int replica, std::int32_t device, bool to_host) {
  FlowPath path;
  std::map<std::int32_t, double> weights;
  std::vector<std::int32_t> route;
  const RankLayout& layout = network.layout;
  for (int context = 0; context < layout.sizes.context; ++context) {
    for (int tensor = 0; tensor < layout.sizes.tensor; ++tensor) {
      route.clear();
      const std::int32_t rank = layout.device(tensor, context, replica, device);
      if (!network.graph.router->host_route(rank, to_host, route)) return {};
      Nanoseconds latency = 0;
      for (const std::int32_t link : route) {
        weights[link] += 1;
        latency += at(network.graph.links, link).latency;
      }
      path.latency = std::max(path.latency, latency);
    }
  }
  for (const auto& [link, weight] : weights) path.links.push_back({link, weight});
  return path;
}

}  // namespace

ClusterRun::ClusterRun(const Program& program, const Schedule& schedule, const StageCosts& costs,
                       const Topology& topology, const ClusterOptions& options)
    : program_(program),
      tables_(make_tables(program, costs, topology)),
      step_(options.step == nullptr || options.step->empty() ? nullptr : options.step),
      replicas_(std::max(options.pipeline_replicas, 1)) {
  if (topology.network() != nullptr) {
    graph_ = &topology.network()->graph;
    model_ = topology.network()->model;
    network_ = make_network(*graph_, model_, queue_, 0);
  }
  add_ways(topology);
  add_copy_ways(topology);
  activities_ = make_activities(program, schedule, !copy_ways_.empty());
  const std::size_t nodes = static_cast<std::size_t>(replicas_) * program.nodes.size();
  begins_.assign(nodes, 0);
  ends_.assign(nodes, -1);
  arrivals_.assign(static_cast<std::size_t>(replicas_) * to_index(activities_.inputs), 0);
  lanes_.resize(static_cast<std::size_t>(replicas_) * to_index(program.devices));
  DeviceTotals nothing;
  nothing.first_begin = -1;
  totals_.assign(lanes_.size(), nothing);
  unmet_.reserve(nodes);
  for (int r = 0; r < replicas_; ++r) unmet_.insert(unmet_.end(), activities_.unmet.begin(), activities_.unmet.end());
  if (options.variation != nullptr && !options.variation->none()) {
    durations_.reserve(nodes);
    for (int r = 0; r < replicas_; ++r) {
      const std::vector<Nanoseconds> varied = varied_durations(program, schedule, costs, *options.variation, r);
      durations_.insert(durations_.end(), varied.begin(), varied.end());
    }
  }
  looks_at_lanes_ = !copy_ways_.empty();
  if (step_ != nullptr) add_tasks(schedule, options.variation);
  if (network_ != nullptr) network_->prepare();
}

// Of a flow over all its links together.
ClusterRun::Way ClusterRun::make_way(const Flow& flow) {
  Way made{alone(flow, *graph_, NetworkModel::kFluid), -1};
  if (network_ != nullptr && made.alone.serialisation > 0) {
    made.in_network = network_->add_way({flow.path}, FlowNetwork::Form::kTogether);
  }
  return made;
}

// Channels between the same devices are one way.
void ClusterRun::add_ways(const Topology& topology) {
  struct Known {
    std::vector<FlowPath> paths;
    std::int32_t number = -1;
  };
  const bool in_turn = model_ == NetworkModel::kFifo;
  ways_.reserve(static_cast<std::size_t>(replicas_) * program_.channels.size());
  for (int replica = 0; replica < replicas_; ++replica) {
    std::map<std::pair<std::int32_t, std::int32_t>, Known> known;
    for (std::size_t c = 0; c < program_.channels.size(); ++c) {
      const auto& [from, to, stage, piece_class] = program_.channels[c];
      if (graph_ == nullptr || from == to) {
        ways_.push_back({tables_.channels[c], -1});
        continue;
      }
      Known& way = known[{from, to}];
      if (way.paths.empty() && in_turn) way.paths = topology.rank_paths(replica, from, to);
      if (way.paths.empty()) way.paths = {topology.path(replica, from, to)};
      Way made{slowest(way.paths, tables_.channel_bytes[c]), -1};
      if (network_ != nullptr && made.alone.serialisation > 0) {
        if (way.number < 0) way.number = network_->add_way(way.paths, FlowNetwork::Form::kLinkAfterLink);
        made.in_network = way.number;
      }
      ways_.push_back(made);
    }
  }
}

// How long messages over these paths take, each alone.
TransferTime ClusterRun::slowest(const std::vector<FlowPath>& paths, Bytes bytes) const {
  const NetworkModel model = model_ == NetworkModel::kFifo ? model_ : NetworkModel::kFluid;
  TransferTime last;
  for (const FlowPath& path : paths) {
    const TransferTime time = alone({path, bytes}, *graph_, model);
    if (time.total() > last.total()) last = time;
  }
  return last;
}

// Copies to the host are flows where every rank's device has one.
void ClusterRun::add_copy_ways(const Topology& topology) {
  if (program_.copies.empty() || !topology.contended()) return;
  const auto to_host = [](const Program::CopyNode& copy) { return copy.peer < 0; };
  if (!std::all_of(program_.copies.begin(), program_.copies.end(), to_host)) return;
  copy_ways_.resize(static_cast<std::size_t>(replicas_) * program_.cells.size());
  for (int replica = 0; replica < replicas_; ++replica) {
    for (std::size_t c = 0; c < program_.cells.size(); ++c) {
      const Program::Cell& cell = program_.cells[c];
      if (!cell.is_copy) continue;
      const bool leaves = cell.way == Copy::Way::kOut;
      const FlowPath path = host_path(*topology.network(), replica, cell.device - program_.devices, leaves);
      if (path.links.empty()) {
        copy_ways_.clear();
        return;
      }
      copy_ways_[static_cast<std::size_t>(replica) * program_.cells.size() + c] = make_copy_way(path, tables_.cells[c]);
    }
  }
}

// It never takes less than its stage says: the device's own copy engine is no faster.
ClusterRun::Way ClusterRun::make_copy_way(FlowPath path, const CellCost& cost) {
  constexpr double kNanosecondsPerSecond = 1e9;
  const Nanoseconds over_links = alone({path, cost.moved}, *graph_, NetworkModel::kFluid).serialisation;
  if (cost.duration > over_links) {
    const double rate = static_cast<double>(cost.moved) * kNanosecondsPerSecond / static_cast<double>(cost.duration);
    path.bound = std::max<std::int64_t>(static_cast<std::int64_t>(rate), 1);
  }
  Way made = make_way({path, cost.moved});
  made.alone.serialisation = std::max(over_links, cost.duration);
  return made;
}

void ClusterRun::add_tasks(const Schedule& schedule, const Variation* variation) {
  stage_nodes_ = find_stage_nodes(program_, schedule);
  const std::vector<StepTask>& tasks = step_->tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    first_run_.push_back(static_cast<std::int32_t>(task_runs_.size()));
    const int runs = tasks[t].across_replicas ? 1 : replicas_;
    for (int r = 0; r < runs; ++r) {
      TaskRun run;
      run.task = static_cast<std::int32_t>(t);
      run.replica = tasks[t].across_replicas ? -1 : r;
      first_chain_.push_back(static_cast<std::int32_t>(chains_.size()));
      task_runs_.push_back(run);
      add_chains(static_cast<std::int32_t>(task_runs_.size()) - 1, variation);
    }
    looks_at_lanes_ = looks_at_lanes_ || tasks[t].lane == StepTask::Lane::kCompute || tasks[t].slow_down > 0;
  }
  first_chain_.push_back(static_cast<std::int32_t>(chains_.size()));
  task_work_.resize(task_runs_.size());
  tasks_after_.resize(tasks.size());
  tasks_after_node_.resize(program_.nodes.size());
  count_waits();
}

// What a task without flows takes in its replica.
Nanoseconds ClusterRun::varied(const TaskRun& run, const Variation* variation) const {
  const StepTask& task = at(step_->tasks, run.task);
  if (variation == nullptr || variation->none()) return task.duration;
  const double by = run.replica < 0 ? variation->task_factor(task, 0, replicas_)  //
                                    : variation->task_factor(task, run.replica, 1);
  return by == 1 ? task.duration : std::llround(static_cast<double>(task.duration) * by);
}

void ClusterRun::add_chains(std::int32_t run, const Variation* variation) {
  TaskRun& of = at(task_runs_, run);
  const StepTask& task = at(step_->tasks, of.task);
  std::vector<const std::vector<Flow>*> entries;
  if (graph_ != nullptr && task.phases.size() == 1) entries.push_back(&task.phases.front());
  if (graph_ != nullptr && task.phases.size() > 1 && of.replica >= 0)
    entries.push_back(&task.phases.at(to_index(of.replica)));
  if (graph_ != nullptr && task.phases.size() > 1 && of.replica < 0) {
    for (const std::vector<Flow>& entry : task.phases) entries.push_back(&entry);
  }
  const std::vector<Flow> nothing;
  if (entries.empty()) entries.push_back(&nothing);
  for (const std::vector<Flow>* flows : entries) {
    Chain chain;
    chain.task_run = run;
    Nanoseconds lasts = 0;
    for (const Flow& flow : *flows) {
      chain.ways.push_back(make_way(flow));
      chain.bytes.push_back(flow.bytes);
      lasts += chain.ways.back().alone.total();
    }
    if (flows->empty()) {
      lasts = varied(of, variation);
      of.straggled = lasts - task.duration;
      chain.ways.push_back({{lasts, 0}, -1});
      chain.bytes.push_back(0);
    }
    of.alone = std::max(of.alone, lasts);
    chains_.push_back(std::move(chain));
  }
}

void ClusterRun::count_waits() {
  for (std::size_t t = 0; t < step_->tasks.size(); ++t) {
    const StepTask& task = step_->tasks[t];
    const auto number = static_cast<std::int32_t>(t);
    std::int32_t nodes = 0;
    for (const StageName& stage : task.after_stages) {
      const std::int32_t node = stage_nodes_.last_backward.at(stage_nodes_.index(stage));
      if (node < 0) continue;
      at(tasks_after_node_, node).push_back(number);
      ++nodes;
    }
    std::int32_t tasks = 0;  // of one replica, and of all of them
    std::int32_t tasks_of_all = 0;
    for (const std::int32_t before : task.after) {
      tasks_after_.at(to_index(before)).push_back(number);
      ++tasks;
      tasks_of_all += at(step_->tasks, before).across_replicas ? 1 : replicas_;
    }
    const int runs = task.across_replicas ? 1 : replicas_;
    for (std::int32_t r = 0; r < runs; ++r) {
      at(task_runs_, first_run_[t] + r).unmet = task.across_replicas ? nodes * replicas_ + tasks_of_all : nodes + tasks;
    }
    for (const StageName& stage : task.before_stages) {
      const std::int32_t node = stage_nodes_.first_forward.at(stage_nodes_.index(stage));
      for (int r = 0; r < replicas_ && node >= 0; ++r) ++unmet_[node_id(r, node)];
    }
  }
}

}  // namespace debubble
