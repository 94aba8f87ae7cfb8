// Changes of links: slower, farther, cut.
//
//     --link 3-4:x0.5             both directions at half the bandwidth
//     --link '3>4:latency=x10'    one direction, ten times the latency; latency=50us sets it
//     --fail link 3-4             no route takes it any more
//     --latency x2                of every link, and of every message
//
// A link is named by two devices, "3-4": all links on the route between them, both directions ("3>4": one); or by two
// nodes of the topology, "gpu3-nvswitch0" (sim/topologies/changes.hpp). With the ideal topology the devices are the
// pipeline's, every two of them are joined, and what a failed link carried travels over a third device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/topology.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct LinkChange {
  std::string link;      // "3-4"; empty: all of them
  double bandwidth = 1;  // factors
  double latency = 1;
  std::optional<Nanoseconds> latency_is;  // instead of the factor
  bool cut = false;
  std::vector<std::int32_t> numbers{};  // in the cluster's graph, where `link` is but what people call them
};

// The links that it is about, by number; all of them where it names none. Throws InputError B008.
[[nodiscard]] std::vector<std::int32_t> links_of(const LinkGraph& graph, const LinkChange& change);

// Throws InputError C006 for what is not of the form, with everything that is wrong.
[[nodiscard]] std::vector<LinkChange> parse_links(const std::vector<std::string>& texts);
[[nodiscard]] std::vector<LinkChange> parse_failures(const std::vector<std::string>& words);
// "x2" or "x0"; `flag` is --latency or --bandwidth-scale. Throws InputError C006.
[[nodiscard]] double parse_scale(const std::string& text, const char* flag);

// "link 3-4 at 0.5 times the bandwidth"
[[nodiscard]] std::string to_string(const LinkChange& change);

// The topology after all changes. `devices` are the pipeline's, `replicas` how many of it there are. Throws InputError
// B008 for a link that is not there, X005 for ideal links of too many devices, and O024 for a change that changes
// nothing: bandwidth of a link without limit, latency of one without latency.
[[nodiscard]] Topology changed_topology(const Topology& topology, const std::vector<LinkChange>& changes, int devices,
                                        int replicas = 1);

// The ideal links between the pipeline's devices, as a graph on which nothing meets. All replicas of the pipeline have
// such links; as nothing meets on them, one set serves all. Throws InputError X005 for too many devices.
[[nodiscard]] std::shared_ptr<Network> ideal_network(const Topology& topology, int devices, int replicas);

}  // namespace debubble
