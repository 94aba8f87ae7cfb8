// Clusters in JSON files: what is written is read back, what is wrong is all said at once.
#include "formats/topology/topology_file.hpp"

#include "tests/network/link_load.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

std::string written(const LinkGraph& graph) {
  std::string text;
  write_topology(graph, [&](std::string_view piece) { text += piece; });
  return text;
}

// "CODE PLACE" of each.
std::vector<std::string> problems_of(const std::string& text) {
  std::vector<std::string> found;
  try {
    (void)read_topology(text, "t.json");
  } catch (const InputError& error) {
    for (const Diagnostic& one : error.diagnostics()) {
      CHECK_FALSE(one.help.empty());
      found.push_back(one.code + " " + one.place);
    }
  }
  return found;
}

std::string with(const std::string& members) {
  return R"({"schema": "debubble.topology/1", "name": "two", )" + members + "}";
}

constexpr const char* kPair =
    R"("nodes": [{"name": "a", "kind": "device"}, {"name": "b", "kind": "device", "domain": 1},
                 {"name": "h", "kind": "host"}],
       "links": [{"from": "a", "to": "b", "bandwidth_bytes_per_s": 1000, "latency_ns": 7, "both": true},
                 {"from": "b", "to": "h", "bandwidth_bytes_per_s": null, "latency_ns": 3, "both": true}])";

using Problems = std::vector<std::string>;

TEST_CASE("a file gives nodes, links in both directions, domains and the way to the host") {
  const DescribedTopology topology =
      read_topology(with(std::string(R"("source": "a bench", "rates": "measured", )") + kPair), "t.json");
  const LinkGraph& graph = topology.graph;
  CHECK(graph.name == "two");
  CHECK(graph.device_count() == 2);
  CHECK(graph.domain == std::vector<std::int32_t>{0, 1});
  REQUIRE(graph.links.size() == 4);
  CHECK(graph.links[1].name == "b>a");
  CHECK(graph.links[1].bandwidth == 1000);
  CHECK(graph.links[2].bandwidth == 0);
  CHECK(checked_route(graph, 1, 0) == std::vector<std::int32_t>{1});
  std::vector<std::int32_t> host;
  CHECK(graph.router->host_route(0, true, host));
  CHECK(host == std::vector<std::int32_t>{0, 2});
  REQUIRE(topology.assumptions.size() == 1);
  CHECK(topology.assumptions[0].amount == "a bench");
  CHECK(topology.assumptions[0].source == Source::kMeasured);
}

TEST_CASE("every preset survives being written and read, with its routes") {
  for (const std::string preset : {"dgx-a100:2", "dgx-h100:3,pod=2", "gb200-nvl72:1", "v100-mesh", "pcie:10", "ring:5",
                                   "fully-connected:4", "switch:3", "fat-tree:20,leaf=4,oversubscription=2",
                                   "dragonfly:devices=1,routers=2,groups=3,links=2", "hxmesh:a=2,b=2,x=2,y=3"}) {
    CAPTURE(preset);
    const LinkGraph graph = build_topology(preset);
    const std::string text = written(graph);
    const LinkGraph read = read_topology(text, "t.json").graph;
    CHECK(written(read) == text);
    CHECK(read.devices == graph.devices);
    CHECK(read.domain == graph.domain);
    REQUIRE(read.links.size() == graph.links.size());
    for (std::size_t k = 0; k < graph.links.size(); ++k) REQUIRE(read.links[k].name == graph.links[k].name);
    for (std::int32_t from = 0; from < graph.device_count(); ++from) {
      for (std::int32_t to = 0; to < graph.device_count(); ++to) {
        REQUIRE(checked_route(read, from, to) == checked_route(graph, from, to));
      }
    }
  }
}

TEST_CASE("a file may keep a preset's routes and have rates of its own") {
  std::string text = written(build_topology("dgx-h100:2"));
  const std::string card = R"("nic0", "to": "rail0", "bandwidth_bytes_per_s": 48000000000)";
  const std::size_t at = text.find(card);
  REQUIRE(at != std::string::npos);
  text.replace(at, card.size(), R"("nic0", "to": "rail0", "bandwidth_bytes_per_s": 12000000000)");
  const LinkGraph graph = read_topology(text, "t.json").graph;
  const std::vector<std::int32_t> route = checked_route(graph, 0, 8);
  CHECK(route == checked_route(build_topology("dgx-h100:2"), 0, 8));
  CHECK(graph.links[static_cast<std::size_t>(route[1])].bandwidth == 12'000'000'000);
  // Other wires than the preset's cannot have its routes.
  CHECK(problems_of(with(std::string(R"("routes": "ring:2", )") + kPair)) == Problems{"B028 t.json#/routes"});
  CHECK(problems_of(with(std::string(R"("routes": "rung:2", )") + kPair)) == Problems{"B028 t.json#/routes"});
  CHECK(problems_of(with(std::string(R"("routes": "shortest", )") + kPair)).empty());
}

TEST_CASE("numbers of nodes and links are what the file says, not the preset") {
  const LinkGraph graph = build_topology("ring:3");
  std::string text = written(graph);
  const std::string all = "\"routes\": \"ring:3\"";
  text.replace(text.find(all), all.size(), "\"routes\": \"shortest\"");
  CHECK(checked_route(read_topology(text, "t.json").graph, 0, 2) == checked_route(graph, 0, 2));
}

TEST_CASE("what is no topology is refused with its place") {
  CHECK(problems_of("{") == Problems{"P001 t.json:1:2"});
  CHECK(problems_of("\"\xff\"").front().starts_with("P002"));
  CHECK(problems_of("[]") == Problems{"P007 t.json#"});
  CHECK(problems_of(R"({"schema": "debubble.topology/2", "name": "x", "nodes": [], "links": []})") ==
        Problems{"P010 t.json#/schema", "B028 t.json#/nodes"});
  CHECK(problems_of(with(R"("nodes": [{"name": "a", "kind": "device"}], "links": [], "wires": 1)")) ==
        Problems{"P005 t.json#"});
  CHECK(problems_of(with(R"("nodes": [{"name": "a", "kind": "device"}])")) == Problems{"P006 t.json#"});
  CHECK(problems_of(with(R"("nodes": [{"name": "a", "kind": "device"}], "nodes": [], "links": [])")).front() ==
        "P003 t.json#/nodes");
}

TEST_CASE("all that is wrong with nodes and links is said at once") {
  const std::string text = with(R"("nodes": [{"name": "a", "kind": "device"}, {"name": "a", "kind": "gpu"},
      {"name": "s", "kind": "switch", "domain": 1}, {"name": "t", "kind": "switch", "reduces": 1}],
      "links": [{"from": "a", "to": "a", "bandwidth_bytes_per_s": 0, "latency_ns": 0},
                {"from": "a", "to": "z", "bandwidth_bytes_per_s": 1, "latency_ns": -1},
                {"from": "a", "to": "s", "bandwidth_bytes_per_s": 1.5, "latency_ns": 0, "both": "yes"},
                {"from": "a", "to": "s", "latency_ns": 0}])");
  CHECK(problems_of(text) == Problems{"P011 t.json#/nodes/1/kind", "B028 t.json#/nodes/1/name", "P005 t.json#/nodes/2",
                                      "P007 t.json#/nodes/3/reduces", "P004 t.json#/links/0/bandwidth_bytes_per_s",
                                      "B028 t.json#/links/0/to", "B028 t.json#/links/1/to",
                                      "P004 t.json#/links/1/latency_ns", "P007 t.json#/links/2/bandwidth_bytes_per_s",
                                      "P007 t.json#/links/2/both", "P006 t.json#/links/3"});
}

TEST_CASE("devices without a way to each other are refused, in either direction") {
  const char* nodes = R"("nodes": [{"name": "a", "kind": "device"}, {"name": "b", "kind": "device"}], )";
  CHECK(problems_of(with(std::string(nodes) + R"("links": [])")) == Problems{"B028 t.json#/links"});
  for (const auto& [from, to] : {std::pair("a", "b"), std::pair("b", "a")}) {
    const std::string link = std::string(R"({"from": ")") + from + R"(", "to": ")" + to +
                             R"(", "bandwidth_bytes_per_s": 1, "latency_ns": 0})";
    CHECK(problems_of(with(std::string(nodes) + "\"links\": [" + link + "]")) == Problems{"B028 t.json#/links"});
  }
}

TEST_CASE("names of files are told from names of presets") {
  CHECK(is_topology_file("a.json"));
  CHECK(is_topology_file("./cluster"));
  CHECK(is_topology_file("/tmp/odd:name"));
  CHECK_FALSE(is_topology_file("dgx-h100:8"));
  CHECK_FALSE(is_topology_file("ring:4,bandwidth=50GB/s"));
}

}  // namespace
}  // namespace debubble::testing
