// CriticalGraph: all critical paths of a run at once, and how often something is on them.
//
//     device 0   F0 F1 .. B0 .. B1        every chain of things that begin when the one before ends, from 0 to the
//     device 1      F0 B0 F1 B1           last end: usually there are many, equally long
//
// The step time is the longest chain of what waits for each other. So when something grows a little, the step grows by
// as much as is on the chain that holds most of it; when it shrinks, on the chain that holds least. Where these two
// differ, several chains tie, and the derivative is one-sided.
//
// Of the walk of `simulate`: no network on which flows meet, no step tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/stage_costs.hpp"
#include "sim/core/topology.hpp"
#include "sim/core/units.hpp"
#include "sim/engine/program.hpp"

namespace debubble {

// What one unit of some cost adds to each part of a run. `most` counts when the cost grows, `least` when it shrinks;
// they differ where the part is a maximum of several things.
struct PartWeights {
  std::vector<double> node_most, node_least;        // by node; of transfers see below. Empty: all 0
  std::vector<double> channel_most, channel_least;  // by channel: one transfer's time. Empty: all 0
  double barrier = 0;                               // of a split output layer
};

// By how much the step time changes per unit of that cost.
struct OneSided {
  double growing = 0;
  double shrinking = 0;
};

class CriticalGraph {
 public:
  // `durations` holds one entry per node (transfers: ignored): what varied_durations gives.
  CriticalGraph(const Program& program, const StageCosts& costs, const Topology& topology,
                const std::vector<Nanoseconds>& durations);

  [[nodiscard]] Nanoseconds makespan() const { return makespan_; }
  // Nodes on some critical path.
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  [[nodiscard]] OneSided derivative(const PartWeights& weights) const;

 private:
  // What a critical node waits for without slack.
  struct Edge {
    std::int32_t from = -1;     // node
    std::int32_t channel = -1;  // the transfer between them, where transfers overlap
    bool gathered = false;      // a barrier lies between them
    bool begin_only = false;    // it waits for the beginning of `from`
  };
  struct Critical {
    std::int32_t node = 0;
    std::size_t edges_end = 0;  // its edges follow those of the node before
    bool starts = false;        // it begins at 0
    bool ends = false;          // it ends last
  };
  class Builder;

  [[nodiscard]] double extreme(const std::vector<double>& node, const std::vector<double>& channel, double barrier,
                               bool most) const;

  Nanoseconds makespan_ = 0;
  std::vector<std::int32_t> channel_of_;  // by node: a transfer's channel, -1
  std::vector<Critical> nodes_;           // in program order
  std::vector<Edge> edges_;
};

}  // namespace debubble
