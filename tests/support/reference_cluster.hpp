// A second simulator of the modelled cluster, for tests only: small, slow, and written from the rules alone. It goes
// from one instant to the next, works out every rate from nothing each time, and looks at everything again until
// nothing more can start. It shares no code with the engine; cells and hops come from reference_simulator.hpp.
//
// Overlapped transfers, fluid links; no copies and no shards of the vocabulary.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/step_work.hpp"
#include "sim/core/topology.hpp"
#include "tests/support/reference_simulator.hpp"

namespace debubble::reference {

struct FairFlow {
  std::vector<LinkShare> links;
  double bound = 0;  // 0: none
};

// Max-min fair rates: all flows rise by the same steps until a link or a bound stops them. Capacity 0: unlimited.
[[nodiscard]] std::vector<double> fair_rates(const std::vector<double>& capacity, const std::vector<bool>& shared,
                                             const std::vector<FairFlow>& flows);

// The same of a graph's links, in bytes per nanosecond.
[[nodiscard]] std::vector<double> fair_rates(const LinkGraph& graph, const std::vector<FlowPath>& paths);

// When flows that begin at those times have left; latencies are not counted.
[[nodiscard]] std::vector<Nanoseconds> flow_ends(const LinkGraph& graph, const std::vector<Flow>& flows,
                                                 const std::vector<Nanoseconds>& begins);

struct ClusterCase {
  // By pipeline replica: the uncontended run, whose cells say how long each takes and whose hops what travels.
  std::vector<Outcome> replicas;
  const Topology* topology = nullptr;
  const StepWork* step = nullptr;  // may be null
  const Schedule* schedule = nullptr;
  // By task, then pipeline replica (or one for all of them): what it takes without flows. Empty: as the step says.
  std::vector<std::vector<Nanoseconds>> task_durations;
};

struct TaskTimes {
  std::int32_t task = 0;
  std::int32_t replica = -1;  // -1: all
  Nanoseconds begin = -1;
  Nanoseconds end = -1;
};

struct ClusterOutcome {
  std::vector<Outcome> replicas;  // the same with new times; memory means nothing
  std::vector<TaskTimes> tasks;
};

[[nodiscard]] ClusterOutcome simulate_cluster(const ClusterCase& given);

}  // namespace debubble::reference
