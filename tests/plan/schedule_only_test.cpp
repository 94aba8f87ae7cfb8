// `debubble plan --schedule-only`: the catalog and `optimal` at the same memory, on a pipeline that is given.
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

Json schedules_of(const Folder& folder, Words more) {
  Words words = "plan --schedule-only --format json";
  words.insert(words.end(), more.begin(), more.end());
  return folder.json(words);
}

TEST_CASE_IN_FOLDER(
    "plan --schedule-only: no row that runs the same pipeline within the memory is faster than optimal") {
  const std::vector<Words> pipelines{
      {"-p", "4", "-m", "8", "--param", "memory_limit=3"},
      {"-p", "4", "-m", "8", "--param", "memory_limit=2,4,4,4", "--times", "f=1,i=1.2,w=0.9,b=2.1"},
      {"-p", "3", "-m", "6", "--param", "memory_limit=3,2,2", "--comm", "0.3"},
      {"-p", "4", "-m", "6", "--times", "f=1,b=2.5,i=1,w=1.5"},
  };
  for (const Words& pipeline : pipelines) {
    const Json plan = schedules_of(folder, pipeline);
    std::int64_t searched = 0;      // with one stage per device
    std::int64_t searched_two = 0;  // with two
    for (const Json& one : plan["schedules"]) {
      if (one["schedule"] == "optimal") (one["chunks"] == 1 ? searched : searched_two) = one["makespan_ns"];
    }
    REQUIRE(searched > 0);
    for (const Json& one : plan["schedules"]) {
      if (one["fits"] == false || one["same_pipeline"] == false || one["schedule"] == "pipeoffload") continue;
      CAPTURE(one["schedule"]);
      const std::int64_t best = one["chunks"] == 1 ? searched : searched_two;
      CHECK(one["makespan_ns"].get<std::int64_t>() >= best);
    }
  }
}

TEST_CASE_IN_FOLDER("plan --schedule-only: best, proof and the command that exports the order") {
  const std::string text = folder.data("plan --schedule-only -p 4 -m 8 --param memory_limit=3 --width 400");
  CHECK(text.starts_with("schedules on 4 devices: 8 microbatches, memory_limit=3\n"));
  for (const char* const part :
       {"\nbest   v-half -v 2: step 26.50 ms", "\nalso   seq1f1b takes 26.25 ms, but not of this pipeline as it is: ",
        "\nproof  optimal: planned step 31.000 ms; no order of these stages within this memory takes less",
        "\nexport debubble simulate --schedule v-half -p 4 -m 8 --export-schedule order.csv\n"}) {
    CAPTURE(part);
    CHECK(contains(text, part));
  }
  const std::string profile = source_directory() + "/traces/published/zb-a100-1.5b-m24.json";
  const Json plan = schedules_of(folder, {"-p", "4", "-m", "6", "--profile", profile, "--partition", "7,5,5,7",
                                          "--param", "memory_limit=3", "--param", "budget=2k"});
  for (const Json& one : plan["schedules"]) {  // each command simulates to what was said
    if (one["schedule"] != "optimal" && one["schedule"] != "zb-auto") continue;
    Words words;
    for (std::istringstream typed(one["command"].get<std::string>()); !typed.eof();) typed >> words.emplace_back();
    words.erase(words.begin());
    words.insert(words.end(), {"--format", "json"});
    CHECK(folder.json(words)["makespan_ns"] == one["makespan_ns"]);
  }
  const std::string csv = folder.data("plan --schedule-only -p 2 -m 2 --format csv");
  CHECK(csv.starts_with("rank,schedule,chunks,fits,makespan_ns,bubble_ratio,peak_memory_bytes,note\n1,"));
}

TEST_CASE_IN_FOLDER(
    "plan --schedule-only: each device is judged by its own limit, and a cut is one of the stages given") {
  const std::string profile = source_directory() + "/traces/published/zb-a100-1.5b-m24.json";
  const Words job{"-p", "2", "-m", "4", "--profile", profile, "--param", "budget=2k", "--param"};
  for (const char* const limit : {"memory_limit=1,80GiB", "memory_limit=2,80GiB"}) {
    CAPTURE(limit);
    Words words = job;
    words.emplace_back(limit);
    const Json plan = schedules_of(folder, words);
    bool fits = false;
    for (const Json& one : plan["schedules"]) {
      fits = fits || (one["schedule"] == "optimal" && one["fits"] == true);
    }
    CHECK(fits);
  }
  const Json cut = schedules_of(folder, {"-p", "4", "-m", "8", "-v", "2", "--profile", profile, "--partition",
                                         "3,3,3,3,3,3,3,3", "--param", "budget=2k"});
  for (const Json& one : cut["schedules"]) {
    if (one["fits"] == true) CHECK(one["chunks"] == 2);
  }
}

TEST_CASE_IN_FOLDER(
    "plan --schedule-only: optimal may copy activations to the host, and its order is exported with them") {
  const Words job = "-p 2 -m 4 --comm 2 --param memory_limit=2";
  const auto best = [](const Json& plan) { return plan["schedules"][0]; };
  const Json without = schedules_of(folder, job);
  Words copying = job;
  copying.insert(copying.end(), {"--param", "offload=yes"});
  const Json with = schedules_of(folder, copying);
  CHECK(best(with)["schedule"] == "optimal");
  CHECK(best(with)["makespan_ns"] == 17'000'000);
  CHECK(best(with)["makespan_ns"] < best(without)["makespan_ns"]);
  CHECK(best(with)["proof"].get<std::string>().find("copied to the host and back") != std::string::npos);
  copying.insert(copying.begin(), {"plan", "--schedule-only"});
  const std::string text = folder.data(copying);
  CHECK(contains(text, "export debubble export --schedule optimal"));
  Words exported = "export --schedule optimal --param offload=yes --to schedule-json --output order.json";
  exported.insert(exported.end(), job.begin(), job.end());
  static_cast<void>(folder.data(exported));
  const Json again = folder.json("simulate --schedule order.json --comm 2");
  CHECK(again["makespan_ns"] == 17'000'000);
}

}  // namespace
}  // namespace debubble::testing
