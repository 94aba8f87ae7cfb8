// Assumptions in brief: what a heading leaves to the lists and to JSON.
#include "sim/topologies/catalog.hpp"
#include "tests/support/test.hpp"
#include "tools/views/assumption_lines.hpp"

namespace debubble::testing {
namespace {

std::string lines(const std::vector<Assumption>& assumptions) {
  std::string text;
  for (const BriefAssumption& one : brief_assumptions(assumptions)) {
    text += std::string(to_string(one.source)) + ": " + one.what + " " + one.amount + "\n";
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

TEST_CASE("citations are left out, and so is what is typed with a topology or has no effect") {
  Assumption model{.key = "model", .amount = "llama3-70b, with layers=2", .source = Source::kPublished};
  model.citation = "A. Author, 2024, table 3";
  Assumption latency{.key = "transfer latency in addition to the links", .amount = "0 ns"};
  latency.changes_result = false;
  CHECK(lines({model, latency}) == "published: model llama3-70b, with layers=2\n");
  CHECK(full_text(model) == "llama3-70b, with layers=2 (A. Author, 2024, table 3)");

  const Assumption measured{.key = "bandwidth",
                            .amount = "1 GB/s",
                            .source = Source::kMeasured,
                            .subject = "ring",
                            .meaning = "of a link",
                            .changes_result = false};  // no default: who says so is worth a word
  Assumption given = measured;
  given.source = Source::kGiven;
  CHECK(lines({measured, given}) == "measured: ring bandwidth 1 GB/s\n");
}

}  // namespace debubble::testing
