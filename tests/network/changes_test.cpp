// Wires cut, slowed and named: only what the change touches takes another way.
#include "sim/topologies/changes.hpp"

#include <random>
#include <thread>

#include "sim/topologies/catalog.hpp"
#include "tests/network/link_load.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

std::string names_of(const LinkGraph& graph, const std::vector<std::int32_t>& links) {
  std::string text;
  for (const std::int32_t link : links) {
    text += (text.empty() ? "" : " ") + graph.links[static_cast<std::size_t>(link)].name;
  }
  return text;
}

std::string help_of(const LinkGraph& graph, const std::string& text) {
  try {
    (void)links_named(graph, text, "--link");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().code == "B008");
    CHECK(error.diagnostics().front().place == "--link");
    return error.diagnostics().front().help;
  }
  return "found";
}

TEST_CASE("a wire is named by two devices, two nodes, or one direction") {
  const LinkGraph ring = build_topology("ring:8");
  CHECK(names_of(ring, links_named(ring, "3-4", "--link")) == "gpu3>gpu4 gpu4>gpu3");
  CHECK(names_of(ring, links_named(ring, "4-3", "--link")) == "gpu3>gpu4 gpu4>gpu3");
  CHECK(names_of(ring, links_named(ring, "gpu3-gpu4", "--link")) == "gpu3>gpu4 gpu4>gpu3");
  CHECK(names_of(ring, links_named(ring, "gpu3>gpu4", "--link")) == "gpu3>gpu4");
  const LinkGraph dgx = build_topology("dgx-h100:1");
  CHECK(names_of(dgx, links_named(dgx, "3-4", "--link")) ==
        "gpu3>nvswitch0 nvswitch0>gpu3 gpu4>nvswitch0 nvswitch0>gpu4");
  CHECK(names_of(dgx, links_named(dgx, "nvswitch0-gpu3", "--link")) == "gpu3>nvswitch0 nvswitch0>gpu3");
}

TEST_CASE("a wire that is none is refused with one that is") {
  const LinkGraph dgx = build_topology("dgx-h100:1");
  CHECK(help_of(dgx, "gpu3-nvswich0") == "did you mean nvswitch0?");
  CHECK(help_of(dgx, "gpu3-gpu4") == "gpu3 is joined to nvswitch0, nic3");
  CHECK(help_of(dgx, "d0-d1") == "the topology's GPUs go by number: write it like 3-4");
  CHECK(help_of(dgx, "3-8") == "two different numbers from 0 to 7");
  CHECK(help_of(dgx, "3-3") == "two different numbers from 0 to 7");
  CHECK(help_of(dgx, "3") == "write it like 3-4, for two GPUs");
  CHECK(help_of(dgx, "gpu3>nvswitch0") == "found");
}

TEST_CASE("messages go around a cut, and no others change their way") {
  std::mt19937 random(11);
  for (const std::string text : {"ring:12", "fully-connected:6", "v100-mesh", "dgx-h100:3", "fat-tree:24,leaf=6",
                                 "hxmesh:a=2,b=2,x=3,y=3", "dragonfly:devices=2,routers=3,groups=4,links=2"}) {
    const LinkGraph graph = build_topology(text);
    for (int round = 0; round < 20; ++round) {
      const auto from = static_cast<std::int32_t>(random() % static_cast<unsigned>(graph.device_count()));
      const auto to = static_cast<std::int32_t>(random() % static_cast<unsigned>(graph.device_count()));
      if (from == to) continue;
      CAPTURE(text);
      const std::vector<std::int32_t> usual = checked_route(graph, from, to);
      // The last link of a device to a switch has no way around it: cut one that others can stand in for.
      const std::int32_t cut = usual[usual.size() / 2];
      const LinkGraph changed = without_links(graph, {cut});
      CHECK(changed.links[static_cast<std::size_t>(cut)].cut);
      for (std::int32_t a = 0; a < graph.device_count(); ++a) {
        for (std::int32_t b = 0; b < graph.device_count(); ++b) {
          const std::vector<std::int32_t> before = checked_route(graph, a, b);
          std::vector<std::int32_t> after;
          try {
            after = checked_route(changed, a, b);
          } catch (const InputError& error) {
            CHECK(error.diagnostics().front().code == "B028");
            CHECK(std::find(before.begin(), before.end(), cut) != before.end());
            continue;
          }
          if (std::find(before.begin(), before.end(), cut) == before.end()) {
            REQUIRE(after == before);
          } else {
            REQUIRE(std::find(after.begin(), after.end(), cut) == after.end());
          }
        }
      }
    }
  }
}

TEST_CASE("a second cut keeps the first") {
  const LinkGraph full = build_topology("fully-connected:4");
  const LinkGraph once = without_links(full, links_named(full, "0-1", "--fail"));
  CHECK(checked_route(once, 0, 1).size() == 2);
  CHECK(names_of(once, checked_route(once, 0, 1)) == "gpu0>gpu2 gpu2>gpu1");
  const LinkGraph twice = without_links(once, links_named(once, "gpu0-gpu2", "--fail"));
  CHECK(names_of(twice, checked_route(twice, 0, 1)) == "gpu0>gpu3 gpu3>gpu1");
  const LinkGraph off = without_links(twice, links_named(twice, "gpu0-gpu3", "--fail"));
  CHECK_THROWS_AS(checked_route(off, 0, 1), InputError);
  CHECK(checked_route(off, 2, 3).size() == 1);
}

TEST_CASE("a GPU cut from its NVSwitch goes over PCIe") {
  const LinkGraph dgx = build_topology("dgx-h100:2");
  const LinkGraph changed = without_links(dgx, links_named(dgx, "gpu3-nvswitch0", "--fail"));
  CHECK(names_of(changed, checked_route(changed, 3, 2)) == "gpu3>nic3 nic3>pcie1 pcie1>nic2 nic2>gpu2");
  CHECK(checked_route(changed, 1, 2) == checked_route(dgx, 1, 2));
  std::vector<std::int32_t> host;
  CHECK(changed.router->host_route(3, true, host));
  CHECK(names_of(changed, host) == "gpu3>nic3 nic3>pcie1 pcie1>host0");
}

TEST_CASE("a way to the host is cut like any other") {
  const LinkGraph pcie = build_topology("pcie:4");
  const LinkGraph changed = without_links(pcie, links_named(pcie, "pcie0>host0", "--fail"));
  std::vector<std::int32_t> links;
  CHECK_FALSE(changed.router->host_route(0, true, links));
  CHECK(links.empty());
  CHECK(changed.router->host_route(0, false, links));
}

TEST_CASE("several threads may ask one router") {
  const LinkGraph graph = build_topology("hxmesh:a=2,b=2,x=4,y=4");
  const std::shared_ptr<const Router> shortest = shortest_paths(graph);
  std::vector<std::size_t> sums(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t& sum : sums) {
    threads.emplace_back([&graph, &shortest, &sum] {
      for (std::int32_t a = 0; a < graph.device_count(); ++a) {
        for (std::int32_t b = 0; b < graph.device_count(); ++b) {
          std::vector<std::int32_t> links;
          shortest->route(a, b, links);
          for (const std::int32_t link : links) sum = sum * 31 + static_cast<std::size_t>(link);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t sum : sums) CHECK(sum == sums[0]);
}

}  // namespace
}  // namespace debubble::testing
