// A small cluster built by hand, for tests of the engine that must not depend on the catalog of topologies.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/core/topology.hpp"

namespace debubble::testing {

// Machines of `gpus` each behind one inner switch; every GPU has a network card at one switch that joins the machines.
struct MachineSizes {
  int machines = 1;
  int gpus = 8;
  std::int64_t inner = 450'000'000'000;  // bytes per second and direction
  std::int64_t outer = 50'000'000'000;
  Nanoseconds inner_latency = 500;
  Nanoseconds outer_latency = 1'000;
  bool one_card = false;  // all GPUs of a machine share one network card
  // Each machine's host, reached over one uplink from its GPUs; 0: no hosts.
  std::int64_t host = 0;
};
[[nodiscard]] LinkGraph machines(const MachineSizes& sizes);

// Device i sends to i + 1 and back over one link per direction, further over all links between.
[[nodiscard]] LinkGraph line_of(int devices, std::int64_t bandwidth, Nanoseconds latency);
// Clockwise or the other way, whichever is shorter; ties go clockwise.
[[nodiscard]] LinkGraph ring_of(int devices, std::int64_t bandwidth, Nanoseconds latency);
[[nodiscard]] LinkGraph switch_of(int devices, std::int64_t bandwidth, Nanoseconds latency);
// A link between every two.
[[nodiscard]] LinkGraph all_to_all_of(int devices, std::int64_t bandwidth, Nanoseconds latency);

// A pipeline of `pipeline` devices, `data` times, on the graph.
[[nodiscard]] Topology lay(LinkGraph graph, int pipeline, int data = 1, int tensor = 1,
                           NetworkModel model = NetworkModel::kFluid);

}  // namespace debubble::testing
