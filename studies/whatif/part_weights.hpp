// What one unit of a cost adds to the nodes and channels of a program. Internal to studies/whatif.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scenario/job/job.hpp"
#include "sim/engine/critical_graph.hpp"
#include "sim/engine/program.hpp"
#include "studies/whatif/link_groups.hpp"
#include "studies/whatif/sensitivity.hpp"

namespace debubble {

class CostWeights {
 public:
  // Of that pipeline replica, whose ops vary independently. `durations` are its nodes'. Its transfers take its own
  // routes where they may meet others; else all replicas' are alike, and the engine takes the first one's.
  CostWeights(const Job& job, const Program& program, const LinkGroups& groups, int replica,
              const std::vector<Nanoseconds>& durations);

  // Every cost that takes time in this run, in the order of CostName.
  [[nodiscard]] const std::vector<Derivative>& costs() const { return costs_; }
  // By its number in `costs`.
  [[nodiscard]] PartWeights of(std::size_t cost) const;

 private:
  struct Use {
    std::int32_t cost = -1;  // -1: none
    double most = 0;
    double least = 0;
  };

  void add_nodes(int replica, const std::vector<Nanoseconds>& durations);
  void add_ops(std::size_t node, const Program::Cell& cell, std::array<double, 2> factors, double ratio);
  void add_channels();
  void add_groups(const Network& network);
  void add_route(std::size_t channel, const Network& network);
  void add_latency(std::size_t channel, const std::vector<std::vector<std::int32_t>>& longest);
  void add_bytes(std::size_t channel, const Network& network);
  // The number of a group's cost; -1 where it takes no time.
  std::int32_t group_cost(CostName::Kind kind, std::int32_t group);
  void sort_costs();
  // The number of that cost, a new one if need be; -1 where it takes no time.
  std::int32_t number_of(const CostName& name, Nanoseconds cost);
  [[nodiscard]] double share(int piece_class) const;

  const Job& job_;
  const Program& program_;
  const LinkGroups& groups_;
  int replica_ = 0;  // whose routes the transfers take
  std::vector<Derivative> costs_;
  std::vector<std::array<Use, 2>> node_uses_;   // by node
  std::vector<std::vector<Use>> channel_uses_;  // by channel
  std::int32_t barrier_ = -1;
};

}  // namespace debubble
