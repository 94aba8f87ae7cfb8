// LinkGraph: the machines' interconnect. Devices, switches, network cards and hosts, joined by directed links; and the
// routes that messages take, which never depend on the load.
//
//     2 GPUs behind one switch      d0 --> s0 --> d1      links 0: d0>s0, 1: s0>d0, 2: d1>s0, 3: s0>d1
//                                   d0 <-- s0 <-- d1      route(0, 1) = {0, 3}
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

struct GraphNode {
  enum class Kind : std::uint8_t { kDevice, kSwitch, kNic, kHost };
  Kind kind = Kind::kDevice;
  std::string name;      // "gpu3", "leaf0"
  bool reduces = false;  // of a switch: it adds up and copies what flows through it (NVLink SHARP, Flare)
};

// One direction of a connection.
struct Link {
  std::int32_t from = 0;  // nodes
  std::int32_t to = 0;
  std::int64_t bandwidth = 0;  // bytes per second that payload reaches; 0: unlimited
  Nanoseconds latency = 0;
  bool shared = true;  // false: every flow gets the whole bandwidth (a crossbar's inside)
  std::string name;    // "gpu3>leaf0"
  bool cut = false;    // failed: it keeps its number, and no route takes it
};

// A topology that knows a better route than the fewest links (XY on a mesh, clockwise on a ring, up and down a tree).
class Router {
 public:
  virtual ~Router() = default;
  // Appends the links from one device to another, in order; nothing when they are the same. The same input gives the
  // same route. Throws InputError when there is no route (a link was cut).
  virtual void route(std::int32_t from_device, std::int32_t to_device, std::vector<std::int32_t>& links) const = 0;
  // Appends the links from a device to its host's memory, or back. False, and nothing appended, where it has no host.
  virtual bool host_route(std::int32_t device, bool to_host, std::vector<std::int32_t>& links) const;
};

struct LinkGraph {
  std::string name;  // of the preset or file
  std::vector<GraphNode> nodes;
  std::vector<Link> links;
  std::vector<std::int32_t> devices;  // by device: its node
  std::vector<std::int32_t> domain;   // by device: which fast domain (NVLink, board, machine) it belongs to
  std::shared_ptr<const Router> router;

  [[nodiscard]] std::int32_t device_count() const { return static_cast<std::int32_t>(devices.size()); }
};

// Fewest links, then least latency, then the lowest link numbers; what a graph without a router of its own uses. Links
// that are cut are no part of it. May be asked from several threads at once. Throws InputError B028 for no route.
[[nodiscard]] std::shared_ptr<const Router> shortest_paths(const LinkGraph& graph);

}  // namespace debubble
