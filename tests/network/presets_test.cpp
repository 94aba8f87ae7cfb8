// What the presets say about machines: the published rates, nominal ones beside them, and where a number came from; and
// what they refuse.
#include "sim/topologies/catalog.hpp"
#include "tests/network/link_load.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

const Link& link_of(const LinkGraph& graph, std::string_view name) {
  const auto found =
      std::find_if(graph.links.begin(), graph.links.end(), [&](const Link& l) { return l.name == name; });
  REQUIRE(found != graph.links.end());
  return *found;
}

std::vector<std::string> codes_of(const std::string& text) {
  std::vector<std::string> codes;
  try {
    (void)describe_topology(text);
  } catch (const InputError& error) {
    for (const Diagnostic& one : error.diagnostics()) {
      CHECK(one.place == "--topology");
      CHECK_FALSE(one.help.empty());
      codes.push_back(one.code);
    }
  }
  return codes;
}

std::string presets_help_of(const std::string& text) {
  return first_problem([&] { (void)describe_topology(text); }).help;
}

TEST_CASE("links carry the effective rates that were published") {
  struct Golden {
    const char* topology;
    const char* link;
    double rate;
  };
  // NVLink: 12 x 20.0, 18 x 20.6, 18 x 40.1 GB/s; cards of 200 and 400 Gbit/s; PCIe usable.
  const std::vector<Golden> goldens{{"dgx-a100:2", "gpu3>nvswitch0", 240e9},
                                    {"dgx-h100:2", "nvswitch1>gpu9", 370.8e9},
                                    {"dgx-h200:2", "gpu0>nvswitch0", 370.8e9},
                                    {"dgx-b200:1", "gpu0>nvswitch0", 721.8e9},
                                    {"gb200-nvl72:1", "gpu71>nvswitch0", 721.8e9},
                                    {"dgx-a100:2", "nic3>rail3", 24e9},
                                    {"dgx-h100:2", "rail1>nic9", 48e9},
                                    {"dgx-a100:2", "gpu3>nic3", 24e9},
                                    {"dgx-h100:2", "pcie0>host0", 50e9},
                                    {"gb200-nvl72:1", "gpu5>grace2", 450e9},
                                    {"v100-mesh", "gpu0>gpu3", 40e9},
                                    {"v100-mesh", "gpu0>gpu1", 20e9},
                                    {"v100-mesh", "pcie3>host0", 12e9}};
  for (const Golden& golden : goldens) {
    CAPTURE(golden.topology);
    CAPTURE(golden.link);
    CHECK(static_cast<double>(link_of(build_topology(golden.topology), golden.link).bandwidth) == golden.rate);
  }
}

TEST_CASE("a neighbour on NVSwitch is as far as ASTRA-sim's H100 preset says: two hops of 936 ns") {
  const LinkGraph graph = build_topology("dgx-h100:1");
  Nanoseconds latency = 0;
  for (const std::int32_t link : checked_route(graph, 0, 7)) {
    latency += graph.links[static_cast<std::size_t>(link)].latency;
  }
  CHECK(latency == 1872);
}

TEST_CASE("each V100 of a DGX-1 has six NVLinks, four neighbours and three GPUs two hops away") {
  const LinkGraph graph = build_topology("v100-mesh");
  for (std::int32_t from = 0; from < 8; ++from) {
    std::int64_t rate = 0;
    int neighbours = 0;
    int far = 0;
    for (std::int32_t to = 0; to < 8; ++to) {
      const std::vector<std::int32_t> route = checked_route(graph, from, to);
      if (route.size() == 1) {
        ++neighbours;
        rate += graph.links[static_cast<std::size_t>(route[0])].bandwidth;
      }
      if (route.size() == 2) ++far;
    }
    CHECK(rate == 120'000'000'000);
    CHECK(neighbours == 4);
    CHECK(far == 3);
  }
}

TEST_CASE("domains are what shares fast links") {
  CHECK(build_topology("dgx-h100:3").domain[17] == 2);
  CHECK(build_topology("gb200-nvl72:2").domain[71] == 0);
  CHECK(build_topology("gb200-nvl72:2").domain[72] == 1);
  CHECK(build_topology("hxmesh:a=2,b=2,x=2,y=2").domain[5] == 1);
  CHECK(build_topology("ring:8").domain[7] == 0);
}

TEST_CASE("switches that can add up are those of Hopper and later") {
  const auto reduces = [](const std::string& text) {
    const LinkGraph graph = build_topology(text);
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const GraphNode& node) { return node.reduces; });
  };
  CHECK_FALSE(reduces("dgx-a100:1"));
  CHECK(reduces("dgx-h100:1"));
  CHECK(reduces("gb200-nvl72:1"));
  CHECK_FALSE(reduces("switch:8"));
}

TEST_CASE("pods of a rail meet over links of their bandwidth divided by the oversubscription") {
  const LinkGraph graph = build_topology("dgx-h100:64,pod=32,oversubscription=4");
  CHECK(link_of(graph, "pod0.rail3>core3").bandwidth == 32 * 48'000'000'000 / 4);
  CHECK(link_count(graph, 0, 8) == 4);           // in one pod
  CHECK(link_count(graph, 0, 63 * 8) == 6);      // in the other
  CHECK(link_count(graph, 0, 63 * 8 + 1) == 8);  // and on another rail
}

TEST_CASE("every number says who says so, and a given one replaces it") {
  const DescribedTopology topology = describe_topology("dgx-h100:2,nic=25GB/s,latency=1us");
  CHECK(link_of(topology.graph, "nic0>rail0").bandwidth == 25'000'000'000);
  CHECK(link_of(topology.graph, "gpu0>nvswitch0").latency == 1000);
  const auto said = [&](const std::string& what) {
    const auto found = std::find_if(topology.assumptions.begin(), topology.assumptions.end(),
                                    [&](const Assumption& one) { return label(one) == what; });
    REQUIRE(found != topology.assumptions.end());
    return *found;
  };
  const Assumption nvlink = said("bandwidth: NVLink of a GPU, one way");
  CHECK(nvlink.source == Source::kPublished);
  CHECK(full_text(nvlink).starts_with("370.8 GB/s ("));
  CHECK(contains(full_text(nvlink), "nominal 450 GB/s"));
  CHECK(said("nic: network card, one way").source == Source::kGiven);
  CHECK(said("nic: network card, one way").amount == "25 GB/s");
  CHECK(said("latency: GPU to NVSwitch").amount == "1000 ns");
}

TEST_CASE("every entry of the catalog is built from its own example and describes itself") {
  for (const TopologyEntry& entry : topology_catalog()) {
    CAPTURE(entry.name);
    CHECK(entry.form.starts_with(entry.name));
    CHECK_FALSE(entry.summary.empty());
    std::string text = entry.form;
    if (const std::size_t n = text.find(":N"); n != std::string::npos) text.replace(n, 2, ":2");
    const DescribedTopology topology = describe_topology(text);
    CHECK(topology.graph.device_count() >= 2);
    CHECK(topology.assumptions.size() == entry.params.size());
    for (const TopologyParam& param : entry.params) {
      CHECK(param.value >= param.least);
      CHECK(param.value <= param.most);
      CHECK_FALSE(param.help.empty());
    }
    for (const Link& link : topology.graph.links) REQUIRE(link.bandwidth > 0);
  }
}

TEST_CASE("values are read with their units") {
  const auto rate = [](const std::string& text) {
    return build_topology("ring:4,bandwidth=" + text).links[0].bandwidth;
  };
  CHECK(rate("50GB/s") == 50'000'000'000);
  CHECK(rate("50GiB/s") == 53'687'091'200);
  CHECK(rate("400Gbit/s") == 50'000'000'000);
  CHECK(rate("0.5TB/s") == 500'000'000'000);
  const auto time = [](const std::string& text) { return build_topology("ring:4,latency=" + text).links[0].latency; };
  CHECK(time("1.8us") == 1800);
  CHECK(time("0ns") == 0);
  CHECK(time("936.25ns") == 936);
}

TEST_CASE("what a preset does not take is refused with what it does") {
  CHECK(codes_of("dgx-h100:8").empty());
  CHECK(codes_of("dgx_h100:8") == std::vector<std::string>{"C003"});
  CHECK(presets_help_of("dgx_h100:8") == "did you mean dgx-h100?");
  CHECK(codes_of("torus") == std::vector<std::string>{"C003"});
  CHECK(codes_of("ring") == std::vector<std::string>{"B001"});
  CHECK(presets_help_of("ring") == "write it like ring:8");
  CHECK(codes_of("ring:") == std::vector<std::string>{"B001"});
  CHECK(codes_of("ring:0") == std::vector<std::string>{"B001"});
  CHECK(codes_of("ring:262145") == std::vector<std::string>{"B001"});
  CHECK(codes_of("ring:99999999999999999999") == std::vector<std::string>{"B001"});
  CHECK(codes_of("ring:4,5") == std::vector<std::string>{"C006"});
  CHECK(codes_of("hxmesh:4") == std::vector<std::string>{"C006"});
  CHECK(codes_of("ring:4,width=3") == std::vector<std::string>{"C017"});
  CHECK(presets_help_of("ring:4,bandwith=3") == "did you mean bandwidth?");
  CHECK(codes_of("ring:4,bandwidth=0GB/s") == std::vector<std::string>{"B001"});
  CHECK(codes_of("ring:4,bandwidth=50") == std::vector<std::string>{"B001"});
  CHECK(codes_of("ring:4,bandwidth=") == std::vector<std::string>{"B001"});
  CHECK(codes_of("ring:4,bandwidth=nanGB/s") == std::vector<std::string>{"B001"});
  CHECK(codes_of("ring:4,bandwidth=infGB/s") == std::vector<std::string>{"B001"});
  CHECK(codes_of("ring:4,latency=-1ns") == std::vector<std::string>{"B001"});
  CHECK(codes_of("ring:4,latency=1ns,latency=2ns") == std::vector<std::string>{"C007"});
  CHECK(codes_of("fat-tree:8,oversubscription=0.5") == std::vector<std::string>{"B001"});
  CHECK(codes_of("fat-tree:8,leaf=2.5") == std::vector<std::string>{"B001"});
  CHECK(codes_of("hxmesh:a=64,b=64,x=1024,y=1024") == std::vector<std::string>{"X005"});
  CHECK(codes_of("dragonfly:groups=512,links=1024,devices=1,routers=1") == std::vector<std::string>{"X005"});
  CHECK(codes_of("ring:x,width=3,latency=soon") == std::vector<std::string>{"B001", "C017", "B001"});
}

}  // namespace
}  // namespace debubble::testing
