// Machines with a crossbar inside and rails of switches between them (nvswitch.cpp shows the picture).
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/link_graph.hpp"
#include "sim/topologies/graph_builder.hpp"

namespace debubble {

struct RailMachines {
  std::int32_t machines = 1;
  std::int32_t gpus = 8;                 // per machine
  std::int32_t rails = 8;                // GPU k of a machine is on rail k mod rails; divides gpus
  LinkSpeed nvlink;                      // GPU to the crossbar
  LinkSpeed nic;                         // network card to its rail's switch
  LinkSpeed pcie;                        // GPU to its card, and to the host
  std::int32_t gpus_per_uplink = 2;      // divides gpus
  bool host_per_uplink = false;          // GPUs hang on their hosts directly: NVLink C2C
  std::int32_t pod = 1;                  // machines per pod; all of them: no core switches
  std::int64_t oversubscription = 1000;  // thousandths
  bool switch_reduces = false;           // the crossbar adds up what flows through it
};

[[nodiscard]] LinkGraph build_rail_machines(const RailMachines& shape, const std::string& name);

}  // namespace debubble
