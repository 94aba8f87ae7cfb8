// Collectives: which bytes travel over which links, in which order, and how long that takes with nothing else around.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/flow.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/core/units.hpp"

namespace debubble {

enum class CollectiveKind : std::uint8_t { kAllReduce, kReduceScatter, kAllGather, kAllToAll, kBroadcast };

enum class CollectiveAlgorithm : std::uint8_t {
  kAuto,  // the fastest of ring, tree, hierarchical and (where the switches can) in-network
  kRing,
  kTree,
  kHalvingDoubling,
  kHierarchical,
  kTorus,
  kInNetwork,
  kSparse,  // Ok-Topk
};
[[nodiscard]] const char* to_string(CollectiveKind kind);            // "all-reduce", ...
[[nodiscard]] const char* to_string(CollectiveAlgorithm algorithm);  // "auto", "ring", ...

struct CollectiveModel {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;
  Nanoseconds base_latency = 0;  // once per collective: launch
  Nanoseconds step_latency = 0;  // per message within a domain, beside the links' latency
  Nanoseconds far_latency = 0;   // per message between domains, beside the links' latency
  double efficiency = 1;         // of the links' bandwidth that the protocol reaches
  double slow_down = 0;          // of compute that runs beside it (StepTask::slow_down)
  double density = 1;            // kSparse: share of numbers that are sent
};

struct CollectivePlan {
  std::vector<Flow> phases;  // one after the other
  Nanoseconds duration = 0;  // of all phases, alone
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kRing;
  std::string text;  // "all-reduce of 1.5 GiB, ring over 128"
};

// `groups` run the same collective side by side (the data-parallel groups of all tensor ranks), each over its own
// devices of the graph; `bytes` is every rank's full buffer (all-gather, reduce-scatter: the gathered size).
// A group of one rank takes no time. Throws InputError where an algorithm does not fit the group, saying which would.
[[nodiscard]] CollectivePlan plan_collective(const LinkGraph& graph,
                                             const std::vector<std::vector<std::int32_t>>& groups, CollectiveKind kind,
                                             Bytes bytes, const CollectiveModel& model);

}  // namespace debubble
