// Shapes from textbooks, with the link that ASTRA-sim's examples give them: 50 GB/s and 500 ns.
//
//     ring:4   gpu0 = gpu1 = gpu2 = gpu3 = gpu0      switch:4   gpu0 gpu1 gpu2 gpu3
//                                                                  \   |    |   /
//                                                                      switch
#include "sim/core/at.hpp"
#include "sim/topologies/presets.hpp"
#include "sim/topologies/routers.hpp"

namespace debubble {

namespace {

std::vector<TopologyParam> link_params() {
  return {
      rate_param("bandwidth", 50'000'000'000, "each link, one way", Source::kDefault, "the link of ASTRA-sim's tests"),
      time_param("latency", 500, "each link", Source::kDefault, "the link of ASTRA-sim's tests")};
}

void add_devices(GraphBuilder& builder, std::int32_t count) {
  for (std::int32_t k = 0; k < count; ++k) builder.add_device(0);
}

LinkGraph build_ring(const PresetValues& values) {
  const auto devices = static_cast<std::int32_t>(values.units);
  GraphBuilder builder;
  add_devices(builder, devices);
  for (std::int32_t k = 0; k < devices && devices > 1; ++k) {
    builder.connect(k, (k + 1) % devices, values.speed("bandwidth", "latency"));
  }
  return builder.finish(values.text, ring_router(devices));
}

LinkGraph build_fully_connected(const PresetValues& values) {
  const auto devices = static_cast<std::int32_t>(values.units);
  GraphBuilder builder;
  add_devices(builder, devices);
  for (std::int32_t from = 0; from < devices; ++from) {
    for (std::int32_t to = 0; to < devices; ++to) {
      if (to != from) builder.add_link(from, to, values.speed("bandwidth", "latency"));
    }
  }
  return builder.finish(values.text, fully_connected_router(devices));
}

LinkGraph build_switch(const PresetValues& values) {
  const auto devices = static_cast<std::int32_t>(values.units);
  GraphBuilder builder;
  add_devices(builder, devices);
  const std::int32_t center = builder.add_node(GraphNode::Kind::kSwitch, "switch");
  std::vector<TreePlace> places(static_cast<std::size_t>(devices) + 1);
  for (std::int32_t k = 0; k < devices; ++k) {
    const std::int32_t up = builder.connect(k, center, values.speed("bandwidth", "latency"));
    at(places, k) = {center, up, up + 1, false};
  }
  return builder.finish(values.text, tree_router(std::move(places), builder.graph().devices));
}

}  // namespace

std::vector<TopologyEntry> basic_topologies() {
  return {{"ring", "ring:N", "devices", 0, kMostGraphDevices,
           "each GPU joined to the next and the last to the first; the shorter direction", link_params(), build_ring},
          {"fully-connected", "fully-connected:N", "devices", 0, 2048, "a link from each device to every other",
           link_params(), build_fully_connected},
          {"switch", "switch:N", "devices", 0, kMostGraphDevices,
           "one switch that never blocks; a link from each GPU to it and back", link_params(), build_switch}};
}

}  // namespace debubble
