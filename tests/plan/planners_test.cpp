// `debubble plan --planner` as people run it: every planner on a plan's job, judged by the simulator.
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;
const Words kJob = "plan --model gpt2-large --gpus 8 --global-batch 32";

Json answers_to(const Folder& folder, const Words& words) { return folder.json(joined(words, "--format json")); }

const Json& row_of(const Json& answers, std::string_view planner, bool as_published = false) {
  for (const Json& row : answers["planners"]) {
    if (row["planner"] == planner && row["as_published"] == as_published) return row;
  }
  throw std::logic_error("no row of " + std::string(planner));
}

// No word of these commands is quoted.
Words words_of(const std::string& command) {
  std::istringstream stream(command.substr(std::string("debubble ").size()));
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void check_regrets(const Json& answers) {
  std::int64_t best = -1;
  for (const Json& row : answers["planners"]) {
    if (row["fits"] != true) continue;
    const std::int64_t step = row["step_ns"];
    if (best < 0 || step < best) best = step;
  }
  REQUIRE(best > 0);
  for (const Json& row : answers["planners"]) {
    CAPTURE(row["planner"].get<std::string>());
    CHECK((row["refusal"].is_null() != row["step_ns"].is_null()));
    CHECK(row["makespan_ns"] == row["step_ns"]);  // its former name
    CHECK(row["predicted_makespan_ns"] == row["predicted_step_ns"]);
    CHECK(row["regret_ppm"].is_null() == (row["fits"] != true));
    if (row["fits"] != true) continue;
    const double regret = row["step_ns"].get<double>() / static_cast<double>(best) - 1;
    CHECK(row["regret_ppm"].get<std::int64_t>() == std::llround(regret * 1e6));
  }
}

TEST_CASE_IN_FOLDER("every planner of the catalog has a row, the plan's own first, and the best regrets nothing") {
  const Json answers = answers_to(folder, joined(kJob, "--planner all"));
  const Json catalog = folder.json("list planners");
  std::multiset<std::string> asked;
  for (const Json& row : answers["planners"]) asked.insert(row["planner"].get<std::string>());
  std::multiset<std::string> known;
  for (const Json& row : catalog["planners"]) known.insert(row["name"].get<std::string>());
  CHECK(asked == known);
  CHECK(answers["planners"][0]["planner"] == "debubble");
  CHECK(answers["planners"][0]["predicted_step_ns"] == answers["planners"][0]["step_ns"]);
  check_regrets(answers);
  // It says why a planner decides nothing here.
  CHECK(row_of(answers, "autoddl")["refusal"].get<std::string>().find("no stages") != std::string::npos);
}

TEST_CASE_IN_FOLDER("a decision with as many replicas everywhere simulates to the step that its row says") {
  const Json answers = answers_to(folder, joined(kJob, "--planner all --tp 1 -p 4 --zero 1"));
  int runs = 0;
  for (const Json& row : answers["planners"]) {
    if (row["simulated_as"] != "run") continue;
    CAPTURE(row["planner"].get<std::string>());
    const Json run = answers_to(folder, words_of(row["command"]));
    CHECK(run["makespan_ns"] == row["step_ns"]);
    std::int64_t peak = 0;
    for (const Json& device : run["devices"]) peak = std::max(peak, device["peak_memory_bytes"].get<std::int64_t>());
    CHECK(peak == row["peak_memory_bytes"]);
    ++runs;
  }
  CHECK(runs >= 8);
  // Those that only cut got the plan's stages.
  for (const char* const planner : {"even", "deepspeed", "bapipe", "dawnpiper", "accept"}) {
    CHECK(row_of(answers, planner)["cuts_only"] == true);
    CHECK(row_of(answers, planner)["stages"].size() == 4);
  }
}

TEST_CASE_IN_FOLDER("planners take parameters, several flags, and their faults where they are asked for") {
  const Json answers =
      answers_to(folder, joined(kJob, "--planner pipedream:straight=yes --planner even:stages=2 --as-published"));
  CHECK(answers["planners"].size() == 4);
  CHECK(row_of(answers, "pipedream:straight=yes")["stages"].size() == 8);
  CHECK(row_of(answers, "pipedream:straight=yes", true)["as_published"] == true);
  const Json& even = row_of(answers, "even:stages=2");
  CHECK(even["stages"].size() == 2);
  CHECK(even["command"].get<std::string>().find(" -p 2 ") != std::string::npos);
  CHECK(even["command"].get<std::string>().find(" --dp 4") != std::string::npos);
}

TEST_CASE_IN_FOLDER("stages with replicas of their own are simulated by shares") {
  const Json answers = answers_to(
      folder, "plan --model gpt2-large --hardware v100 --topology pcie:8 --gpus 8 --global-batch 64 --planner all");
  check_regrets(answers);
  const Json& pipedream = row_of(answers, "pipedream");
  CHECK(pipedream["simulated_as"] == "shares");
  CHECK(pipedream["command"].is_null());
  int devices = 0;
  std::set<int> replicas;
  for (const Json& stage : pipedream["stages"]) {
    replicas.insert(stage["replicas"].get<int>());
    devices += stage["replicas"].get<int>();
  }
  CHECK(devices == 8);
  CHECK(replicas.size() > 1);
}

TEST_CASE_IN_FOLDER("a profile's job: its microbatches, and planners' own predictions of a step") {
  const Json answers =
      answers_to(folder, {"plan", "--profile", source_directory() + "/traces/published/bert-large-p100.json", "--gpus",
                          "4", "--global-batch", "256", "-p", "4", "--planner", "all"});
  check_regrets(answers);
  CHECK(answers["job"]["samples_per_microbatch"] == 32);
  CHECK(answers["job"]["microbatches"] == 8);
  // Equal layers on ideal links: an even cut's steady state is what accept predicts, too.
  const Json& accept = row_of(answers, "accept");
  CHECK(accept["predicted"]["unit"] == "ns per microbatch, slowest stage or link");
  CHECK(accept["predicted_step_ns"].get<std::int64_t>() ==
        std::llround(8 * accept["predicted"]["value"].get<double>()));
}

TEST_CASE_IN_FOLDER("the table keeps within the width, and CSV has a line for each row") {
  const Words all = joined(kJob, "--planner all --as-published");
  std::istringstream text(folder.data(all));
  for (std::string line; std::getline(text, line);) CHECK(line.size() <= 80);
  const std::string csv = folder.data(joined(all, "--format csv"));
  CHECK(csv.starts_with("planner,as_published,cuts_only,simulated_as,predicted_step_ns,step_ns,regret_ppm,"));
  CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) ==
        answers_to(folder, all)["planners"].size() + 1);
  CHECK(csv == folder.data(joined(all, "--format csv --threads 1")));
}

TEST_CASE_IN_FOLDER("where nothing fits there is nothing to compare with, and the plan says so") {
  const Outcome outcome = folder.run("plan --model gpt-6.7b --gpus 1 --memory 60GiB --global-batch 8 --planner all");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "none fits the memory"));
}

const char* const kTypes = R"({"schema": "debubble.device-types/1",
 "types": [{"name": "old", "count": 2, "time_factor": 3, "memory": "16GiB"},
           {"name": "new", "count": 2, "memory": "32GiB", "bandwidth": "10GB/s"}]})";

TEST_CASE_IN_FOLDER(
    "devices that differ: everybody is asked about them, and ours is never worse than one device per stage") {
  folder.write("types.json", kTypes);
  const Words job{"plan",
                  "--profile",
                  source_directory() + "/traces/published/bert-large-p100.json",
                  "--gpus",
                  "4",
                  "--global-batch",
                  "512",
                  "--bandwidth",
                  "2GB/s",
                  "--device-types",
                  "types.json"};
  const Json answers = answers_to(folder, joined(job, "--planner all"));
  check_regrets(answers);
  const Json& own = row_of(answers, "debubble");
  for (const Json& row : answers["planners"]) {
    if (row["fits"] != true || row["planner"] == "optpipe") continue;  // whose order is its own, with split backwards
    const bool straight = std::all_of(row["stages"].begin(), row["stages"].end(),
                                      [](const Json& stage) { return stage["replicas"] == 1; });
    if (straight) CHECK(own["step_ns"] <= row["step_ns"]);
  }
  CHECK(own["predicted_step_ns"] == own["step_ns"]);
  CHECK(answers["job"]["devices"] == Json({0, 0, 1, 1}));
  CHECK(answers["job"]["types"][0]["time_factor"] == 3);
  CHECK(answers["job"]["types"][1]["bandwidth_bytes_per_s"] == 10'000'000'000);
  // Without --planner it is ours that places the stages.
  CHECK(answers_to(folder, job)["planners"].size() == 1);
  CHECK(contains(folder.data(job), "2 old (d0 to d1), 3 times as slow, 16.0 GiB; 2 new"));
}

TEST_CASE_IN_FOLDER("one device per stage on devices that differ is worth what simulate --slow says of it") {
  folder.write("types.json", R"({"schema": "debubble.device-types/1",
    "types": [{"name": "old", "count": 2, "time_factor": 3}, {"name": "new", "count": 2}]})");
  const Words run{"--profile", source_directory() + "/traces/published/bert-large-p100.json", "--bandwidth", "2GB/s"};
  const Json answers = answers_to(
      folder, joined(joined({"plan"}, run), "--gpus 4 --global-batch 512 --planner all --device-types types.json"));
  int compared = 0;
  for (const Json& row : answers["planners"]) {
    std::string partition;
    bool straight = row["stages"].size() == 4;
    for (std::size_t s = 0; straight && s < 4; ++s) {
      const Json& stage = row["stages"][s];
      straight = stage["devices"] == Json({s});
      partition += (s == 0 ? "" : ",") + std::to_string(stage["end"].get<int>() - stage["begin"].get<int>());
    }
    if (!straight || row["planner"] == "optpipe") continue;  // whose order is not 1F1B
    CAPTURE(partition);
    const Json simulated = answers_to(
        folder,
        joined(joined("simulate --schedule 1f1b -p 4 -m 16 --slow devices=3,3,1,1", run), {"--partition", partition}));
    CHECK(simulated["makespan_ns"] == row["step_ns"]);
    ++compared;
  }
  CHECK(compared > 4);
}

TEST_CASE_IN_FOLDER("types by hardware take the model's times and memory there") {
  folder.write("types.json", R"({"schema": "debubble.device-types/1",
    "types": [{"hardware": "v100", "count": 1}, {"hardware": "a100-80", "count": 1}]})");
  const Json answers = answers_to(folder,
                                  "plan --model gpt2-large --hardware a100-80 --gpus 2 --global-batch 16 "
                                  "--device-types types.json --cuda-graphs on");
  CHECK(answers["job"]["types"][0]["time_factor"].get<double>() > 1.5);
  CHECK(answers["job"]["types"][1]["time_factor"] == 1);
  CHECK(answers["job"]["types"][0]["memory_bytes"] < answers["job"]["types"][1]["memory_bytes"]);
}

}  // namespace
}  // namespace debubble::testing
