// `debubble accuracy --plans` as people run it, on records of its own.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using PlansJson = nlohmann::json;

// Two layouts of one job, one of another, and a record without a model.
constexpr const char* kThreeJobs = R"({
  "schema": "debubble.results/1",
  "sources": [
    {"name": "toy", "title": "A toy", "where": "here", "licence": "none", "kind": "made up",
     "not_modelled": ["the weather"],
     "flags": {"model": "gpt2-small", "hardware": "a100-80", "sequence": 1024, "topology": "dgx-a100:1", "step": "on"}},
    {"name": "times", "title": "Times only", "where": "here", "licence": "none", "kind": "made up",
     "flags": {"times": "f=1,b=2", "schedule": "1f1b"}}
  ],
  "records": [
    {"id": "slow", "source": "toy", "flags": {"schedule": "gpipe", "devices": 8, "microbatches": 4, "microbatch-size": 4,
     "recompute": "full", "partition": "1,1,1,1,1,1,1,7"}, "measured": {"step_time_s": 0.3}},
    {"id": "better", "source": "toy", "flags": {"schedule": "1f1b", "devices": 2, "microbatches": 4, "dp": 4,
     "microbatch-size": 1}, "measured": {"step_time_s": 0.1}},
    {"id": "other", "source": "toy", "flags": {"schedule": "1f1b", "devices": 1, "microbatches": 1, "dp": 8,
     "microbatch-size": 3}, "measured": {"step_time_s": 0.2}},
    {"id": "timed", "source": "times", "flags": {"devices": 2, "microbatches": 4}, "measured": {"step_time_s": 0.2}}
  ]
}
)";

const Words kPlans = "accuracy --plans --records results.json --format json";

Folder& with_records(Folder& folder, const std::string& results) {
  folder.write("results.json", results);
  folder.write("calibration.json", R"({"schema": "debubble.calibration/2", "rule": "none", "constants": []})");
  return folder;
}

TEST_CASE("plans: layouts of one job compete with one plan, which none that fits beats") {
  Folder folder;
  const PlansJson sources = PlansJson::parse(with_records(folder, kThreeJobs).data(kPlans))["sources"];
  REQUIRE(sources.size() == 1);  // the other has no model
  const PlansJson& jobs = sources[0]["jobs"];
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0]["global_batch"] == 16);
  REQUIRE(jobs[0]["layouts"].size() == 2);
  CHECK(jobs[0]["layouts"][0]["record"] == "better");  // measured as the faster one
  CHECK(jobs[0]["layouts"][1]["kind"] == "full recomputation, no ZeRO");
  CHECK(jobs[1]["global_batch"] == 24);
  for (const PlansJson& job : jobs) {
    CHECK(job["gpus"] == 8);
    CHECK(job["remaining_gap"].get<double>() <= 0.01);
    for (const PlansJson& layout : job["layouts"]) {
      CHECK(layout["fits"] == true);
      CHECK(job["plan"]["step_ns"] <= layout["simulated"]["step_ns"]);
      CHECK(job["plan"]["step_ns"] <= layout["alike"]["step_ns"]);
    }
  }
  // A cut that leaves most layers to one stage can be beaten without changing what is recomputed.
  CHECK(jobs[0]["layouts"][1]["alike"]["step_ns"] < jobs[0]["layouts"][1]["simulated"]["step_ns"]);
  CHECK_FALSE(jobs[0]["notes"].empty());
}

TEST_CASE("plans: as text") {
  Folder folder;
  with_records(folder, kThreeJobs);
  const std::string text = folder.data("accuracy --plans --records results.json --width 80");
  for (const char* const part : {"toy  A toy\n", "gpt2-small on 8 GPUs, 16 samples of 1024 tokens\n",
                                 "better: pp 2, dp 4", "\n  alike  ", "\n  plan   "}) {
    CHECK_MESSAGE(contains(text, part), part);
  }
}

TEST_CASE("plans: a record whose run does not exist says why") {
  Folder folder;
  std::string results = kThreeJobs;
  const std::string fits = "\"partition\": \"1,1,1,1,1,1,1,7\"";
  results.replace(results.find(fits), fits.size(), "\"partition\": \"1,1,1,1,1,1,1,70\"");
  const PlansJson sources = PlansJson::parse(with_records(folder, results).data(kPlans))["sources"];
  const PlansJson& slow = sources[0]["jobs"][0]["layouts"][1];
  CHECK(slow["simulated"].is_null());
  CHECK(slow["fits"] == false);
  CHECK(slow["refused"].get<std::string>().starts_with("L"));
}

TEST_CASE("accuracy: several sources in the order in which they are named, each once") {
  Folder folder;
  with_records(folder, kThreeJobs);
  const Words several = "accuracy --records results.json --source times,toy,times --format json";
  const PlansJson sources = PlansJson::parse(folder.data(several))["sources"];
  REQUIRE(sources.size() == 2);
  CHECK(sources[0]["source"] == "times");
  CHECK(sources[1]["source"] == "toy");
}

}  // namespace
}  // namespace debubble::testing
