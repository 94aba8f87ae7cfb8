// Planners against brute force, through the real command.
#include "tests/planners/jobs.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

std::string layer_graph(const std::string& name) {
  return source_directory() + "/traces/graphs/" + name + ".profile.json";
}

struct Objective {
  std::string planner;
  Words keys;  // of a layer, added up over a stage
};

// Sums of the layers before each.
std::vector<double> sums_of(const nlohmann::json& layers, const Objective& objective) {
  std::vector<double> sums{0};
  for (const auto& layer : layers) {
    double value = 0;
    for (const std::string& key : objective.keys) value += layer.at(nlohmann::json::json_pointer(key)).get<double>();
    sums.push_back(sums.back() + value);
  }
  return sums;
}

// The planner's heaviest stage against the lightest one of all cuts.
void check_heaviest(const nlohmann::json& rows, const nlohmann::json& layers, const Objective& objective, int stages) {
  CAPTURE(objective.planner);
  const std::vector<double> sums = sums_of(layers, objective);
  const auto weight = [&](int, int begin, int end) {
    return sums[static_cast<std::size_t>(end)] - sums[static_cast<std::size_t>(begin)];
  };
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& each) {
    return each["planner"] == objective.planner && each["as_published"] == false;
  });
  REQUIRE((row != rows.end()));
  REQUIRE((*row)["stages"].size() == static_cast<std::size_t>(stages));
  double heaviest = 0;
  for (const auto& stage : (*row)["stages"]) heaviest = std::max(heaviest, weight(0, stage["begin"], stage["end"]));
  CHECK(heaviest == least_by_force(static_cast<int>(layers.size()), stages, weight));
}

// The layer graphs that dnn-partitioning and Piper publish, as chains (traces/graphs). Neither publishes a decision as
// a number for them: each planner's own objective is taken from the file's figures, for every cut.
TEST_CASE_IN_FOLDER("on published layer graphs planners reach the least that any cut has") {
  const std::vector<Objective> objectives{{"dawnpiper", {"/forward/median_ns", "/backward/median_ns"}},
                                          {"bapipe", {"/forward/median_ns", "/backward/median_ns"}},
                                          {"pipeedge", {"/forward/median_ns"}},
                                          {"deepspeed", {"/parameter_bytes"}}};
  const auto check_graph = [&](const std::string& name, int most_stages) {
    CAPTURE(name);
    const std::string profile = layer_graph(name);
    const auto layers = nlohmann::json::parse(contents_of(profile))["layers"];
    for (int stages = 2; stages <= most_stages; ++stages) {
      CAPTURE(stages);
      const std::string answers = folder.data({"explain", "planner", "all", "--profile", profile, "-p",
                                               std::to_string(stages), "-m", "16", "--format", "json"});
      const auto rows = nlohmann::json::parse(answers)["planners"];
      for (const Objective& objective : objectives) check_heaviest(rows, layers, objective, stages);
    }
  };
  check_graph("bert32a100", 4);
  check_graph("resnet50_training", 3);
  const auto planned = folder.json({"plan", "--profile", layer_graph("bert32a100"), "--gpus", "8", "--global-batch",
                                    "64", "--memory", "80GB", "--planner", "all", "--format", "json"})["planners"];
  CHECK(std::count_if(planned.begin(), planned.end(), [](const auto& row) { return row["fits"] == true; }) > 8);
}

}  // namespace
}  // namespace debubble::testing
