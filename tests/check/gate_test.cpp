// `debubble check` of recorded runs with noise of a known size; gate.transcript is about the rest.
#include "tests/check/noisy_run.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

std::string suite(const std::string& scenarios) {
  return "{\"schema\": \"debubble.suite/1\", \"name\": \"s\", \"scenarios\": [\n" + scenarios + "\n]}\n";
}

// A folder with the suite s.json and its accepted baseline.
void prepare(const Folder& folder, const std::string& scenarios) {
  folder.write("s.json", suite(scenarios));
  CHECK(folder.run("check --accept s.json").status == 0);
}

TEST_CASE_IN_FOLDER("a recorded run is judged against the prediction from its own costs") {
  NoisyRun wish;
  wish.noise = 0.003;
  folder.write("good.run.json", run_file_text(noisy_run(wish)));
  wish.added_bubble_pp = 2;
  folder.write("bad.run.json", run_file_text(noisy_run(wish)));
  prepare(folder, R"({"name": "good", "measured": "good.run.json"})");
  const std::string good = folder.data("check s.json");
  CHECK(contains(good, "pass     good: prediction unchanged; recorded, cpu, wall clock, a test's"));
  CHECK(contains(good, "1 scenario: 1 pass\n"));
  prepare(folder, R"({"name": "bad", "measured": "bad.run.json"})");
  const Outcome bad = folder.run("check s.json");
  CHECK(bad.status == 1);
  CHECK(contains(bad.out, "FAIL     bad: prediction unchanged; recorded"));
  CHECK(contains(bad.out, "         debubble diff bad.run.json\n"));
  CHECK(contains(bad.out, "  FAIL\n"));
}

TEST_CASE_IN_FOLDER("tolerances decide, and a scenario's own come first") {
  NoisyRun wish;
  wish.added_bubble_pp = 2;
  folder.write("r.run.json", run_file_text(noisy_run(wish)));
  prepare(folder, R"({"name": "r", "measured": "r.run.json", "tolerances": {"bubble_pp": 2.1, "step_percent": 5}})");
  CHECK(folder.run("check s.json").status == 0);
  prepare(folder, R"({"name": "r", "measured": "r.run.json", "tolerances": {"bubble_pp": 1.9, "step_percent": 5}})");
  CHECK(folder.run("check s.json").status == 1);
}

TEST_CASE_IN_FOLDER("a recorded run can be held against a scenario of one's own") {
  folder.write("r.run.json", run_file_text(noisy_run({})));
  const std::string flags = R"("schedule": "zb-h1", "devices": 4, "microbatches": 8)";
  prepare(folder, R"({"name": "r", "measured": "r.run.json", "scenario": {)" + flags + R"(, "comm": "20us"}})");
  CHECK(folder.run("check s.json").status == 0);
  prepare(folder, R"({"name": "r", "measured": "r.run.json", "scenario": {)" + flags + R"(, "times": "f=1,b=3"}})");
  const Outcome other = folder.run("check s.json");
  CHECK(other.status == 1);
  CHECK(contains(other.out, "debubble simulate --schedule zb-h1 -p 4 -m 8 --times f=1,b=3 --save-run"));
  folder.write("s.json", suite(R"({"name": "r", "measured": "r.run.json", "scenario": {"devices": 2}})"));
  const Outcome refused = folder.run("check s.json");
  CHECK(refused.status == 2);
  CHECK(contains(
      refused.err,
      "error[D010]: the run is of another schedule: the predicted one has 2 devices, the measured one 4\n  --> "
      "s.json#/scenarios/0/measured\n"));
}

TEST_CASE_IN_FOLDER("a run of another schedule of the same size is refused, op by op") {
  NoisyRun gpipe;
  gpipe.schedule = "gpipe";
  gpipe.count_memory = false;
  folder.write("r.run.json", run_file_text(noisy_run(gpipe)));
  folder.write("s.json", suite(R"({"name": "r", "measured": "r.run.json",
                                   "scenario": {"schedule": "1f1b", "devices": 4, "microbatches": 8, "comm": "20us"}})"));
  for (const Words& words : {Words("check s.json"), Words("check --accept s.json")}) {
    const Outcome refused = folder.run(words);
    CHECK(refused.status == 2);
    CHECK(contains(
        refused.err,
        "error[D010]: the run is of another schedule: device 0 runs 0B0 in place 5 of the predicted one, 0F4 of the "
        "measured one\n"));
  }
}

TEST_CASE_IN_FOLDER("memory that the suite asks for fails or warns where the run did not count it") {
  NoisyRun wish;
  wish.count_memory = false;
  folder.write("r.run.json", run_file_text(noisy_run(wish)));
  const std::string run = R"({"name": "r", "measured": "r.run.json")";
  prepare(folder, run + R"(, "tolerances": {"memory_percent": 0}})");
  const Outcome own = folder.run("check s.json");
  CHECK(own.status == 1);
  CHECK(contains(own.out, "not counted"));
  const Outcome json = folder.run("check s.json --format json");
  CHECK(contains(json.out, "\"measured\": null"));
  std::string text = suite(run + "}");
  text.replace(text.find("\"name\""), 0, R"("tolerances": {"memory_percent": 0}, )");
  folder.write("s.json", text);
  const Outcome shared = folder.run("check s.json");
  CHECK(shared.status == 0);
  CHECK(contains(shared.out, "1 scenario: 1 warn\n"));
  folder.write("s.json", suite(run + "}"));
  CHECK(contains(folder.data("check s.json"), "memory was not counted in this run and is not judged\n"));
}

TEST_CASE_IN_FOLDER("text stays within 80 columns") {
  NoisyRun wish;
  wish.added_bubble_pp = 2;
  wish.memory_factor = 1.37;
  wish.noise = 0.01;
  folder.write("r.run.json", run_file_text(noisy_run(wish)));
  const std::string name(70, 'x');
  prepare(folder, "{\"name\": \"" + name + "\", \"measured\": \"r.run.json\"}");
  Surroundings narrow;
  narrow.environment = {"COLUMNS=80"};
  const Outcome outcome = folder.run("check s.json", narrow);
  CHECK(outcome.status == 1);
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = outcome.out.find('\n', begin)) != std::string::npos; begin = end + 1) {
    CAPTURE(outcome.out.substr(begin, end - begin));
    CHECK(end - begin <= 80);
  }
}

}  // namespace
}  // namespace debubble::testing
