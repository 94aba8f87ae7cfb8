// Layer graphs of dnn-partitioning and Piper: the published files, hand-made graphs, and what is refused.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

std::string graph_file(const std::string& name) { return source_directory() + "/tests/importers/partitioning/" + name; }

Json imported(const Folder& folder, const std::string& from, const std::string& file) {
  const Outcome outcome = folder.run({"import", "--from", from, file, "-o", "profile.json"});
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  return Json::parse(folder.read("profile.json"));
}

std::int64_t total(const Json& profile, const std::string& key, const std::string& part = "") {
  std::int64_t sum = 0;
  for (const Json& layer : profile["layers"]) {
    sum += (part.empty() ? layer[key] : layer[key][part]).get<std::int64_t>();
  }
  return sum;
}

// The same profile of ResNet-50 as in PipeDream's graph.txt, but that its data loading is a node like any other, and
// that nothing tells the last node's output from its weights.
TEST_CASE("dnn-partitioning's ResNet-50 is PipeDream's, with a backward of its own") {
  const Folder folder;
  const Json graph = imported(folder, "dnn-partitioning", graph_file("resnet50_training.json"));
  const Json pipedream = imported(folder, "pipedream", source_directory() + "/tests/planners/pipedream/resnet50.txt");
  constexpr std::int64_t kLoading = 18'962'000;
  constexpr std::int64_t kLoaded = std::int64_t{128} * 3 * 224 * 224 * 4;
  constexpr std::int64_t kScores = std::int64_t{128} * 1000 * 4;
  CHECK(total(graph, "forward", "median_ns") == total(pipedream, "forward", "median_ns") + kLoading);
  CHECK(total(graph, "backward", "median_ns") == total(pipedream, "backward", "median_ns"));
  CHECK(total(graph, "activation_bytes") == total(pipedream, "activation_bytes") + kLoaded - kScores);
  CHECK(total(graph, "parameter_bytes") == total(pipedream, "parameter_bytes") + kScores);
  CHECK(graph["layers"].size() == pipedream["layers"].size() + 1);
  for (std::size_t k = 0; k < pipedream["layers"].size(); ++k) {
    CAPTURE(k);
    CHECK(graph["layers"][k + 1]["output_bytes"] == pipedream["layers"][k]["output_bytes"]);
    CHECK(graph["layers"][k + 1]["forward"] == pipedream["layers"][k]["forward"]);
  }
}

TEST_CASE("Piper's BERT-32: 32 layers of 30 ms beside embedding and pooler, and planners cut it") {
  const Folder folder;
  const Json profile = imported(folder, "piper", graph_file("bert32a100.json"));
  REQUIRE(profile["layers"].size() == 33);
  CHECK(total(profile, "forward", "median_ns") + total(profile, "backward", "median_ns") == 972'864'000);
  CHECK(total(profile, "parameter_bytes") == 200'824'320 + 32 * 176'997'120LL + 14'749'440);
  CHECK(profile["layers"][1]["kind"] == "ParallelTransformerLayer");
  CHECK(profile["layers"][1]["activation_bytes"] == 606'478'336);
  CHECK(profile["layers"][1]["forward"]["median_ns"] == 10'164'000);
  CHECK(profile["layers"][1]["backward"]["median_ns"] == 20'328'000);
  const Json answers = Json::parse(folder.data({"plan", "--profile", "profile.json", "--gpus", "8", "--global-batch",
                                                "64", "--memory", "80GB", "--planner", "all", "--format", "json"}));
  int decided = 0;
  for (const Json& row : answers["planners"]) decided += row["fits"] == true ? 1 : 0;
  CHECK(decided > 8);
}

const std::string kTraining = R"({"maxSizePerFPGA": 100, "maxFPGAs": 2, "maxCPUs": 1, "nodes": [
 {"id": 1, "name": "a", "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": 1.5, "isBackwardNode": 0,
  "colorClass": 1, "size": 30},
 {"id": 2, "name": "b", "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": 2, "isBackwardNode": 0,
  "colorClass": 2, "size": 7.0},
 {"id": 11, "name": "a'", "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": 3, "isBackwardNode": 1,
  "colorClass": 1, "size": 30},
 {"id": 12, "name": "b'", "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": 4, "isBackwardNode": 1,
  "colorClass": 2, "size": 7}],
 "edges": [{"sourceId": 1, "destId": 2, "cost": 0.1, "size": 20}, {"sourceId": 12, "destId": 11, "cost": 0.1, "size": 20}]})";

std::string spoilt(const std::string& from, const std::string& to) {
  std::string text = kTraining;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("a forward node takes its backward's time, and its weights are what it holds beside its output") {
  const Folder folder;
  folder.write("two.json", kTraining);
  const Json layers = imported(folder, "dnn-partitioning", "two.json")["layers"];
  REQUIRE(layers.size() == 2);
  CHECK(layers[0]["forward"]["median_ns"] == 1'500'000);
  CHECK(layers[0]["backward"]["median_ns"] == 3'000'000);
  CHECK(layers[0]["output_bytes"] == 20);
  CHECK(layers[0]["parameter_bytes"] == 10);
  CHECK(layers[1]["backward"]["median_ns"] == 4'000'000);
  CHECK(layers[1]["parameter_bytes"] == 7);
}

TEST_CASE("graphs that are none are refused with the place and the remedy") {
  const Folder folder;
  const auto refused = [&](const std::string& text) {
    folder.write("g.json", text);
    return folder.refusal({"import", "--from", "dnn-partitioning", "g.json"});
  };
  CHECK(refused("{}").starts_with("error[P006]: neither \"maxFPGAs\" (dnn-partitioning) nor \"maxDevices\" (Piper)"));
  CHECK(refused("[1]").starts_with("error[P0"));
  CHECK(refused(spoilt("\"fpgaLatency\": 1.5", "\"fpgaLatency\": -1")).find("g.json#/nodes/0/fpgaLatency") !=
        std::string::npos);
  CHECK(refused(spoilt("\"destId\": 2", "\"destId\": 9")) == R"(error[P012]: there is no node 9
  --> g.json#/edges/0/destId
  = help: name nodes of the file
)");
  CHECK(refused(spoilt("\"id\": 2", "\"id\": 1")).starts_with("error[P012]: there is another node 1"));
  CHECK(refused(spoilt("\"sourceId\": 12, \"destId\": 11", "\"sourceId\": 2, \"destId\": 1"))
            .starts_with("error[G017]: nodes wait for each other\n  --> g.json#/edges"));
  CHECK(refused(spoilt("\"isBackwardNode\": 1,\n  \"colorClass\": 2", "\"isBackwardNode\": 1,\n  \"colorClass\": 1"))
            .starts_with("error[P016]: class 1 has 1 forward node and 2 backward nodes"));
  CHECK(refused(spoilt("\"cost\": 0.1", "\"price\": 0.1")).find("price") != std::string::npos);
  CHECK(refused(R"({"maxDevices": 2, "nodes": [{"id": 0, "name": "x", "TMPCs": {"2": []}}], "edges": []})")
            .starts_with("error[P006]: there is no way to run the node on 1 device called \"vanilla\""));
  const std::string empty = refused(R"({"maxDevices": 2, "nodes": [], "edges": []})");
  CHECK(empty.starts_with("error[P016]"));
  CHECK(empty.find("graph.txt") == std::string::npos);
  CHECK(folder.refusal({"import", "--from", "piper", "g.json", "--layers", "x"}) ==
        R"(error[C087]: means nothing for a layer graph
  --> --layers
  = help: leave --layers out
)");
}

}  // namespace
}  // namespace debubble::testing
