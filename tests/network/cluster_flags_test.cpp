// The flags about the cluster: both sides of every limit, and the nearest legal value beside each refusal.
#include "scenario/request/cluster_flags.hpp"

#include "scenario/check_scenario.hpp"
#include "scenario/job/cluster_topology.hpp"
#include "scenario/request/rank_lists.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

std::string said(const InputError& error) {
  std::string text;
  for (const Diagnostic& one : error.diagnostics()) {
    text += (text.empty() ? "" : " | ") + one.code + " " + one.place + ": " + one.help;
  }
  return text;
}

std::string refusal(const ClusterFlags& flags) {
  ScenarioFlags all;
  all.cluster = flags;
  try {
    (void)check_scenario(all);
  } catch (const InputError& error) {
    return said(error);
  }
  return "fine";
}

std::string misfit(const ClusterFlags& flags, int pipeline) {
  Scenario scenario;
  scenario.cluster = check_cluster(flags);
  try {
    (void)cluster_topology(scenario, pipeline);
  } catch (const InputError& error) {
    return said(error);
  }
  return "fits";
}

ClusterFlags on(const std::string& topology) {
  ClusterFlags flags;
  flags.topology = topology;
  return flags;
}

TEST_CASE("sizes are at least 1, and experts divide the ranks they are split over") {
  ClusterFlags flags;
  CHECK(refusal(flags) == "fine");
  flags.tensor = 0;
  CHECK(refusal(flags) == "C012 --tp: leave --tp out for 1");
  flags.tensor = 1;
  flags.sequence_parallel = true;
  CHECK(refusal(flags) == "C004 --sequence-parallel: add --tp 8, or leave --sequence-parallel out");
  flags.tensor = 2;
  flags.data = 6;
  flags.expert = 4;
  CHECK(refusal(flags) == "F003 --ep: the nearest that fits: --ep 3");
  flags.context = 2;
  CHECK(refusal(flags) == "fine");
  flags.zero = 4;
  CHECK(refusal(flags) == "C002 --zero: 1: its state, 2: gradients, too, 3: weights, too");
  flags.zero = 3;
  CHECK(refusal(flags) == "fine");
  const ClusterScenario cluster = check_cluster(flags);
  CHECK(cluster.graph == nullptr);
  CHECK(cluster.sizes.ranks() == 24);
  CHECK(cluster.layout(4).sizes.pipeline == 4);
}

TEST_CASE("what shares links needs links") {
  ClusterFlags flags;
  flags.network = "fifo";
  CHECK(refusal(flags) == "C004 --network: add --topology, e.g. --topology dgx-h100:2");
  flags.topology = "ring:4";
  CHECK(refusal(flags) == "fine");
  flags.network = "fluids";
  CHECK(refusal(flags) == "C002 --network: did you mean fluid?");
  ClusterFlags latency;
  latency.transfer_latency = "5us";
  CHECK(refusal(latency) == "C004 --transfer-latency: use --comm, or add --topology");
  latency.topology = "ring:4";
  CHECK(check_cluster(latency).message_latency == 5000);
}

TEST_CASE("every mistake is said at once") {
  ClusterFlags flags = on("rings:4");
  flags.network = "slow";
  flags.tensor = -1;
  flags.rank_order = "tp,dp";
  CHECK(
      refusal(flags) ==
      "C003 --topology: did you mean ring? | C002 --network: write --network fluid | C012 --tp: leave --tp out for 1 | "
      "B015 --rank-order: name tp, dp and pp, and cp where there is one");
}

TEST_CASE("an unknown topology is answered with all names, as before") {
  const Diagnostic one = first_problem([&] { (void)check_cluster(on("torus")); });
  CHECK(one.code == "C003");
  CHECK(one.place == "--topology");
  CHECK(one.message.starts_with("\"torus\" is not one of: ideal, "));
  CHECK(one.help == "write --topology ideal");
}

TEST_CASE("a job fits the cluster, or is answered with the nearest sizes that do") {
  ClusterFlags flags = on("dgx-h100:2");
  flags.tensor = 4;
  CHECK(misfit(flags, 4) == "fits");
  CHECK(misfit(flags, 5) == "B017 --topology: at most -p 4, --tp 3, or --topology dgx-h100:3");
  flags.data = 2;
  CHECK(misfit(flags, 2) == "fits");
  CHECK(misfit(flags, 4) == "B017 --topology: at most --dp 1, -p 2, --tp 2, or --topology dgx-h100:4");
  CHECK(misfit(on("hxmesh:a=1,b=1,x=2,y=2"), 5) == "B017 --topology: at most -p 4");
  CHECK(misfit(on("v100-mesh"), 9) == "B017 --topology: at most -p 8, or --topology v100-mesh:2");
  CHECK(misfit(on("ring:4,latency=1us"), 6) == "B017 --topology: at most -p 4, or --topology ring:6");
}

TEST_CASE("ranks go to the devices that are named") {
  ClusterFlags flags = on("dgx-h100:2");
  flags.rank_devices = "8-11,0";
  CHECK(check_cluster(flags).devices == std::vector<std::int32_t>{8, 9, 10, 11, 0});
  CHECK(misfit(flags, 5) == "fits");
  CHECK(misfit(flags, 6) == "B017 --rank-devices: at most -p 5");
  flags.rank_devices = "15-16";
  CHECK(misfit(flags, 2) == "B015 --rank-devices: its GPUs are 0 to 15");
  flags.rank_devices = "0,1,1";
  CHECK(refusal(flags) == "B015 --rank-devices: a GPU holds one rank");
  for (const std::string text : {"", "x", "3-1", "1,", "-1", "99999999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)parse_device_list(text, "--rank-devices"), InputError);
  }
}

TEST_CASE("rank orders name each dimension once") {
  using enum Dimension;
  CHECK(parse_rank_order("dp,tp,cp,pp", "o") == std::vector<Dimension>{kData, kTensor, kContext, kPipeline});
  CHECK(parse_rank_order("pp,tp,dp", "o") == std::vector<Dimension>{kPipeline, kTensor, kContext, kData});
  for (const std::string text : {"tp", "tp,dp", "tp,dp,pp,tp", "tp,dp,pp,ep", "tp,,dp,pp", ""}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)parse_rank_order(text, "o"), InputError);
  }
}

TEST_CASE("a cluster knows its own links: --comm and --bandwidth are refused beside it") {
  Scenario scenario;
  scenario.cluster = check_cluster(on("ring:4"));
  scenario.comm = 5;
  scenario.bandwidth = 7;
  try {
    (void)cluster_topology(scenario, 4);
    FAIL("both were taken");
  } catch (const InputError& error) {
    REQUIRE(error.diagnostics().size() == 2);
    CHECK(error.diagnostics()[0].code == "C009");
    CHECK(error.diagnostics()[1].place == "--bandwidth");
  }
}

TEST_CASE("what was given is repeated, and nothing else") {
  ClusterFlags none;
  CHECK(flag_line(flag_rows(none)).empty());
  CHECK_FALSE(check_cluster({}).given);
  ClusterFlags flags = on("dgx-h100:2");
  flags.tensor = 8;
  flags.sequence_parallel = true;
  flags.zero = 1;
  flags.rank_order = "tp,pp,dp";
  CHECK(flag_line(flag_rows(flags)) ==
        "--topology dgx-h100:2 --tp 8 --zero 1 --sequence-parallel --rank-order tp,pp,dp");
  CHECK(check_cluster(flags).given);
  CHECK_THROWS_AS(refuse_cluster(check_cluster(flags), "debubble live"), InputError);
  CHECK_NOTHROW(refuse_cluster(check_cluster({}), "debubble live"));
}

TEST_CASE("every number of a cluster says where it comes from") {
  Scenario scenario;
  ClusterFlags flags = on("dgx-h100:2,nic=20GB/s");
  flags.tensor = 8;
  scenario.cluster = check_cluster(flags);
  const auto [topology, assumptions] = cluster_topology(scenario, 2);
  CHECK(topology.network()->layout.device(0, 0, 0, 1) == 8);
  std::string all;
  for (const Assumption& one : assumptions) {
    all += label(one) + "=" + full_text(one) + "=" + to_string(one.source) + "\n";
  }
  CHECK(contains(all, "topology=dgx-h100:2,nic=20GB/s=given\n"));
  CHECK(contains(all, "network=fluid: flows on a link share it max-min fairly=default\n"));
  CHECK(contains(all, "network card, one way=20 GB/s=given\n"));
  CHECK(all.find("NVLink of a GPU, one way=370.8 GB/s (18 links of 20.6 GB/s") != std::string::npos);
}

}  // namespace
}  // namespace debubble::testing
