// Routes of every preset: whole, deterministic, as long as theory says; and loads of uniform traffic against formulas.
#include <random>

#include "sim/core/topology.hpp"
#include "sim/topologies/catalog.hpp"
#include "tests/network/link_load.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

// The delay of one message with one route, hop latency and bandwidth: hops * latency + bytes / bandwidth.
Nanoseconds delay(const LinkGraph& graph, std::int32_t from, std::int32_t to, Bytes bytes) {
  Flow flow;
  flow.bytes = bytes;
  for (const std::int32_t link : checked_route(graph, from, to)) {
    flow.path.links.push_back({link, 1});
    flow.path.latency += graph.links[static_cast<std::size_t>(link)].latency;
  }
  return alone(flow, graph, NetworkModel::kFluid).total();
}

TEST_CASE("hops of ASTRA-sim's shapes: ring the shorter way, fully connected 1, switch 2") {
  const LinkGraph ring = build_topology("ring:16");
  const LinkGraph full = build_topology("fully-connected:16");
  const LinkGraph star = build_topology("switch:16");
  for (std::int32_t from = 0; from < 16; ++from) {
    for (std::int32_t to = 0; to < 16; ++to) {
      const std::int32_t apart = std::min((to - from + 16) % 16, (from - to + 16) % 16);
      REQUIRE(link_count(ring, from, to) == apart);
      REQUIRE(link_count(full, from, to) == (from == to ? 0 : 1));
      REQUIRE(link_count(star, from, to) == (from == to ? 0 : 2));
    }
  }
}

TEST_CASE("a message alone takes hops * latency + bytes / bandwidth") {
  // ASTRA-sim's congestion-unaware model with 50 GB/s, which it counts in 2^30, 500 ns and 1 MiB: 19,531.25 ns to
  // leave, which this project rounds up.
  const std::string link = ",bandwidth=50GiB/s,latency=500ns";
  CHECK(delay(build_topology("fully-connected:16" + link), 1, 4, kMebibyte) == 19'532 + 500);
  CHECK(delay(build_topology("switch:16" + link), 1, 4, kMebibyte) == 19'532 + 2 * 500);
  CHECK(delay(build_topology("ring:16" + link), 1, 4, kMebibyte) == 19'532 + 3 * 500);
}

TEST_CASE("opposite devices of a ring go clockwise") {
  const LinkGraph ring = build_topology("ring:16");
  CHECK(checked_route(ring, 3, 11).front() == 6);
  CHECK(checked_route(ring, 11, 3).front() == 22);
  // So every device's messages to all others load the links towards the next device with 1 + ... + 8, back 1 + ... + 7.
  const std::vector<double> load = all_to_all_load(ring);
  for (std::size_t k = 0; k < load.size(); ++k) REQUIRE(load[k] == (k % 2 == 0 ? 36 : 28));
}

TEST_CASE("every preset's routes are whole, the same each time, and mostly the shortest") {
  std::mt19937 random(7);
  for (const std::string text : {"dgx-a100:3",
                                 "dgx-h100:4",
                                 "dgx-h200:1",
                                 "dgx-h100:8,pod=3,oversubscription=2",
                                 "gb200-nvl72:2",
                                 "v100-mesh",
                                 "v100-mesh:3",
                                 "pcie:1",
                                 "pcie:4",
                                 "pcie:21",
                                 "ring:1",
                                 "ring:2",
                                 "ring:9",
                                 "fully-connected:7",
                                 "switch:5",
                                 "fat-tree:40,leaf=8",
                                 "fat-tree:100,leaf=16,oversubscription=3",
                                 "fat-tree:5",
                                 "dragonfly:devices=2,routers=4,groups=3,links=5",
                                 "dragonfly:devices=2,routers=1,groups=1,links=1",
                                 "hxmesh:a=2,b=2,x=3,y=2"}) {
    CAPTURE(text);
    const LinkGraph graph = build_topology(text);
    CHECK(graph.name == text);
    CHECK(graph.domain.size() == graph.devices.size());
    const std::shared_ptr<const Router> shortest = shortest_paths(graph);
    std::uniform_int_distribution<std::int32_t> device(0, graph.device_count() - 1);
    for (int k = 0; k < 400; ++k) {
      const std::int32_t from = device(random);
      const std::int32_t to = device(random);
      const std::vector<std::int32_t> route = checked_route(graph, from, to);
      REQUIRE(route == checked_route(graph, from, to));
      REQUIRE(route.empty() == (from == to));
      std::vector<std::int32_t> best;
      shortest->route(from, to, best);
      check_chain(graph, graph.devices[static_cast<std::size_t>(from)], graph.devices[static_cast<std::size_t>(to)],
                  best);
      REQUIRE(best.size() <= route.size());
      const bool detours = text.starts_with("dragonfly") || text.starts_with("gb200") || text.starts_with("dgx");
      if (!detours) REQUIRE(route.size() == best.size());
    }
  }
}

TEST_CASE("hosts are reached over the links of the machine") {
  for (const std::string text : {"dgx-h100:2", "dgx-a100:1", "gb200-nvl72:1", "v100-mesh:2", "pcie:12"}) {
    CAPTURE(text);
    const LinkGraph graph = build_topology(text);
    const std::shared_ptr<const Router> shortest = shortest_paths(graph);
    for (std::int32_t device = 0; device < graph.device_count(); ++device) {
      for (const bool to_host : {true, false}) {
        std::vector<std::int32_t> links;
        REQUIRE(graph.router->host_route(device, to_host, links));
        REQUIRE(!links.empty());
        const std::int32_t own = graph.devices[static_cast<std::size_t>(device)];
        const Link& end = graph.links[static_cast<std::size_t>(to_host ? links.back() : links.front())];
        const std::int32_t host = to_host ? end.to : end.from;
        REQUIRE(graph.nodes[static_cast<std::size_t>(host)].kind == GraphNode::Kind::kHost);
        check_chain(graph, to_host ? own : host, to_host ? host : own, links);
        std::vector<std::int32_t> best;
        REQUIRE(shortest->host_route(device, to_host, best));
        REQUIRE(best.size() == links.size());
      }
    }
  }
  std::vector<std::int32_t> none;
  CHECK_FALSE(build_topology("ring:4").router->host_route(0, true, none));
  CHECK_FALSE(shortest_paths(build_topology("ring:4"))->host_route(0, true, none));
}

TEST_CASE("two GPUs share the uplink of their PCIe switch") {
  for (const std::string text : {"dgx-h100:1", "v100-mesh", "pcie:8"}) {
    CAPTURE(text);
    const LinkGraph graph = build_topology(text);
    const auto uplink = [&](std::int32_t device) {
      std::vector<std::int32_t> links;
      REQUIRE(graph.router->host_route(device, true, links));
      return links.back();
    };
    CHECK(uplink(0) == uplink(1));
    CHECK(uplink(1) != uplink(2));
  }
  // Neighbours behind one switch do not use it; others cross both uplinks.
  const LinkGraph pcie = build_topology("pcie:8");
  CHECK(link_count(pcie, 0, 1) == 2);
  CHECK(link_count(pcie, 1, 2) == 4);
}

TEST_CASE("GPUs of different rails meet over the NVSwitch of the sender's machine") {
  const LinkGraph graph = build_topology("dgx-h100:4");
  const auto names = [&](std::int32_t from, std::int32_t to) {
    std::string text;
    for (const std::int32_t link : checked_route(graph, from, to)) {
      text += graph.links[static_cast<std::size_t>(link)].name + " ";
    }
    return text;
  };
  CHECK(names(1, 6) == "gpu1>nvswitch0 nvswitch0>gpu6 ");
  CHECK(names(3, 11) == "gpu3>nic3 nic3>rail3 rail3>nic11 nic11>gpu11 ");
  CHECK(names(1, 11) == "gpu1>nvswitch0 nvswitch0>gpu3 gpu3>nic3 nic3>rail3 rail3>nic11 nic11>gpu11 ");
}

TEST_CASE("a fat tree saturates at one over its oversubscription") {
  for (const int taper : {1, 2, 4}) {
    CAPTURE(taper);
    const LinkGraph graph =
        build_topology("fat-tree:256,leaf=16,bandwidth=100GB/s,oversubscription=" + std::to_string(taper));
    const std::vector<double> load = all_to_all_load(graph);
    double slowest = 0;
    for (std::size_t k = 0; k < load.size(); ++k) {
      slowest = std::max(slowest, load[k] / 255 * 100e9 / static_cast<double>(graph.links[k].bandwidth));
    }
    // Of 255 messages 240 leave the leaf, over 16 / taper links.
    CHECK(slowest == doctest::Approx(std::max(1.0, taper * 240.0 / 255)));
  }
}

TEST_CASE("uplinks of a fat tree add up to what was asked for, also where they are no whole number") {
  const LinkGraph graph = build_topology("fat-tree:64,leaf=32,bandwidth=48GB/s,oversubscription=1.5");
  std::int64_t sum = 0;
  for (const Link& link : graph.links) {
    if (link.name.starts_with("leaf0>spine")) sum += link.bandwidth;
  }
  CHECK(static_cast<double>(sum) == doctest::Approx(32 * 48e9 / 1.5));
}

TEST_CASE("a dragonfly's links between two groups carry all that the groups send each other") {
  // The example of the HammingMesh paper: 8 devices per router, 16 routers, 8 groups, 18 links between each two.
  const LinkGraph graph = build_topology("dragonfly:devices=8,routers=16,groups=8,links=18");
  REQUIRE(graph.device_count() == 1024);
  const std::vector<double> load = all_to_all_load(graph);
  std::map<std::pair<int, int>, double> between;
  double most = 0;
  int links = 0;
  std::map<std::int32_t, int> ports;
  for (std::size_t k = 0; k < load.size(); ++k) {
    const Link& link = graph.links[k];
    const std::int32_t a = (link.from - 1024) / 16;
    const std::int32_t b = (link.to - 1024) / 16;
    if (link.from < 1024 || link.to < 1024 || a == b) continue;
    between[{a, b}] += load[k];
    most = std::max(most, load[k]);
    ++ports[link.from];
    ++links;
  }
  CHECK(links == 8 * 7 * 18);
  for (const auto& [pair, sum] : between) REQUIRE(sum == 128 * 128);
  // Even up to what 128 x 128 messages over 18 links leave, and at most 8 such ports per router.
  CHECK(most <= 1.02 * 128 * 128 / 18);
  for (const auto& [router, count] : ports) REQUIRE(count <= 8);
}

TEST_CASE("a graph of 16,384 GPUs is built and routed at once") {
  const LinkGraph graph = build_topology("dgx-h100:2048");
  REQUIRE(graph.device_count() == 16'384);
  std::mt19937 random(3);
  std::uniform_int_distribution<std::int32_t> device(0, 16'383);
  for (int k = 0; k < 20'000; ++k) {
    const std::int32_t from = device(random);
    const std::int32_t to = device(random);
    REQUIRE(link_count(graph, from, to) <= 6);
  }
}

}  // namespace
}  // namespace debubble::testing
