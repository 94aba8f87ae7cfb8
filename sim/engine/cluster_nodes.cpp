#include "sim/engine/cluster_nodes.hpp"

#include <algorithm>

#include "sim/core/at.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/transfer_rule.hpp"

namespace debubble {

ClusterNodes::ClusterNodes(const Program& program, const Schedule& schedule, const StageCosts& costs,
                           const Tables& tables, const Variation* variation, int replicas, ClusterClock& clock,
                           ClusterLanes& lanes, ClusterLinks& links, ClusterMemory& memory)
    : program_(program),
      tables_(tables),
      replicas_(replicas),
      clock_(clock),
      lanes_(lanes),
      links_(links),
      memory_(memory),
      activities_(make_activities(program, schedule, links.copy_engines())),
      interference_(program, costs) {
  if (interference_.any()) lanes_.set_contended();
  const std::size_t nodes = static_cast<std::size_t>(replicas) * program.nodes.size();
  begins_.assign(nodes, 0);
  ends_.assign(nodes, -1);
  arrivals_.assign(static_cast<std::size_t>(replicas) * to_index(activities_.inputs), 0);
  unmet_.reserve(nodes);
  for (int r = 0; r < replicas; ++r) unmet_.insert(unmet_.end(), activities_.unmet.begin(), activities_.unmet.end());
  if (variation == nullptr || variation->none()) return;
  durations_.reserve(nodes);
  for (int r = 0; r < replicas; ++r) {
    const std::vector<Nanoseconds> varied = varied_durations(program, schedule, costs, *variation, r);
    durations_.insert(durations_.end(), varied.begin(), varied.end());
  }
}

Nanoseconds ClusterNodes::duration(int replica, std::int32_t node) const {
  if (!durations_.empty()) return durations_[id(replica, node)];
  return tables_.cells[program_.nodes[to_index(node)].cell()].duration;
}

const ClusterNodes::Release* ClusterNodes::release_of(int replica, std::int32_t node) const {
  if (releases_.empty()) return nullptr;
  const auto found = releases_.find(id(replica, node));
  return found == releases_.end() ? nullptr : &found->second;
}

bool ClusterNodes::all_ended() const {
  return std::all_of(unmet_.begin(), unmet_.end(), [](std::int32_t unmet) { return unmet < 0; });
}

// Only nodes that never had a wait of the program: one whose only wait was met by a node started here already runs.
void ClusterNodes::start() {
  const auto nodes = static_cast<std::int32_t>(program_.nodes.size());
  for (int replica = 0; replica < replicas_; ++replica) {
    for (std::int32_t node = 0; node < nodes; ++node) {
      if (activities_.unmet[to_index(node)] == 0 && unmet_[id(replica, node)] == 0) release(replica, node);
    }
  }
}

// Something that `node` waits for is there `at` that time, now or later.
void ClusterNodes::meet_wait(int replica, std::int32_t node, Nanoseconds at) {
  const std::size_t k = id(replica, node);
  begins_[k] = std::max(begins_[k], at);
  if (--unmet_[k] == 0) release(replica, node);
}

void ClusterNodes::meet_task(int replica, std::int32_t node, std::int32_t task_run) {
  releases_[id(replica, node)] = {task_run, true};
  meet_wait(replica, node, clock_.now);
}

// It waits for nothing more. Where nobody else takes lanes it is certain to begin at begins_, which may lie ahead, so
// its end can be scheduled at once; else whether the lanes are free is known only when that time has come.
void ClusterNodes::release(int replica, std::int32_t node) {
  if (!lanes_.contended()) return run(replica, node);
  const std::size_t k = id(replica, node);
  if (begins_[k] > clock_.now) return clock_.schedule(begins_[k], Event::Kind::kNodeBegins, node, replica);
  begin(replica, node);
}

void ClusterNodes::begin(int replica, std::int32_t node) {
  if (!take_lanes(replica, node)) {
    waiting_.push_back({replica, node});
    return;
  }
  begins_[id(replica, node)] = clock_.now;
  run(replica, node);
}

bool ClusterNodes::take_lanes(int replica, std::int32_t node) {
  const Program::Node& of = program_.nodes[to_index(node)];
  const std::int32_t device = program_.device_of(of);
  if (device >= program_.devices) return true;  // a copy lane: no task takes it
  const HeldLanes held = held_by(of);
  for (const std::int32_t on : held) {
    const std::int32_t task = lanes_.of(replica, on).task;
    if (task < 0) continue;
    releases_[id(replica, node)] = {task, false};
    return false;
  }
  for (const std::int32_t on : held) ++lanes_.of(replica, on).occupied;
  return true;
}

ClusterNodes::HeldLanes ClusterNodes::held_by(const Program::Node& node) const {
  if (!node.is_transfer()) return {{program_.device_of(node)}, 1};
  const Program::Channel& channel = program_.channels[node.channel()];
  if (!holds_both_lanes(program_.p2p)) return {};
  return {{channel.from_device, channel.to_device}, 2};
}

void ClusterNodes::leave_lanes(int replica, std::int32_t node) {
  const Program::Node& of = program_.nodes[to_index(node)];
  const std::int32_t device = program_.device_of(of);
  if (device >= program_.devices) return;
  for (const std::int32_t on : held_by(of)) {
    DeviceLanes& lane = lanes_.of(replica, on);
    --lane.occupied;
    lane.last = {Cause::Kind::kNode, node};
    lane.last_end = clock_.now;
    lane.running = -1;
  }
  others_at_work_ = true;
}

void ClusterNodes::retry_waiting() {
  const std::vector<NodeInReplica> waiting = std::move(waiting_);
  waiting_.clear();
  for (const NodeInReplica& of : waiting) begin(of.replica, of.node);
}

void ClusterNodes::run(int replica, std::int32_t node) {
  if (program_.nodes[to_index(node)].is_transfer()) return run_transfer(replica, node);
  run_cell(replica, node);
  const auto& after = activities_.after_begin;
  if (after.empty()) return;
  const auto comes_before = [](const Activities::AfterBegin& a, std::int32_t of) { return a.node < of; };
  const Nanoseconds begin = begins_[id(replica, node)];
  for (auto next = std::lower_bound(after.begin(), after.end(), node, comes_before);
       next != after.end() && next->node == node; ++next) {
    meet_wait(replica, next->target, begin);
  }
}

// A node of its own, which may hold lanes until the last byte is there.
void ClusterNodes::run_transfer(int replica, std::int32_t node) {
  const std::size_t channel = program_.nodes[to_index(node)].channel();
  const ClusterLinks::Route& route = links_.channel(replica, static_cast<std::int32_t>(channel));
  if (route.in_network >= 0) {
    return links_.begin(route, tables_.channel_bytes[channel],
                        {FlowUse::kNode, replica, static_cast<std::uint32_t>(node)});
  }
  const std::size_t k = id(replica, node);
  ends_[k] = begins_[k] + route.alone.total();
  clock_.schedule(ends_[k], Event::Kind::kNodeEnds, node, replica);
}

void ClusterNodes::run_cell(int replica, std::int32_t node) {
  const std::size_t k = id(replica, node);
  const std::size_t cell = program_.nodes[to_index(node)].cell();
  const std::int32_t device = tables_.cells[cell].device;
  if (device >= program_.devices && links_.copy_engines()) {
    const ClusterLinks::Route& route = links_.copy(replica, cell);
    if (route.in_network >= 0) {
      return links_.begin(route, tables_.cells[cell].moved,
                          {FlowUse::kNode, replica, static_cast<std::uint32_t>(node)});
    }
  }
  const Nanoseconds lasts = duration(replica, node);
  ends_[k] = begins_[k] + lasts;
  if (lanes_.contended() && device < program_.devices) {
    DeviceLanes& lane = lanes_.of(replica, device);
    lane.running = node;
    lane.work = {static_cast<double>(lasts), clock_.now, 1};
    lane.beside = 1;
    others_at_work_ = true;
    if (lane.slow != 1) return stretch_running(replica, device);
  }
  clock_.schedule(ends_[k], Event::Kind::kNodeEnds, node, replica);
}

void ClusterNodes::stretch_running(int replica, std::int32_t device) {
  DeviceLanes& lane = lanes_.of(replica, device);
  if (lane.running < 0) return;
  const std::size_t k = id(replica, lane.running);
  ends_[k] = lane.work.stretch(clock_.now, lane.slow * lane.beside);
  clock_.schedule(ends_[k], Event::Kind::kNodeEnds, lane.running, replica);
}

void ClusterNodes::settle() {
  if (!others_at_work_ || !interference_.any()) return;
  others_at_work_ = false;
  for (int replica = 0; replica < replicas_; ++replica) settle(replica);
}

void ClusterNodes::settle(int replica) {
  std::int32_t at_work = 0;
  for (std::int32_t device = 0; device < program_.devices; ++device) {
    if (lanes_.of(replica, device).running >= 0) ++at_work;
  }
  for (std::int32_t device = 0; device < program_.devices; ++device) {
    DeviceLanes& lane = lanes_.of(replica, device);
    if (lane.running < 0) continue;
    const double beside = interference_.factor(program_.nodes[to_index(lane.running)].cell(), at_work);
    if (beside == lane.beside) continue;
    lane.beside = beside;
    stretch_running(replica, device);
  }
}

bool ClusterNodes::end(int replica, std::int32_t node) {
  const std::size_t k = id(replica, node);
  // A cell that was stretched has events for ends that came to nothing; unmet_ is -1 where the true one came first.
  if (ends_[k] != clock_.now || unmet_[k] != 0) return false;
  unmet_[k] = -1;
  const Program::Node& of = program_.nodes[to_index(node)];
  if (!of.is_transfer()) memory_.end(replica, of.cell());
  if (!of.is_transfer() && tables_.cells[of.cell()].device < program_.devices) {
    DeviceTotals& totals = lanes_.totals(replica, tables_.cells[of.cell()].device);
    if (totals.first_begin < 0) totals.first_begin = begins_[k];
    totals.last_end = std::max(totals.last_end, clock_.now);
    totals.busy += clock_.now - begins_[k];
  }
  // Lanes first: what the end releases may begin at this instant on the lane that is left here.
  if (lanes_.contended()) leave_lanes(replica, node);
  for (std::int32_t e = activities_.first_edge[to_index(node)]; e < activities_.first_edge[to_index(node) + 1]; ++e) {
    const Activities::Edge& edge = activities_.edges[to_index(e)];
    if (edge.channel >= 0) {
      send(replica, edge);
    } else {
      meet_wait(replica, edge.target, clock_.now + (edge.channel == Activities::kGathers ? tables_.barrier : 0));
    }
  }
  return true;
}

// What the node that ends now has made goes to the cell that needs it.
void ClusterNodes::send(int replica, const Activities::Edge& edge) {
  const ClusterLinks::Route& route = links_.channel(replica, edge.channel);
  if (route.in_network >= 0) {
    return links_.begin(route, tables_.channel_bytes[to_index(edge.channel)],
                        {FlowUse::kInput, replica, static_cast<std::uint32_t>(edge.input)});
  }
  Nanoseconds& arrival = arrivals_[input_id(replica, to_index(edge.input))];
  arrival = clock_.now + route.alone.total();
  meet_wait(replica, edge.target, arrival);
}

void ClusterNodes::node_has_left(int replica, std::int32_t node) {
  const Program::Node& of = program_.nodes[to_index(node)];
  const ClusterLinks::Route& route = of.is_transfer() ? links_.channel(replica, static_cast<std::int32_t>(of.channel()))
                                                      : links_.copy(replica, of.cell());
  const std::size_t k = id(replica, node);
  ends_[k] = links_.arrival(route);
  clock_.schedule(ends_[k], Event::Kind::kNodeEnds, node, replica);
}

// Inputs are numbered as in Activities: the first one of each node, then the extra ones.
void ClusterNodes::input_has_left(int replica, std::int32_t input) {
  const std::size_t nodes = program_.nodes.size();
  std::int32_t target = input;
  std::int32_t channel = -1;
  if (to_index(input) < nodes) {
    channel = program_.cells[program_.nodes[to_index(input)].cell()].input_channel;
  } else {
    const Program::ExtraInput& extra = program_.extra_inputs[to_index(input) - nodes];
    target = extra.node;
    channel = extra.what;
  }
  Nanoseconds& arrival = arrivals_[input_id(replica, to_index(input))];
  arrival = links_.arrival(links_.channel(replica, channel));
  meet_wait(replica, target, arrival);
}

}  // namespace debubble
