// How the step time changes with each cost: its derivative with respect to every stage's F, B, I and W, and every
// link's latency and time per byte.
//
// Without tasks in addition to the schedule's ops and without links on which transfers meet it is exact: the derivative
// is how often the cost is on a critical path (sim/engine/critical_graph.hpp). Otherwise the run is repeated with the
// cost one part in a thousand larger and smaller.
//
// In a cluster, links that have the same part in the run are one cost (studies/whatif/link_groups.hpp): all of them
// change together. Links that the run does not use are left out, and so is the bandwidth of one that is never the
// tightest on its routes. Latencies of links that carry the same things are looked at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scenario/job/job.hpp"
#include "sim/core/op.hpp"
#include "sim/core/units.hpp"
#include "sim/engine/critical_graph.hpp"

namespace debubble {

// One cost of a run.
struct CostName {
  enum class Kind {
    kOp,           // of a stage: F, B, I, W or R of one microbatch
    kPair,         // an overlapped pair
    kVocabulary,   // S or T of one device's shard
    kBarrier,      // of a split output layer
    kCopy,         // of a stage's activation to the host or a peer, or back
    kLatency,      // of a link, or of every message
    kTimePerByte,  // of a link
  };
  Kind kind = Kind::kOp;
  OpKind op = OpKind::kForward;
  int stage = 0;
  std::string link{};  // "3>4", "nic0-7>rail0-7", "gpu0-7<>nvswitch0"; of kLatency empty: every message's own latency
  std::vector<std::int32_t> links{};  // their numbers in the network's graph; empty: an ideal one

  friend bool operator==(const CostName&, const CostName&) = default;
};
// "stage 3 B", "link 3>4 latency", "nic0-7>rail0-7 bytes"
[[nodiscard]] std::string to_string(const CostName& name);

struct Derivative {
  CostName name;
  Nanoseconds cost = 0;              // of links' bytes: bytes per second
  OneSided times;                    // how often it is on the critical path; of links' bytes: bytes
  Nanoseconds at_stake = 0;          // the part of the step that grows with it: times.growing x cost
  std::vector<std::string> links{};  // of a cluster: their names
};

struct Sensitivity {
  Nanoseconds step = 0;
  bool exact = true;                    // by the critical path; false: by repeated runs
  int replica = 0;                      // the pipeline replica that is slowest, whose path it is
  std::string left_out;                 // which costs are not among them, and why; empty: none
  std::vector<Derivative> derivatives;  // costs that take time; in the order of CostName::Kind, then by stage or link
};

// Called from any thread: how many of how many runs are done.
using RunsDone = std::function<void(std::size_t done, std::size_t all)>;

// The run must be prepared and its schedule must not deadlock. `scenario` is what planned its training step. `threads`
// 0: one per core.
[[nodiscard]] Sensitivity find_sensitivity(const Scenario& scenario, const Job& job, const Program& program,
                                           int threads, const RunsDone& tell = {});

}  // namespace debubble
