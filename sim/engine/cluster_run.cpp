#include "sim/engine/cluster_run.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/core/at.hpp"

namespace debubble {

Nanoseconds ClusterRun::duration(int replica, std::int32_t node) const {
  if (!durations_.empty()) return durations_[node_id(replica, node)];
  return tables_.cells[program_.nodes[to_index(node)].cell()].duration;
}

const ClusterRun::Release* ClusterRun::release_of(int replica, std::int32_t node) const {
  if (releases_.empty()) return nullptr;
  const auto found = releases_.find(node_id(replica, node));
  return found == releases_.end() ? nullptr : &found->second;
}

void ClusterRun::run() {
  const auto nodes = static_cast<std::int32_t>(program_.nodes.size());
  for (int replica = 0; replica < replicas_; ++replica) {
    for (std::int32_t node = 0; node < nodes; ++node) {
      if (activities_.unmet[to_index(node)] == 0 && unmet_[node_id(replica, node)] == 0) release(replica, node);
    }
  }
  for (std::size_t run = 0; run < task_runs_.size(); ++run) {
    if (task_runs_[run].unmet != 0) continue;
    task_runs_[run].unmet = 1;
    meet(static_cast<std::int32_t>(run));
  }
  if (tasks_may_start_) start_tasks();
  if (network_ != nullptr) network_->settle(now_);
  while (!queue_.empty()) {
    now_ = queue_.top().at;
    while (!queue_.empty() && queue_.top().at == now_) {
      while (!queue_.empty() && queue_.top().at == now_) handle(queue_.pop());
      if (tasks_may_start_) start_tasks();
    }
    if (network_ != nullptr) network_->settle(now_);
  }
  const auto ended = [](std::int32_t unmet) { return unmet < 0; };
  const auto ran = [](const TaskRun& run) { return run.end >= 0; };
  if (!std::all_of(unmet_.begin(), unmet_.end(), ended) || !std::all_of(task_runs_.begin(), task_runs_.end(), ran)) {
    throw std::logic_error("simulate_cluster: step tasks and ops wait for each other");
  }
}

void ClusterRun::handle(const Event& event) {
  constexpr std::uint64_t kNumbers = (std::uint64_t{1} << kNumberBits) - 1;
  const std::uint64_t number = event.what & kNumbers;
  const auto replica = [&] { return static_cast<int>(number / program_.nodes.size()); };
  const auto node = [&] { return static_cast<std::int32_t>(number % program_.nodes.size()); };
  switch (static_cast<Happens>(event.what >> kNumberBits)) {
    case Happens::kNetwork: {
      const std::int64_t owner = network_->fire(number, now_);
      if (owner != FlowNetwork::kUnderWay) flow_done(owner);
      return;
    }
    case Happens::kEnd:
      // A cell that was stretched has events for ends that came to nothing.
      if (ends_[number] == now_ && unmet_[number] == 0) end_node(replica(), node());
      return;
    case Happens::kBegin:
      begin_node(replica(), node());
      return;
    case Happens::kChain:
      if (chains_[number].at == now_) end_chain(number);
      return;
  }
}

// Owners: twice the input's number for what travels to a node, twice the chain's and one for a step task.
void ClusterRun::flow_done(std::int64_t owner) {
  const auto number = static_cast<std::size_t>(owner / 2);
  if (owner % 2 != 0) {
    Chain& chain = chains_[number];
    chain.at = now_ + network_->latency_after(chain.ways[chain.next].in_network);
    push(chain.at, Happens::kChain, number);
    return;
  }
  const int replica = static_cast<int>(number / static_cast<std::size_t>(activities_.inputs));
  const std::size_t input = number % static_cast<std::size_t>(activities_.inputs);
  const std::size_t nodes = program_.nodes.size();
  const auto node = static_cast<std::int32_t>(input < nodes ? input : 0);
  const bool is_node =
      program_.p2p != P2p::kOverlapped || (input < nodes && program_.cells[program_.nodes[input].cell()].is_copy);
  if (is_node) {
    const Program::Node& of = program_.nodes[input];
    const Way& taken = of.is_transfer()
                           ? way(replica, static_cast<std::int32_t>(of.channel()))
                           : copy_ways_[static_cast<std::size_t>(replica) * program_.cells.size() + of.cell()];
    const std::size_t id = node_id(replica, node);
    ends_[id] = now_ + network_->latency_after(taken.in_network);
    push(ends_[id], Happens::kEnd, id);
    return;
  }
  const bool first = input < nodes;
  const std::int32_t target = first ? node : program_.extra_inputs[input - nodes].node;
  const std::int32_t channel =
      first ? program_.cells[program_.nodes[input].cell()].input_channel : program_.extra_inputs[input - nodes].what;
  arrivals_[number] = now_ + network_->latency_after(way(replica, channel).in_network);
  deliver(replica, target, arrivals_[number]);
}

// Something that `node` waits for is there `at` that time, now or later.
void ClusterRun::deliver(int replica, std::int32_t node, Nanoseconds at) {
  const std::size_t id = node_id(replica, node);
  begins_[id] = std::max(begins_[id], at);
  if (--unmet_[id] == 0) release(replica, node);
}

// It waits for nothing more. Where nobody else takes lanes, that it will begin is certain.
void ClusterRun::release(int replica, std::int32_t node) {
  if (!looks_at_lanes_) return start(replica, node);
  const std::size_t id = node_id(replica, node);
  if (begins_[id] > now_) return push(begins_[id], Happens::kBegin, id);
  begin_node(replica, node);
}

void ClusterRun::begin_node(int replica, std::int32_t node) {
  const std::size_t id = node_id(replica, node);
  if (!take_lanes(replica, node)) {
    waiting_nodes_.push_back(id);
    return;
  }
  begins_[id] = now_;
  start(replica, node);
}

bool ClusterRun::take_lanes(int replica, std::int32_t node) {
  const Program::Node& of = program_.nodes[to_index(node)];
  const std::int32_t device = program_.device_of(of);
  if (device >= program_.devices) return true;  // a copy lane: no task takes it
  const std::int32_t other = of.is_transfer() ? program_.channels[of.channel()].to_device : device;
  for (const std::int32_t on : {device, other}) {
    const std::int32_t task = lanes_[lane_id(replica, on)].task;
    if (task < 0) continue;
    releases_[node_id(replica, node)] = {task, false};
    return false;
  }
  ++lanes_[lane_id(replica, device)].occupied;
  if (of.is_transfer()) ++lanes_[lane_id(replica, other)].occupied;
  return true;
}

void ClusterRun::leave_lanes(int replica, std::int32_t node) {
  const Program::Node& of = program_.nodes[to_index(node)];
  const std::int32_t device = program_.device_of(of);
  if (device >= program_.devices) return;
  const auto leave = [&](std::int32_t on) {
    Lane& lane = lanes_[lane_id(replica, on)];
    --lane.occupied;
    lane.last = {Cause::Kind::kNode, node};
    lane.last_end = now_;
  };
  leave(device);
  if (of.is_transfer()) leave(program_.channels[of.channel()].to_device);
  lanes_[lane_id(replica, device)].running = -1;
  tasks_may_start_ = tasks_may_start_ || !waiting_tasks_.empty();
}

void ClusterRun::start(int replica, std::int32_t node) {
  if (program_.nodes[to_index(node)].is_transfer()) return start_transfer(replica, node);
  start_cell(replica, node);
  const auto& after = activities_.after_begin;
  if (after.empty()) return;
  const auto behind = [](const Activities::AfterBegin& a, std::int32_t of) { return a.node < of; };
  const Nanoseconds begin = begins_[node_id(replica, node)];
  for (auto next = std::lower_bound(after.begin(), after.end(), node, behind);
       next != after.end() && next->node == node; ++next) {
    deliver(replica, next->target, begin);
  }
}

// Blocking and coupled: a node of its own that holds lanes until the last byte is there.
void ClusterRun::start_transfer(int replica, std::int32_t node) {
  const std::size_t id = node_id(replica, node);
  const std::size_t channel = program_.nodes[to_index(node)].channel();
  const Way& taken = way(replica, static_cast<std::int32_t>(channel));
  if (taken.in_network < 0) {
    ends_[id] = begins_[id] + taken.alone.total();
    return push(ends_[id], Happens::kEnd, id);
  }
  network_->begin(taken.in_network, tables_.channel_bytes[channel], taken.alone.serialisation,
                  static_cast<std::int64_t>(2 * input_id(replica, to_index(node))), now_);
}

void ClusterRun::start_cell(int replica, std::int32_t node) {
  const std::size_t id = node_id(replica, node);
  const std::size_t cell = program_.nodes[to_index(node)].cell();
  const std::int32_t device = tables_.cells[cell].device;
  if (device >= program_.devices && !copy_ways_.empty()) {
    const Way& taken = copy_ways_[static_cast<std::size_t>(replica) * program_.cells.size() + cell];
    if (taken.in_network >= 0) {
      return network_->begin(taken.in_network, tables_.cells[cell].moved, taken.alone.serialisation,
                             static_cast<std::int64_t>(2 * input_id(replica, to_index(node))), now_);
    }
  }
  const Nanoseconds lasts = duration(replica, node);
  ends_[id] = begins_[id] + lasts;
  if (looks_at_lanes_ && device < program_.devices) {
    Lane& lane = lanes_[lane_id(replica, device)];
    lane.running = static_cast<std::int64_t>(id);
    lane.work = {static_cast<double>(lasts), now_, 1};
    if (lane.slow != 1) return stretch_cell(lane_id(replica, device));
  }
  push(ends_[id], Happens::kEnd, id);
}

void ClusterRun::end_node(int replica, std::int32_t node) {
  const std::size_t id = node_id(replica, node);
  unmet_[id] = -1;
  const Program::Node& of = program_.nodes[to_index(node)];
  if (!of.is_transfer() && tables_.cells[of.cell()].device < program_.devices) {
    DeviceTotals& totals = totals_[lane_id(replica, tables_.cells[of.cell()].device)];
    if (totals.first_begin < 0) totals.first_begin = begins_[id];
    totals.last_end = std::max(totals.last_end, now_);
    totals.busy += now_ - begins_[id];
  }
  if (looks_at_lanes_) leave_lanes(replica, node);
  for (std::int32_t e = activities_.first_edge[to_index(node)]; e < activities_.first_edge[to_index(node) + 1]; ++e) {
    const Activities::Edge& edge = activities_.edges[to_index(e)];
    if (edge.channel >= 0) {
      send(replica, edge);
    } else {
      deliver(replica, edge.target, now_ + (edge.channel == Activities::kGathers ? tables_.barrier : 0));
    }
  }
  if (tasks_after_node_.empty()) return;
  for (const std::int32_t task : tasks_after_node_[to_index(node)]) {
    const TaskRun& first = task_runs_[to_index(first_run_[to_index(task)])];
    meet(first_run_[to_index(task)] + (first.replica < 0 ? 0 : replica));
  }
}

// What the node that ends now has made goes to the cell that needs it.
void ClusterRun::send(int replica, const Activities::Edge& edge) {
  const Way& taken = way(replica, edge.channel);
  const std::size_t input = input_id(replica, to_index(edge.input));
  if (taken.in_network < 0) {
    arrivals_[input] = now_ + taken.alone.total();
    return deliver(replica, edge.target, arrivals_[input]);
  }
  network_->begin(taken.in_network, tables_.channel_bytes[to_index(edge.channel)], taken.alone.serialisation,
                  static_cast<std::int64_t>(2 * input), now_);
}

Nanoseconds ClusterRun::makespan(int replica) const {
  Nanoseconds latest = 0;
  for (int d = 0; d < program_.devices; ++d) latest = std::max(latest, device(replica, d).last_end);
  for (const TaskRun& run : task_runs_) {
    if (run.replica < 0 || run.replica == replica) latest = std::max(latest, run.end);
  }
  return latest;
}

}  // namespace debubble
