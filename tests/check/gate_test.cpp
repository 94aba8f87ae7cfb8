// `debubble check` as people run it: predictions, recorded runs, statuses, and what --accept may touch.
#include "tests/check/noisy_run.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

std::string suite(const std::string& scenarios) {
  return "{\"schema\": \"debubble.suite/1\", \"name\": \"s\", \"scenarios\": [\n" + scenarios + "\n]}\n";
}

const std::string kToy = R"({"name": "toy", "scenario": {"schedule": "1f1b", "devices": 4, "microbatches": 8}})";
const std::string kSlower =
    R"({"name": "toy", "scenario": {"schedule": "1f1b", "devices": 4, "microbatches": 8, "times": "f=1,b=2.5"}})";

// A folder with the suite s.json and its accepted baseline.
void prepare(const Folder& folder, const std::string& scenarios) {
  folder.write("s.json", suite(scenarios));
  CHECK(folder.run("check --accept s.json").status == 0);
}

TEST_CASE_IN_FOLDER("without a baseline the gate fails and says how to make one") {
  folder.write("s.json", suite(kToy));
  const Outcome outcome = folder.run("check s.json");
  CHECK(outcome.status == 1);
  CHECK(outcome.err.empty());
  CHECK(outcome.out ==
        "suite s: s.json, baseline s.baseline.json\n\n"
        "FAIL     toy: no baseline yet\n\n"
        "to make the baseline: debubble check --accept s.json\n\n"
        "1 scenario: 1 fail\n");
  CHECK(folder.files() == "s.json");
}

TEST_CASE_IN_FOLDER("accepted predictions pass until one changes, and --accept mends it") {
  prepare(folder, kToy);
  CHECK(folder.data("check s.json") ==
        "suite s: s.json, baseline s.baseline.json\n\npass     toy: prediction unchanged\n\n1 scenario: 1 pass\n");
  folder.write("s.json", suite(kSlower));
  const Outcome changed = folder.run("check s.json");
  CHECK(changed.status == 1);
  CHECK(contains(changed.out, "FAIL     toy: prediction changed: "));
  CHECK(contains(changed.out, "         makespan_ns 33000000 -> 38500000 (+17 %)\n"));
  CHECK(contains(changed.out, "if this is meant: debubble check --accept s.json\n"));
  const Outcome accepted = folder.run("check --accept s.json");
  CHECK(accepted.status == 0);
  CHECK(contains(accepted.out, "makespan_ns 33000000 -> 38500000 (+17 %)"));
  CHECK(contains(accepted.out, "wrote s.baseline.json\n"));
  CHECK(folder.run("check s.json").status == 0);
}

TEST_CASE_IN_FOLDER("a single changed byte of the baseline is found") {
  prepare(folder, kToy);
  const std::string accepted = folder.read("s.baseline.json");
  for (const std::string& spoilt : {accepted + " ", accepted.substr(0, accepted.size() - 1), " " + accepted,
                                    std::string(accepted).replace(accepted.find("33000000"), 8, "33000001")}) {
    folder.write("s.baseline.json", spoilt);
    CHECK(folder.run("check s.json").status == 1);
  }
  CHECK(folder.run("check --accept s.json").status == 0);
  CHECK(folder.read("s.baseline.json") == accepted);
}

TEST_CASE_IN_FOLDER("--accept leaves everything as it was when something cannot be predicted") {
  prepare(folder, kToy);
  const std::string accepted = folder.read("s.baseline.json");
  folder.write("bad.json", suite(R"({"name": "x", "scenario": {"schedule": "chimera", "devices": 3}})"));
  folder.write("stuck.json", suite(R"({"name": "x", "scenario": {"schedule": "zb-v", "p2p": "coupled"}})"));
  folder.write("s.json", suite(kSlower));
  const Outcome bad = folder.run("check --accept s.json bad.json");
  CHECK(bad.status == 2);
  CHECK(contains(bad.err,
                 "error[S011]: chimera needs an even number of devices; got 3\n"
                 "  --> bad.json#/scenarios/0/scenario/devices\n"));
  const Outcome stuck = folder.run("check --accept s.json stuck.json");
  CHECK(stuck.status == 1);
  CHECK(contains(stuck.out, "FAIL     x: deadlock\n"));
  CHECK(contains(stuck.out, "no baseline was written"));
  CHECK(folder.read("s.baseline.json") == accepted);
  CHECK(folder.files() == "bad.json s.baseline.json s.json stuck.json");
}

TEST_CASE_IN_FOLDER("--accept overwrites a spoilt baseline, but no other file") {
  folder.write("s.json", suite(kToy));
  folder.write("s.baseline.json", "{\n  \"schema\": \"debubble.baseline/1\",\n<<<<<<< HEAD\n");
  const Outcome unread = folder.run("check s.json");
  CHECK(unread.status == 2);
  CHECK(contains(unread.err,
                 "error[P010]: this is not a baseline: it is not valid JSON (a merge conflict?)\n"
                 "  --> s.baseline.json\n"));
  CHECK(folder.run("check --accept s.json").status == 0);
  folder.write("s.baseline.json", "precious");
  const Outcome refused = folder.run("check --accept s.json");
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "error[C050]: this file is not a baseline, so --accept does not overwrite it"));
  CHECK(folder.read("s.baseline.json") == "precious");
}

TEST_CASE_IN_FOLDER("two suites may not accept one baseline") {
  const std::string text = suite(kToy);
  folder.write("a.json", std::string(text).replace(text.find("\"name\""), 0, "\"baseline\": \"b.json\", "));
  folder.write("c.json", folder.read("a.json"));
  CHECK(folder.refusal("check --accept a.json c.json") ==
        "error[C066]: its baseline is that of a.json too: b.json\n  --> c.json\n"
        "  = help: give each suite its own \"baseline\"\n");
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

TEST_CASE_IN_FOLDER("a measured run may be another tool's, of one replica, or the files of several ranks") {
  const std::string measured = debubble::testing::source_directory() + "/traces/measured/";
  const auto file = [&](const std::string& name) { return "\"" + measured + name + ".json.gz\""; };
  const std::string trace = "\"measured\": " + file("straggler_ar_0");
  const std::string ranks = file("torch_cpu_named/rank0") + ", " + file("torch_cpu_named/rank1");
  prepare(folder, R"({"name": "slow", )" + trace + R"(}, {"name": "usual", "measured": )" + file("straggler_ar_2") +
                      R"(, "replica": 0}, {"name": "untimed", "measured": )" + file("primus_pp8") +
                      R"(}, {"name": "ranks", "measured": [)" + ranks + "]}");
  const Outcome outcome = folder.run("check s.json");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "bubble    42.90 %   43.06 %"));
  CHECK(contains(outcome.out, "bubble    10.96 %   11.32 %"));
  CHECK(contains(outcome.out, "bubble    34.65 %   35.40 %"));
  const auto refused = [&](const std::string& scenario, const std::string& expected) {
    folder.write("s.json", suite(scenario));
    const Outcome bad = folder.run("check s.json");
    CAPTURE(bad.err);
    CHECK(bad.status == 2);
    CHECK(contains(bad.err, expected));
  };
  refused(R"({"name": "a", )" + trace + R"(, "replica": 4})", "s.json#/scenarios/0/replica");
  refused(R"({"name": "a", "measured": []})", "error[P007]");
  refused(R"({"name": "a", "measured": [1]})", "error[P007]");
  refused(R"({"name": "a", "measured": ["gone.json"]})", "s.json#/scenarios/0/measured");
}

TEST_CASE_IN_FOLDER("a simulation or an exact run given as measured is called what it is") {
  CHECK(folder.run("simulate --schedule 1f1b -p 2 -m 4 --save-run sim.run.json").status == 0);
  CHECK(folder.run("live --schedule 1f1b -p 2 -m 4 --clock logical --save-run live.run.json").status == 0);
  prepare(folder, R"({"name": "sim", "measured": "sim.run.json"}, {"name": "live", "measured": "live.run.json"})");
  const std::string text = folder.data("check s.json");
  CHECK(contains(text, "pass     sim: prediction unchanged; recorded, a simulated run"));
  CHECK(contains(text, "nothing was measured: the file holds a simulation\n"));
  CHECK(contains(text, "pass     live: prediction unchanged; recorded, cpu, logical clock, exact by"));
  const std::string json = folder.data("check s.json --format json");
  CHECK(contains(json, "\"times\": \"simulated\""));
  CHECK(contains(json, "\"times\": \"given\""));
}

TEST_CASE_IN_FOLDER("the end of the text names what failed, and --accept says what to do next") {
  folder.write("s.json", suite(kToy + R"(,{"name": "other", "scenario": {}})"));
  const Outcome accepted = folder.run("check --accept s.json");
  CHECK(accepted.out.ends_with("commit the baseline next to its suite; from now on: debubble check s.json\n"));
  folder.write("s.json", suite(kSlower + R"(,{"name": "other", "scenario": {}})"));
  CHECK(folder.run("check s.json").out.ends_with("2 scenarios: 1 pass, 1 fail\nFAIL: toy\n"));
}

TEST_CASE_IN_FOLDER("all suites are looked at, and wrong input comes before findings") {
  prepare(folder, kToy);
  folder.write("changed.json", suite(kSlower));
  folder.write("bad.json", "{");
  const Outcome findings = folder.run("check s.json changed.json");
  CHECK(findings.status == 1);
  CHECK(contains(findings.out, "2 scenarios: 1 pass, 1 fail\n"));
  const Outcome all = folder.run("check bad.json changed.json s.json none.json");
  CHECK(all.status == 2);
  CHECK(contains(all.out, "pass     toy: prediction unchanged\n"));
  CHECK(contains(all.out, "2 scenarios: 1 pass, 1 fail; 2 suites with errors\n"));
  CHECK(contains(all.err, "error[P001]: not valid JSON"));
  CHECK(contains(all.err, "error[C005]: cannot read none.json: No such file or directory\n"));
}

TEST_CASE_IN_FOLDER(
    "a table and a profile beside the suite are found from any folder, and the baseline does not mind") {
  const std::string table = folder.data("export --to pytorch-csv --schedule 1f1b -p 2 -m 4");
  folder.write("t.csv", table);
  prepare(folder, R"({"name": "t", "scenario": {"schedule": "t.csv"}})");
  CHECK(contains(folder.read("s.baseline.json"), "\"name\": \"t.csv\""));
  const Folder elsewhere;
  CHECK(elsewhere.run({"check", folder.path("s.json")}).status == 0);
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
