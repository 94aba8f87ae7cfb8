// Planners through the real command: what they decide for a job, and what that is worth.
#include "tests/planners/jobs.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

std::string published_profile() { return source_directory() + "/traces/published/bert-large-p100.json"; }

std::string layer_graph(const std::string& name) {
  return source_directory() + "/traces/graphs/" + name + ".profile.json";
}

TEST_CASE_IN_FOLDER("a planner's decision for a profile is told and simulated") {
  const std::string text = folder.data(
      {"explain", "planner", "even", "--profile", published_profile(), "-p", "4", "-m", "16", "--width", "120"});
  CHECK(text.starts_with(folder.data("list planners even --width 120")));
  CHECK(contains(text, "24 layers; 4 devices, links without a limit; 16 microbatches per step"));
  CHECK(text.find("[0,6) [6,12) [12,18) [18,24)") != std::string::npos);
  CHECK(contains(text, "per step of 1F1B"));
  // With parameters, and as published where that differs.
  const std::string both = folder.data(
      {"explain", "planner", "pipedream:straight=yes", "--profile", published_profile(), "-p", "4", "-m", "16"});
  CHECK(contains(both, "pipedream as published"));
}

TEST_CASE_IN_FOLDER("all planners on one job, as text and JSON") {
  const Words job = "explain planner all --model llama3-8b -p 4 -m 8";
  const std::string text = folder.data(job);
  CHECK(contains(text, "Each decision simulated as a step of 1F1B"));
  Words as_json = job;
  as_json.insert(as_json.end(), {"--format", "json"});
  const auto trials = folder.json(as_json)["planners"];
  std::int64_t least = -1;
  for (const auto& trial : trials) {
    if (!trial["refusal"].is_null()) continue;
    CHECK(trial["regret_ppm"].is_null() != trial["fits"].get<bool>());
    if (!trial["fits"]) continue;
    const std::int64_t regret = trial["regret_ppm"];
    if (least < 0 || regret < least) least = regret;
    CHECK(trial["step_ns"] > 0);
  }
  CHECK(least == 0);
  CHECK(trials.size() > 13);
}

TEST_CASE_IN_FOLDER("even cuts are worth what simulate says of them") {
  const std::string profile = published_profile();
  const auto all = folder.json(
      {"explain", "planner", "all", "--profile", profile, "-p", "4", "-m", "16", "--format", "json"})["planners"];
  const auto run = folder.json({"simulate", "--schedule", "1f1b", "--profile", profile, "-p", "4", "-m", "16",
                                "--partition", "6,6,6,6", "--format", "json"});
  const auto even = std::find_if(all.begin(), all.end(), [](const auto& row) { return row["planner"] == "even"; });
  REQUIRE((even != all.end()));
  CHECK((*even)["step_ns"] == run["makespan_ns"]);
  std::int64_t peak = 0;
  for (const auto& device : run["devices"]) peak = std::max<std::int64_t>(peak, device["peak_memory_bytes"]);
  CHECK((*even)["peak_memory_bytes"] == peak);
}

TEST_CASE_IN_FOLDER("devices whose memory is listed and equal are one type") {
  const auto told = [&](const std::string& memory) {
    return folder.data({"explain", "planner", "pipeedge", "--profile", published_profile(), "-p", "16", "-m", "16",
                        "--memory", memory});
  };
  std::string listed = "16GiB";
  for (int device = 1; device < 16; ++device) listed += ",16GiB";
  CHECK(told(listed) == told("16GiB"));
  // Two types of eight devices each fit its table, too.
  std::string mixed = "16GiB,24GiB";
  for (int pair = 1; pair < 8; ++pair) mixed += ",16GiB,24GiB";
  CHECK(contains(told(mixed), "per step of 1F1B"));
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
