// ClusterRun: a run in the order of events: cells end, flows begin and share links, step tasks take lanes. What
// sim/engine/cluster.hpp promises is made from it. Internal to sim/engine.
//
// A node of the program (of each pipeline replica) begins when its count of unmet waits is 0; its end meets those of
// others at once, or through a flow. Lengths that can be told when something begins are told then; flows that meet and
// compute beside a collective are worked out again whenever that changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/engine/activities.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/flow_network.hpp"
#include "sim/engine/tables.hpp"

namespace debubble {

class ClusterRun {
 public:
  ClusterRun(const Program& program, const Schedule& schedule, const StageCosts& costs, const Topology& topology,
             const ClusterOptions& options);
  void run();

  // How a channel's bytes travel in one replica.
  struct Way {
    TransferTime alone;
    std::int32_t in_network = -1;  // -1: nothing can slow it down
  };
  // What released something, within one replica: a node's end or a step task's.
  struct Cause {
    enum class Kind : std::uint8_t { kNothing, kNode, kTask };
    Kind kind = Kind::kNothing;
    std::int32_t index = -1;  // node, or in task_runs
  };
  // A step task in one replica, or in all of them at once.
  struct TaskRun {
    std::int32_t task = 0;
    std::int32_t replica = -1;  // -1: all
    std::int32_t unmet = 0;
    std::int32_t open_chains = 0;
    Nanoseconds ready = -1;
    Nanoseconds begin = -1;
    Nanoseconds end = -1;
    Nanoseconds alone = 0;      // its length where nobody is in its way
    Nanoseconds straggled = 0;  // the part of it by which it varies from its task's; may be below 0
    std::vector<Cause> causes;  // by replica that takes part: what it waited for last there
  };
  struct Release {
    std::int32_t task_run = -1;
    bool is_input = false;  // else the task held the lane
  };

  [[nodiscard]] int replicas() const { return replicas_; }
  // Whether copies are flows to the host, out and back beside each other.
  [[nodiscard]] bool copy_engines() const { return !copy_ways_.empty(); }
  [[nodiscard]] const Tables& tables() const { return tables_; }
  [[nodiscard]] const std::vector<TaskRun>& task_runs() const { return task_runs_; }
  [[nodiscard]] Nanoseconds begin_of(int replica, std::int32_t node) const { return begins_[node_id(replica, node)]; }
  [[nodiscard]] Nanoseconds end_of(int replica, std::int32_t node) const { return ends_[node_id(replica, node)]; }
  [[nodiscard]] Nanoseconds arrival(int replica, std::size_t input) const {
    return arrivals_[input_id(replica, input)];
  }
  [[nodiscard]] const Way& way(int replica, std::int32_t channel) const {
    return ways_[static_cast<std::size_t>(replica) * tables_.channels.size() + static_cast<std::size_t>(channel)];
  }
  // Of a cell or copy, before anything slows it down.
  [[nodiscard]] Nanoseconds duration(int replica, std::int32_t node) const;
  // The step task whose end released a node last, if any did; it counts where nothing else ends later.
  [[nodiscard]] const Release* release_of(int replica, std::int32_t node) const;
  [[nodiscard]] const DeviceTotals& device(int replica, int device) const { return totals_[lane_id(replica, device)]; }
  // End of the replica's last cell or task.
  [[nodiscard]] Nanoseconds makespan(int replica) const;

 private:
  enum class Happens : std::uint64_t { kNetwork, kEnd, kBegin, kChain };
  static constexpr int kNumberBits = 62;

  // Flows of a task one after the other, or its duration.
  struct Chain {
    std::int32_t task_run = 0;
    std::vector<Way> ways;
    std::vector<Bytes> bytes;
    std::size_t next = 0;
    Nanoseconds at = -1;  // when its event happens; others are out of date
  };
  // Work that other things stretch.
  struct Stretched {
    double left = 0;  // nanoseconds of undisturbed work at `since`
    Nanoseconds since = 0;
    double factor = 1;
  };
  struct Lane {
    std::int32_t occupied = 0;     // cells and transfers that hold the compute lane
    std::int32_t task = -1;        // task run on the compute lane
    std::int32_t collective = -1;  // task run on the collective lane
    std::int64_t running = -1;     // cell, as node_id
    double slow = 1;               // what a collective makes of compute
    Stretched work;                // of the running cell
    Cause last;                    // that held the compute lane
    Nanoseconds last_end = 0;
    Cause last_collective;
  };

  [[nodiscard]] std::size_t node_id(int replica, std::int32_t node) const {
    return static_cast<std::size_t>(replica) * program_.nodes.size() + static_cast<std::size_t>(node);
  }
  [[nodiscard]] std::size_t input_id(int replica, std::size_t input) const {
    return static_cast<std::size_t>(replica) * static_cast<std::size_t>(activities_.inputs) + input;
  }
  [[nodiscard]] std::size_t lane_id(int replica, std::int32_t device) const {
    return static_cast<std::size_t>(replica) * static_cast<std::size_t>(program_.devices) +
           static_cast<std::size_t>(device);
  }
  void push(Nanoseconds at, Happens what, std::uint64_t number) {
    queue_.push({at, static_cast<std::uint64_t>(what) << kNumberBits | number});
  }

  // Making it (cluster_setup.cpp).
  void add_ways(const Topology& topology);
  [[nodiscard]] TransferTime slowest(const std::vector<FlowPath>& paths, Bytes bytes) const;
  [[nodiscard]] Way make_way(const Flow& flow);
  [[nodiscard]] Way make_copy_way(FlowPath path, const CellCost& cost);
  void add_copy_ways(const Topology& topology);
  void add_tasks(const Schedule& schedule, const Variation* variation);
  void add_chains(std::int32_t run, const Variation* variation);
  [[nodiscard]] Nanoseconds varied(const TaskRun& run, const Variation* variation) const;
  void count_waits();

  // Nodes (cluster_run.cpp).
  void handle(const Event& event);
  void flow_done(std::int64_t owner);
  void deliver(int replica, std::int32_t node, Nanoseconds at);
  void release(int replica, std::int32_t node);
  void begin_node(int replica, std::int32_t node);
  [[nodiscard]] bool take_lanes(int replica, std::int32_t node);
  void leave_lanes(int replica, std::int32_t node);
  void start(int replica, std::int32_t node);
  void start_transfer(int replica, std::int32_t node);
  void start_cell(int replica, std::int32_t node);
  void end_node(int replica, std::int32_t node);
  void send(int replica, const Activities::Edge& edge);

  // Step tasks (cluster_tasks.cpp).
  template <typename Visit>
  void for_each_lane(const TaskRun& run, const Visit& visit);
  void meet(std::int32_t run);
  void start_tasks();
  [[nodiscard]] bool can_start(const TaskRun& run);
  void begin_task(std::int32_t run);
  void find_causes(TaskRun& run);
  void next_phase(std::size_t chain);
  void end_chain(std::size_t chain);
  void end_task(std::int32_t run);
  void release_after(const TaskRun& run);
  void set_slow(std::size_t lane, double factor);
  void stretch_cell(std::size_t lane);
  void stretch_task(std::int32_t run);

  const Program& program_;
  Tables tables_;
  const StepWork* step_;
  int replicas_;
  Activities activities_;
  StageNodes stage_nodes_;
  EventQueue queue_;
  std::unique_ptr<FlowNetwork> network_;  // null: flows never slow each other down
  const LinkGraph* graph_ = nullptr;
  NetworkModel model_ = NetworkModel::kUncontended;
  Nanoseconds now_ = 0;

  std::vector<Way> ways_;               // by replica, then channel
  std::vector<Way> copy_ways_;          // by replica, then cell; empty: copies take what their stage says
  std::vector<std::int32_t> unmet_;     // by replica, then node; -1: it has ended
  std::vector<Nanoseconds> begins_;     // the same; until it begins, when what it waited for so far was there
  std::vector<Nanoseconds> ends_;       // the same
  std::vector<Nanoseconds> durations_;  // the same; empty: what the tables say
  std::vector<Nanoseconds> arrivals_;   // by replica, then input
  std::vector<DeviceTotals> totals_;    // by lane

  bool looks_at_lanes_ = false;  // tasks take compute lanes or slow compute down
  std::vector<Lane> lanes_;      // by replica, then device
  std::vector<TaskRun> task_runs_;
  std::vector<std::int32_t> first_run_;  // by task: its run in replica 0, or in all
  std::vector<Stretched> task_work_;     // by task run
  std::vector<Chain> chains_;
  std::vector<std::int32_t> first_chain_;                    // by task run, one more
  std::vector<std::vector<std::int32_t>> tasks_after_;       // by task: tasks
  std::vector<std::vector<std::int32_t>> tasks_after_node_;  // by node: tasks; empty without any
  std::vector<std::int32_t> waiting_tasks_;                  // runs with nothing unmet, by (ready, task, replica)
  std::vector<std::size_t> waiting_nodes_;                   // for a task to leave their lane
  bool tasks_may_start_ = false;
  std::unordered_map<std::size_t, Release> releases_;  // by node_id
};

}  // namespace debubble
