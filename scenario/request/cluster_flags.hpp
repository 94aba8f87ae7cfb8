// Flags about the cluster: its links, how the job is mapped onto it, and how flows meet; part of every verb that takes
// a scenario.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"
#include "scenario/request/known_topologies.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/flow.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/core/rank_layout.hpp"

namespace debubble {

// As typed.
struct ClusterFlags {
  // Shared by the scenarios of one study; null: each describes its own.
  std::shared_ptr<KnownTopologies> known;
  std::string topology = "ideal";
  std::string network;
  std::optional<int> tensor;
  std::optional<int> context;
  std::optional<int> expert;
  std::optional<int> expert_tensor;
  std::optional<int> data;
  std::optional<int> zero;
  bool sequence_parallel = false;
  std::string rank_order;
  std::string rank_devices;
  std::string transfer_latency;
  std::string transfer_bandwidth;
};

[[nodiscard]] FlagRows flag_rows(ClusterFlags& flags);

// The flags, checked.
struct ClusterScenario {
  std::string topology = "ideal";          // as typed
  std::shared_ptr<const LinkGraph> graph;  // null: ideal
  std::shared_ptr<KnownTopology> known;    // the graph and what is kept of it; null: nothing is
  std::vector<Assumption> rates;           // of the graph's links, with who says so
  Parallelism sizes;                       // without the pipeline, whose length the schedule says
  std::vector<Dimension> order = RankLayout{}.order;
  std::vector<std::int32_t> devices;  // by rank; empty: rank r is device r
  NetworkModel model = NetworkModel::kFluid;
  Nanoseconds message_latency = 0;
  std::int64_t transfer_bound = 0;
  bool given = false;  // whether any of these flags was on the command line

  // The job on the cluster, with a pipeline of so many devices; on `ideal`, too.
  [[nodiscard]] RankLayout layout(int pipeline_devices) const;
};

// Throws InputError with everything that is wrong with them.
[[nodiscard]] ClusterScenario check_cluster(const ClusterFlags& flags);

// Throws InputError C087: `verb` runs or replays something real, whose links nobody chooses.
void refuse_cluster(const ClusterScenario& cluster, const std::string& verb);

}  // namespace debubble
