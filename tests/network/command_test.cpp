// Clusters through the real command: flags, files, lists, and what is refused.
#include "tests/support/command.hpp"
#include "tests/cli/inputs.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

json simulated(const Folder& folder, Words arguments) {
  arguments.insert(arguments.begin(), {"simulate", "--format", "json"});
  return folder.json(arguments);
}

std::string assumed(const json& run, const std::string& what) {
  for (const json& one : run["assumptions"]) {
    if (one["what"] == what) return one["value"].get<std::string>() + " [" + one["source"].get<std::string>() + "]";
  }
  return "";
}

TEST_CASE_IN_FOLDER("a pipeline on a cluster pays its links' latency on every hop") {
  // gpipe-like fill of 1F1B: p = 2, m = 1: F, hop, F, B, hop, B, two hops of two links of 1 us each.
  const json ideal = simulated(folder, "-p 2 -m 1 --comm 2us");
  const json ring = simulated(folder, "-p 2 -m 1 --topology switch:2,latency=1us");
  CHECK(ring["makespan_ns"] == ideal["makespan_ns"]);
  CHECK(ring["makespan_ns"].get<std::int64_t>() > simulated(folder, "-p 2 -m 1")["makespan_ns"]);
  CHECK(assumed(ring, "topology") == "switch:2,latency=1us [given]");
  CHECK(assumed(ring, "latency: each link") == "1000 ns [given]");
}

TEST_CASE_IN_FOLDER("bytes on a cluster take the time of its narrowest link") {
  folder.write("p.json", kProfile);
  const Words base = "--profile p.json -p 2 -m 1";
  const auto with = [&](Words more) {
    more.insert(more.end(), base.begin(), base.end());
    return simulated(folder, more)["makespan_ns"].get<std::int64_t>();
  };
  const std::int64_t slow = with("--topology ring:2,bandwidth=1MB/s,latency=0ns");
  CHECK(slow == with("--bandwidth 1MB/s --comm 0"));
  CHECK(slow > with("--topology ring:2,bandwidth=1GB/s,latency=0ns"));
  CHECK(slow == with("--topology ring:2,bandwidth=1GB/s,latency=0ns --transfer-bandwidth 1MB/s"));
}

TEST_CASE_IN_FOLDER("replicas that meet on a link slow each other down, even where they are all alike") {
  const auto with = [&](Words more) {
    more.insert(more.end(), {"--model", "gpt-1.3b", "--hardware", "h100", "--dp", "2", "--memory", "off"});
    return simulated(folder, more);
  };
  const json fluid = with("--topology ring:8,bandwidth=2GB/s");
  const json alone = with("--topology ring:8,bandwidth=2GB/s --network uncontended");
  CHECK(fluid["cluster"]["simulated_replicas"] == 2);
  CHECK(alone["cluster"]["simulated_replicas"] == 1);
  CHECK(fluid["step"]["pipeline_end_ns"] > alone["step"]["pipeline_end_ns"]);
  // First and last stage of both replicas sit at d0, d1 and d6, d7: all their bytes cross d7>d0, at 2 bytes a ns.
  const auto reduce = [](const json& run) { return run["step"]["parts"]["embedding_reduce"]; };
  const auto bytes = reduce(fluid)["bytes"].get<std::int64_t>();
  constexpr std::int64_t kLatencies = 20'000;
  CHECK(reduce(fluid)["time_ns"] >= bytes);
  CHECK(reduce(fluid)["time_ns"] < bytes + kLatencies);
  CHECK(reduce(alone)["time_ns"] >= bytes / 2);
  CHECK(reduce(alone)["time_ns"] < bytes / 2 + kLatencies);
  // Noise far below what counts must not change the answer.
  const json noisy = with("--topology ring:8,bandwidth=2GB/s --jitter lognormal:0.0000001");
  CHECK(noisy["makespan_ns"].get<double>() == doctest::Approx(fluid["makespan_ns"].get<double>()).epsilon(1e-5));
  // Where every replica has links of its own, one stands for all.
  CHECK(with("--topology dgx-h100:1")["cluster"]["simulated_replicas"] == 1);
}

TEST_CASE_IN_FOLDER("a slow link behind the second replica only counts, too") {
  for (const std::string network : {"fluid", "fifo", "uncontended"}) {
    CAPTURE(network);
    const json run =
        folder.json({"whatif", "--format", "json", "--model", "gpt-1.3b", "--hardware", "h100", "--dp", "2",
                     "--topology", "fully-connected:8,bandwidth=10GB/s", "--network", network, "--link", "1-3:x0.1"});
    CHECK(run["base"]["cluster"]["simulated_replicas"] == 1);
    CHECK(run["changed"]["cluster"]["simulated_replicas"] == 2);
    CHECK(run["changed"]["makespan_ns"] > run["base"]["makespan_ns"]);
  }
}

TEST_CASE_IN_FOLDER("an exported topology gives the same run") {
  for (const std::string preset : {"dgx-h100:2", "hxmesh:a=2,b=2,x=2,y=2", "pcie:16"}) {
    CAPTURE(preset);
    CHECK(folder.data({"export", "--to", "topology-json", "--topology", preset, "-o", "t.json"}).empty());
    const json from_file = simulated(folder, "-p 16 --topology t.json");
    const json from_name = simulated(folder, {"-p", "16", "--topology", preset});
    CHECK(from_file["makespan_ns"] == from_name["makespan_ns"]);
    CHECK(from_file["devices"] == from_name["devices"]);
    CHECK(folder.data("export --to topology-json --topology t.json -o again.json").empty());
    CHECK(folder.read("again.json") == folder.read("t.json"));
  }
}

TEST_CASE_IN_FOLDER("list topologies names all of them, with parameters and sources") {
  const json list = folder.json("list topologies")["topologies"];
  CHECK(list[0]["name"] == "ideal");
  const std::string text = folder.data("list topologies");
  for (const std::string name : {"dgx-a100:N", "dgx-h100:N", "dgx-h200:N", "dgx-b200:N", "gb200-nvl72:N", "pcie:N",
                                 "v100-mesh:N", "ring:N", "fully-connected:N", "fat-tree:N", "dragonfly:", "hxmesh:"}) {
    CAPTURE(name);
    CHECK(contains(text, "\n" + name));
  }
  for (const json& one : list) {
    for (const json& param : one["params"]) CHECK_FALSE(param["source"].get<std::string>().empty());
  }
}

TEST_CASE_IN_FOLDER("ideal links take parallel sizes and give the same step as without them") {
  const json alone = simulated(folder, {});
  const json parallel = simulated(folder, "--tp 2 --dp 2");
  CHECK(parallel["makespan_ns"] == alone["makespan_ns"]);
  CHECK(assumed(parallel, "ranks") == "tp 2, dp 2, pp 4: 16 ranks [given]");
  CHECK(assumed(alone, "ranks").empty());
}

TEST_CASE_IN_FOLDER("every catalog schedule runs on a cluster") {
  const json all = folder.json("compare --format json --topology dgx-h100:1");
  int simulated_runs = 0;
  for (const json& run : all["runs"]) simulated_runs += run.contains("makespan_ns") ? 1 : 0;
  const json before = folder.json("compare");
  int usual = 0;
  for (const json& run : before["runs"]) usual += run.contains("makespan_ns") ? 1 : 0;
  CHECK(simulated_runs == usual);
}

}  // namespace
}  // namespace debubble::testing
