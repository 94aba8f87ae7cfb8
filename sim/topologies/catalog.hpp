// The catalog of topologies: clusters by name.
//
//     "dgx-h100:8"                        8 machines of 8 GPUs
//     "ring:16,bandwidth=50GB/s"          16 devices, links of another speed
//     "hxmesh:a=2,b=2,x=16,y=16"          boards of 2 x 2 devices, 16 x 16 boards
//
// A name, and after a colon what it takes, joined by commas: how many of its units, and KEY=VALUE. Rates are bytes per
// second in one direction that payload reaches, not what a data sheet promises; both are in the parameter's text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/assumption.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/topologies/preset_values.hpp"

namespace debubble {

struct TopologyEntry {
  std::string name;                // "dgx-h100"
  std::string form;                // "dgx-h100:N", what to type
  std::string units;               // what N counts, "machines of 8 GPUs"; empty: it takes no N
  std::int64_t default_units = 0;  // 0: N must be given
  std::int64_t most_units = 0;
  std::string summary;
  std::vector<TopologyParam> params;
  LinkGraph (*build)(const PresetValues& values) = nullptr;
};

// All of them but `ideal`, which is no graph; in the order in which they are listed.
[[nodiscard]] const std::vector<TopologyEntry>& topology_catalog();
// The entry of a name, or nullptr.
[[nodiscard]] const TopologyEntry* find_topology(std::string_view name);

struct DescribedTopology {
  LinkGraph graph;
  std::vector<Assumption> assumptions;  // every rate and latency, with who says so
};

// Throws InputError (C003 for an unknown name, else for what follows it) with everything that is wrong.
// `place` is what the person typed it into.
[[nodiscard]] DescribedTopology describe_topology(std::string_view text, const std::string& place = "--topology");
[[nodiscard]] LinkGraph build_topology(std::string_view text);

}  // namespace debubble
