// Collectives: which bytes travel over which links, in which order, and how long that takes with nothing else around.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/flow.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/core/units.hpp"

namespace debubble {

enum class CollectiveKind : std::uint8_t { kAllReduce, kReduceScatter, kAllGather, kAllToAll, kBroadcast };

enum class CollectiveAlgorithm : std::uint8_t {
  kAuto,  // the fastest of those that fit: ring, tree, hierarchical, (where the switches can) in-network; pairwise
  kRing,
  kTree,
  kHalvingDoubling,
  kHierarchical,
  kTorus,
  kInNetwork,
  kSparse,    // Ok-Topk
  kPairwise,  // all-to-all: everybody sends to everybody, one after the other
};
[[nodiscard]] const char* to_string(CollectiveKind kind);            // "all-reduce", ...
[[nodiscard]] const char* to_string(CollectiveAlgorithm algorithm);  // "auto", "ring", ...

// One way in which a library runs an algorithm: NCCL's ring with its LL protocol, for one.
struct CollectiveProtocol {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kRing;
  std::string name;              // "LL128"
  Nanoseconds base_latency = 0;  // these four as in CollectiveModel
  Nanoseconds step_latency = 0;
  Nanoseconds far_latency = 0;
  double efficiency = 1;
  int least_ranks = 2;  // auto does not take it for fewer
};

// Machines whose collectives were measured (measured.hpp).
enum class MeasuredMachine : std::uint8_t { kA100, kH100, kH200, kB200, kGb200 };

struct CollectiveModel {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;
  Nanoseconds base_latency = 0;  // once per collective: launch
  Nanoseconds step_latency = 0;  // per message within a domain, in addition to the links' latency
  Nanoseconds far_latency = 0;   // per message between domains, in addition to the links' latency
  double efficiency = 1;         // of the links' bandwidth that the protocol reaches
  double slow_down = 0;          // of compute that overlaps it (StepTask::slow_down)
  double density = 1;            // kSparse: share of numbers that are sent
  double entry_size = 2;         // kSparse: a sent number and its index, in sizes of a number: 2 is fp32 + int32
  std::int64_t selection_bandwidth = 0;  // kSparse: bytes per second at which it looks for them; 0: no time
  double scale = 1;                      // calibration: all latencies and bytes take 1 / scale of their time
  double tree_far_copies = 1;            // kTree: how often data that leave a domain cross their links
  bool step_includes_links = false;      // within a domain `step_latency` is all of a hop: link latencies are in it
  // Where there are any for an algorithm, the fastest of them counts, and not the four figures above. Where there are
  // any at all, kAuto takes no algorithm without one, but for an all-to-all.
  std::vector<CollectiveProtocol> protocols;
  // Groups within one domain of such machines: kAuto takes what was measured there, if it was, and nothing above but
  // `scale` and `slow_down`.
  std::optional<MeasuredMachine> measured;
};

struct CollectivePlan {
  std::vector<Flow> phases;  // one after the other
  Nanoseconds duration = 0;  // of all phases, alone
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kRing;
  std::string text;  // "all-reduce of 1.5 GiB, ring over 128"
};

class KnownDrafts;  // cost_models/collectives/known_drafts.hpp

// `groups` run the same collective side by side (the data-parallel groups of all tensor ranks), each over its own
// devices of the graph; `bytes` is every rank's full buffer (all-gather, reduce-scatter: the gathered size).
// A group of one rank takes no time. Throws InputError where an algorithm does not fit the group, saying which would.
// `known`, where it is not null, are drafts on this very graph.
[[nodiscard]] CollectivePlan plan_collective(const LinkGraph& graph,
                                             const std::vector<std::vector<std::int32_t>>& groups, CollectiveKind kind,
                                             Bytes bytes, const CollectiveModel& model, KnownDrafts* known = nullptr);

// The same where each of `ranks` has a port of its own to a crossbar, of that bandwidth (0: unlimited) one way and that
// latency per message. As all ports are alike, rings and trees are not drawn link by link, so that a million ranks take
// no time; other algorithms, where one is asked for, and all-to-alls are, up to 1,024 ranks. Throws InputError B030
// beyond that and where an algorithm does not fit.
[[nodiscard]] CollectivePlan plan_on_ports(std::size_t ranks, std::int64_t bandwidth, Nanoseconds latency,
                                           CollectiveKind kind, Bytes bytes, const CollectiveModel& model);

}  // namespace debubble
