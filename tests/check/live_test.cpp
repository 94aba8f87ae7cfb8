// Fresh runs of the gate, with the real executors: exact on the logical clock, and every fault is seen.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

std::string scenario(const std::string& name, const std::string& live, const std::string& more = "") {
  return R"({"name": ")" + name + R"(", "scenario": {"schedule": "1f1b", "devices": 3, "microbatches": 4, )" +
         R"("times": "f=0.1,b=0.2"}, "live": )" + live + more + "}";
}

// Accepts the predictions of these scenarios, then checks them.
Outcome check(const Folder& folder, const std::string& scenarios) {
  folder.write("s.json", R"({"schema": "debubble.suite/1", "name": "s", "scenarios": [)" + scenarios +
                             R"(], "tolerances": {"bubble_pp": 0, "step_percent": 0, "memory_percent": 0}})");
  CHECK(folder.run("check --accept s.json").status == 0);
  Surroundings no_gpu;
  no_gpu.environment = {"CUDA_VISIBLE_DEVICES=-1"};
  return folder.run("check s.json", no_gpu);
}

TEST_CASE_IN_FOLDER("a fresh run on the logical clock is as predicted, to the nanosecond and byte") {
  const Outcome outcome = check(folder, scenario("cpu", R"({"backend": "cpu"})") + "," + scenario("default", "{}"));
  CAPTURE(outcome.out);
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(contains(outcome.out, "pass     cpu: prediction unchanged; fresh, cpu, logical clock, "));
  CHECK(contains(outcome.out, "+0.00 pp"));
  CHECK(contains(outcome.out, "memory on d0"));
  CHECK(contains(outcome.out, "2 scenarios: 2 pass\n"));
}

TEST_CASE_IN_FOLDER("a slow device fails the gate, and the commands that explain it are those of the run") {
  const Outcome outcome = check(folder, scenario("slow", R"({"fault": "slow=1:1.5"})"));
  CAPTURE(outcome.out);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "FAIL     slow: prediction unchanged; fresh, cpu, logical clock, "));
  CHECK(contains(
      outcome.out,
      "         debubble live --schedule 1f1b -p 3 -m 4 --times f=0.1,b=0.2 --fault=slow=1:1.5 --clock=logical "
      "--save-run measured.run.json\n         debubble diff measured.run.json\n"));
  CHECK(folder
            .run("live --schedule 1f1b -p 3 -m 4 --times f=0.1,b=0.2 --fault=slow=1:1.5 --clock=logical --save-run "
                 "measured.run.json")
            .status == 0);
  CHECK(contains(folder.run("diff measured.run.json").out, "predicted"));
}

TEST_CASE_IN_FOLDER("a lost message and a wrong one are findings, not hangs") {
  const Outcome lost = check(folder, scenario("lost", R"({"fault": "drop=0F2"})"));
  CAPTURE(lost.out);
  CHECK(lost.status == 1);
  CHECK(contains(lost.out, "FAIL     lost: "));
  CHECK(contains(lost.out, "0F2"));
  const std::string again = "         debubble live --schedule 1f1b -p 3 -m 4 --times f=0.1,b=0.2 ";
  CHECK(contains(lost.out, again + "--fault=drop=0F2 --clock=logical\n"));
  CHECK_FALSE(contains(lost.out, "--save-run"));
  CHECK_FALSE(contains(lost.out, "debubble diff"));
  const Outcome wrong = check(folder, scenario("wrong", R"({"fault": ["corrupt=0F2"]})"));
  CAPTURE(wrong.out);
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.out, "FAIL     wrong: "));
  CHECK(contains(wrong.out, again + "--fault=corrupt=0F2 --clock=logical\n"));
  CHECK_FALSE(contains(wrong.out, "--save-run"));
}

TEST_CASE_IN_FOLDER("what is missing is status 3 where it is required, a note where it is not") {
  for (const std::string live : {R"({"backend": "mpi"})", R"({"backend": "cuda", "model": "gpt2-small"})"}) {
    CAPTURE(live);
    std::string one = scenario("far", live);
    if (contains(live, "cuda")) one.replace(one.find(R"(, "times": "f=0.1,b=0.2")"), 24, "");
    const Outcome required = check(folder, one);
    CAPTURE(required.out);
    CHECK(required.status == 3);
    CHECK(contains(required.out, "MISSING  far: prediction unchanged; fresh"));
    CHECK(contains(required.out, "         not run (U0"));
    CHECK_FALSE(contains(folder.run("check s.json --format json").out, "--save-run"));
    one.insert(one.size() - 1, R"(, "required": false)");
    const Outcome optional = check(folder, one);
    CHECK(optional.status == 0);
    CHECK(contains(optional.out, "skipped  far: "));
    CHECK(contains(optional.out, "1 scenario: 1 skipped\n"));
  }
}

TEST_CASE_IN_FOLDER("a finding comes before what is missing") {
  const Outcome both =
      check(folder, scenario("far", R"({"backend": "mpi"})") + "," + scenario("slow", R"({"fault": "slow=0:2"})"));
  CHECK(both.status == 1);
  CHECK(contains(both.out, "2 scenarios: 1 fail, 1 missing\nFAIL: slow\nMISSING: far\n"));
}

TEST_CASE_IN_FOLDER("wrong flags of a fresh run are found before anything runs, at their place") {
  folder.write("s.json", R"({"schema": "debubble.suite/1", "name": "s", "scenarios": [)" +
                             scenario("a", R"({"backend": "cpi"})") + "," + scenario("b", R"({"fault": "slow=9:2"})") +
                             "," + scenario("c", R"({"model": "gpt2-small"})") + "]}");
  const Outcome outcome = folder.run("check s.json");
  CHECK(outcome.status == 2);
  const std::string& text = outcome.err;
  CHECK(contains(
      text, "error[C002]: \"cpi\" is not one of: cpu, cuda, mpi, torch\n  --> s.json#/scenarios/0/live/backend\n"));
  CHECK(contains(text, "  --> s.json#/scenarios/1/live/fault\n"));
  CHECK(contains(text, "error[C087]"));
  CHECK(contains(text, "  --> s.json#/scenarios/2/live/model\n"));
}

TEST_CASE_IN_FOLDER("--accept refuses a fault that the backend cannot do, as the check itself does") {
  folder.write("s.json", R"({"schema": "debubble.suite/1", "name": "s", "scenarios": [)" +
                             scenario("a", R"({"fault": "kill=1F3"})") + "]}");
  for (const Words& words : {Words("check --accept s.json"), Words("check s.json")}) {
    const Outcome outcome = folder.run(words);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err,
                   "error[E003]: the cpu backend has no process per device that could be killed\n"
                   "  --> s.json#/scenarios/0/live/fault\n"));
  }
  CHECK(folder.files() == "s.json");
}

// On a busy machine they may be far off, but that is for a test with a seed: here it is how often, and what is said.
TEST_CASE_IN_FOLDER("calibrated costs are calibrated several times over, each run against its own") {
  const std::string live = R"({"costs": "cpu-time", "repetitions": )";
  folder.write("s.json", R"({"schema": "debubble.suite/1", "name": "s", "scenarios": [)" + scenario("a", live + "8}") +
                             "," + scenario("b", live + "1}") +
                             R"(], "tolerances": {"bubble_pp": 100, "step_percent": 100, "memory_percent": 0}})");
  CHECK(folder.run("check --accept s.json").status == 0);
  Surroundings wide;
  wide.environment = {"COLUMNS=200"};
  const Outcome outcome = folder.run("check s.json", wide);
  CAPTURE(outcome.out);
  CHECK(contains(outcome.out, "fresh, cpu, logical clock, 8 repetitions, calibrated 6 times\n"));
  CHECK(contains(outcome.out, "fresh, cpu, logical clock, 1 repetition\n"));
  CHECK_FALSE(contains(outcome.out, "exact by construction"));
}

}  // namespace
}  // namespace debubble::testing
