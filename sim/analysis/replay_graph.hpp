// What each op and transfer of a run waits for, as a graph that can be replayed with other times. Internal to
// sim/analysis; shares nothing with the engine.
//
//     overlapped   0F0 --> transfer --> 1F0       a span waits for the one before it on its device and for its inputs'
//                   |                             transfers, a transfer for the span that made what it carries
//                  0F1
//     blocking     transfers are links of both devices' chains, in the order in which they took place (of two that
//                  take no time at one instant nobody can tell which came first; then a transfer counts as first)
//     rendezvous   the same
//     coupled      a transfer begins once both ends have ended what precedes it: its maker's slot, and the slot
//                  before its user's; the sender's next slot waits for it too
//     late         a transfer waits for the span that made what it carries and for the one in front of its receive
//     joined       the same, and spans wait for exchanges as a whole
#pragma once

#include <optional>
#include <vector>

#include "sim/analysis/joined_runs.hpp"
#include "sim/core/p2p.hpp"

namespace debubble {

class ReplayGraph {
 public:
  // The graph in the order in which `times` ran; nothing when those waits form a cycle, which no true clock shows.
  [[nodiscard]] static std::optional<ReplayGraph> build(const JoinedRuns& runs, const NodeTimes& times, P2p p2p);

  // How long after all it waited for each node began; below 0 where clocks disagree.
  [[nodiscard]] std::vector<Nanoseconds> gaps(const NodeTimes& times) const;
  // When the last of the things that a node waits for ends, by `end`; 0 when it waits for nothing.
  [[nodiscard]] Nanoseconds ready(NodeId node, const std::vector<Nanoseconds>& end) const;
  // The end of the last node when node i begins `gap[i]` after what it waits for and takes `duration[i]`.
  [[nodiscard]] Nanoseconds makespan(const std::vector<Nanoseconds>& duration, const std::vector<Nanoseconds>& gap);

 private:
  class Builder;

  std::vector<NodeId> order_;             // every node after all that it waits for
  std::vector<std::int32_t> wait_begin_;  // by node, one entry more: its part of waits_
  std::vector<NodeId> waits_;
  std::vector<Nanoseconds> end_;  // of the last replay
};

}  // namespace debubble
