// Assumptions in brief: what a heading leaves to the lists and to JSON.
#include <doctest/doctest.h>

#include "sim/topologies/catalog.hpp"
#include "tools/views/brief_assumptions.hpp"

namespace debubble::testing {
namespace {

std::string lines(const std::vector<Assumption>& assumptions) {
  std::string text;
  for (const Assumption& one : brief_assumptions(assumptions)) {
    text += std::string(to_string(one.source)) + ": " + one.what + " " + one.value + "\n";
  }
  return text;
}

std::vector<Assumption> on(const std::string& topology) {
  std::vector<Assumption> all{{"topology", topology, Source::kGiven}};
  for (const Assumption& rate : describe_topology(topology).assumptions) all.push_back(rate);
  return all;
}

}  // namespace

TEST_CASE("a topology's numbers stand together by their names, without who says so") {
  CHECK(lines(on("dgx-h100:8")) ==
        "given: topology dgx-h100:8\n"
        "published: dgx-h100 bandwidth 370.8 GB/s, latency 936 ns, pcie 50 GB/s, nic 48 GB/s, nic-latency 500 ns\n"
        "modelled: dgx-h100 pcie-latency 500 ns\n");
}

TEST_CASE("what was typed with the topology is not repeated, and a default that matters stays") {
  CHECK(lines(on("ring:4,latency=1us")) ==
        "given: topology ring:4,latency=1us\n"
        "default: ring bandwidth 50 GB/s\n");
  CHECK(lines(on("fat-tree:64,oversubscription=2")) ==
        "given: topology fat-tree:64,oversubscription=2\n"
        "published: fat-tree bandwidth 48 GB/s\n"
        "modelled: fat-tree latency 500 ns\n"
        "default: fat-tree leaf 32\n");
}

TEST_CASE("citations of presets are left out, a file's name and all else stays") {
  CHECK(lines({{"model", "llama3-70b, A. Author, 2024, table 3", Source::kPublished},
               {"hardware", "h100, datasheet", Source::kPublished},
               {"transfer latency in addition to the links", "0 ns", Source::kDefault}}) ==
        "published: model llama3-70b\n"
        "published: hardware h100\n");
  const std::vector<Assumption> others{{"model", "a.json, with layers=2", Source::kGiven},
                                       {"transfer latency in addition to the links", "5 us", Source::kGiven},
                                       {"bandwidth: NVLink of a GPU, one way", "1 GB/s", Source::kPublished}};
  CHECK(lines(others) ==
        "given: model a.json, with layers=2\n"
        "given: transfer latency in addition to the links 5 us\n"
        "published: bandwidth: NVLink of a GPU, one way 1 GB/s\n");
}

}  // namespace debubble::testing
