// ClusterNodes: the nodes of the program (cells, copies, held transfers) of every replica in a ClusterRun: what each
// still waits for, when it begins and ends. Internal to sim/engine.
//
// A node begins when its count of unmet waits is 0; its end meets those of others at once, or through a flow. Lengths
// that are known when something begins are scheduled then; compute that a collective slows down is stretched whenever
// that changes, and events for ends that have moved are out of date.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/core/variation.hpp"
#include "sim/engine/activities.hpp"
#include "sim/engine/cluster_clock.hpp"
#include "sim/engine/cluster_interference.hpp"
#include "sim/engine/cluster_lanes.hpp"
#include "sim/engine/cluster_links.hpp"
#include "sim/engine/cluster_memory.hpp"
#include "sim/engine/tables.hpp"

namespace debubble {

class ClusterNodes {
 public:
  struct Release {
    std::int32_t task_run = -1;
    bool is_input = false;  // else the task held the lane
  };

  // `variation` may be null. The other parts must outlive it.
  ClusterNodes(const Program& program, const Schedule& schedule, const StageCosts& costs, const Tables& tables,
               const Variation* variation, int replicas, ClusterClock& clock, ClusterLanes& lanes, ClusterLinks& links,
               ClusterMemory& memory);

  [[nodiscard]] Nanoseconds begin_of(int replica, std::int32_t node) const { return begins_[id(replica, node)]; }
  [[nodiscard]] Nanoseconds end_of(int replica, std::int32_t node) const { return ends_[id(replica, node)]; }
  [[nodiscard]] Nanoseconds arrival(int replica, std::size_t input) const {
    return arrivals_[input_id(replica, input)];
  }
  // Whether devices slow each other down.
  [[nodiscard]] bool interfere() const { return interference_.any(); }
  // Of a cell or copy, before anything slows it down.
  [[nodiscard]] Nanoseconds duration(int replica, std::int32_t node) const;
  // The step task whose end released a node last, if any did; it counts where nothing else ends later.
  [[nodiscard]] const Release* release_of(int replica, std::int32_t node) const;
  [[nodiscard]] bool all_ended() const;

  // One more thing that it waits for; before `start`.
  void add_wait(int replica, std::int32_t node) { ++unmet_[id(replica, node)]; }
  // Begins what waits for nothing.
  void start();

  // Events. `end` is false where the end has moved since.
  [[nodiscard]] bool end(int replica, std::int32_t node);
  void begin(int replica, std::int32_t node);
  // The flow that is a transfer or copy node has left its links, or one that brings an input.
  void node_has_left(int replica, std::int32_t node);
  void input_has_left(int replica, std::int32_t input);

  // A step task for which the node waits has ended.
  void meet_task(int replica, std::int32_t node, std::int32_t task_run);
  // A step task has left lanes: what waited for them tries again.
  void retry_waiting();
  // A collective changes by how much it slows the device down.
  void stretch_running(int replica, std::int32_t device);
  // At the end of an instant: as many devices work from now on as cells run, and each takes as long as beside so many.
  void settle();

 private:
  struct NodeInReplica {
    int replica = 0;
    std::int32_t node = 0;
  };

  [[nodiscard]] std::size_t id(int replica, std::int32_t node) const {
    return static_cast<std::size_t>(replica) * program_.nodes.size() + static_cast<std::size_t>(node);
  }
  [[nodiscard]] std::size_t input_id(int replica, std::size_t input) const {
    return static_cast<std::size_t>(replica) * static_cast<std::size_t>(activities_.inputs) + input;
  }
  void meet_wait(int replica, std::int32_t node, Nanoseconds at);
  void release(int replica, std::int32_t node);
  // The devices whose compute lanes a cell or transfer holds.
  struct HeldLanes {
    std::array<std::int32_t, 2> devices{};
    std::size_t count = 0;

    [[nodiscard]] const std::int32_t* begin() const { return devices.data(); }
    [[nodiscard]] const std::int32_t* end() const { return devices.data() + count; }
  };
  [[nodiscard]] HeldLanes held_by(const Program::Node& node) const;
  [[nodiscard]] bool take_lanes(int replica, std::int32_t node);
  void leave_lanes(int replica, std::int32_t node);
  void run(int replica, std::int32_t node);
  void run_transfer(int replica, std::int32_t node);
  void run_cell(int replica, std::int32_t node);
  void send(int replica, const Activities::Edge& edge);
  void settle(int replica);

  const Program& program_;
  const Tables& tables_;
  int replicas_;
  ClusterClock& clock_;
  ClusterLanes& lanes_;
  ClusterLinks& links_;
  ClusterMemory& memory_;
  Activities activities_;
  Interference interference_;
  bool others_at_work_ = false;  // a cell began or ended at this instant

  std::vector<std::int32_t> unmet_;     // by replica, then node; -1: it has ended
  std::vector<Nanoseconds> begins_;     // the same; until it begins, when what it waited for so far was there
  std::vector<Nanoseconds> ends_;       // the same
  std::vector<Nanoseconds> durations_;  // the same; empty: what the tables say
  std::vector<Nanoseconds> arrivals_;   // by replica, then input
  std::vector<NodeInReplica> waiting_;  // for a task to leave their lane
  std::unordered_map<std::size_t, Release> releases_;  // by id
};

}  // namespace debubble
