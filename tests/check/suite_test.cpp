// Suites: what they say is what the flags say, and what is wrong with them is all said at once.
#include "studies/check/suite.hpp"

#include "studies/check/suite_lines.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

const std::string kHead = R"({"schema": "debubble.suite/1", "name": "s", "scenarios": [)";

Suite one(const std::string& scenario) { return read_suite(kHead + scenario + "]}", "ci/x.suite.json"); }

// "CODE place: message" of everything that is wrong with the text, one per line.
std::string problems(const std::string& text) {
  try {
    static_cast<void>(read_suite(text, "x.json"));
    return "";
  } catch (const InputError& error) {
    std::string all;
    for (const Diagnostic& problem : error.diagnostics()) {
      CHECK_FALSE(problem.help.empty());
      all += problem.code + " " + problem.place + ": " + problem.message + "\n";
    }
    return all;
  }
}
std::string problems_of(const std::string& scenario) { return problems(kHead + scenario + "]}"); }

TEST_CASE("a suite gives its scenarios the shared flags") {
  const Suite suite = one(R"({"name": "a", "scenario": {"schedule": "zb-h1", "devices": 8, "microbatches": "16",
                              "param": ["a=1", "b=2"], "times": "f=1,b=2", "comm": 0.5}})");
  REQUIRE(suite.scenarios.size() == 1);
  const SuiteScenario& scenario = suite.scenarios.front();
  REQUIRE(scenario.flags);
  CHECK(scenario.flags->schedules == std::vector<std::string>{"zb-h1"});
  CHECK(scenario.flags->devices == 8);
  CHECK(scenario.flags->microbatches == 16);
  CHECK(scenario.flags->params == std::vector<std::string>{"a=1", "b=2"});
  CHECK(scenario.flags->comm == "0.5");
  CHECK(scenario.required);
  CHECK(scenario.tolerances.bubble_pp == 1.0);
  CHECK(suite.baseline == "ci/x.suite.baseline.json");
}

TEST_CASE("paths are seen from the suite's folder") {
  const Suite suite = one(R"({"name": "a", "scenario": {"schedule": "t/x.csv", "profile": ["../p.json", "q"]},
                              "measured": "runs/a.run.json"},
                             {"name": "b", "measured": "/abs/b.run.json"})");
  CHECK(suite.scenarios[0].flags->schedules.front() == "ci/t/x.csv");
  CHECK(suite.scenarios[0].table == "t/x.csv");
  CHECK(suite.scenarios[0].flags->profile == std::vector<std::string>{"p.json", "ci/q"});
  CHECK(suite.scenarios[0].measured == std::vector<std::string>{"ci/runs/a.run.json"});
  CHECK(suite.scenarios[1].measured == std::vector<std::string>{"/abs/b.run.json"});
  CHECK_FALSE(suite.scenarios[1].flags);
  CHECK(default_baseline("a/b.json") == "a/b.baseline.json");
  CHECK(default_baseline("a/b") == "a/b.baseline.json");
}

TEST_CASE("tolerances are the suite's unless a scenario has its own") {
  const Suite suite = read_suite(R"({"schema": "debubble.suite/1", "name": "s", "baseline": "b.json",
    "tolerances": {"bubble_pp": 0.5, "step_percent": 3}, "scenarios": [
    {"name": "a", "scenario": {}}, {"name": "b", "scenario": {}, "tolerances": {"step_percent": 4.25}}]})",
                                 "ci/s.json");
  CHECK(suite.scenarios[0].tolerances.bubble_pp == 0.5);
  CHECK(suite.scenarios[0].tolerances.memory_percent == 1.0);
  CHECK(suite.scenarios[1].tolerances.bubble_pp == 0.5);
  CHECK(suite.scenarios[1].tolerances.step_percent == 4.25);
  CHECK(suite.baseline == "ci/b.json");
}

TEST_CASE("scenarios know their lines, whatever stands around them") {
  const std::string text =
      "{\n\"x\": [[1], {\"scenarios\": [\n{}]}],\n\"scenarios\": [\n\n{\"name\": \"a]}\\\"\\n[{\"},\n"
      "{\"b\": [{}, {\n}]}\n, {}], \"y\": [{}]}";
  CHECK(scenario_lines(text) == std::vector<int>{6, 7, 9});
}

TEST_CASE("unknown keys are errors with a suggestion") {
  CHECK(problems_of(R"({"name": "a", "scenario": {"scedule": "1f1b"}})") ==
        "P005 x.json#/scenarios/0/scenario: unknown key \"scedule\"\n");
  CHECK(problems_of(R"({"name": "a", "scenario": {}, "tolerance": {}})") ==
        "P005 x.json#/scenarios/0: unknown key \"tolerance\"\n");
  CHECK(problems_of(R"({"name": "a", "scenario": {"help": "1"}})") ==
        "P005 x.json#/scenarios/0/scenario: unknown key \"help\"\n");
}

TEST_CASE("values are checked for their form") {
  CHECK(problems_of(R"({"name": "a", "scenario": {"devices": 4.5, "schedule": ["1f1b"], "times": ""}})") ==
        "P007 x.json#/scenarios/0/scenario/devices: \"devices\" must be a whole number up to 2147483647; got 4.5\n"
        "P007 x.json#/scenarios/0/scenario/schedule: \"schedule\" must be a text or number; got an array\n"
        "P019 x.json#/scenarios/0/scenario/times: \"times\" must not be empty; got the string \"\"\n");
  CHECK(problems_of(R"({"name": "a", "scenario": 3, "required": "yes"})") ==
        "P007 x.json#/scenarios/0/scenario: an object is expected here; got 3\n"
        "P007 x.json#/scenarios/0/required: \"required\" must be true or false; got the string \"yes\"\n");
  CHECK(problems_of(R"({"name": "a", "scenario": {}, "tolerances": {"bubble_pp": -1, "step_percent": 1e9}})") ==
        "P004 x.json#/scenarios/0/tolerances/bubble_pp: \"bubble_pp\" must be a number from 0 to 100; got -1\n"
        "P004 x.json#/scenarios/0/tolerances/step_percent: \"step_percent\" must be a number from 0 to 100; got "
        "1e9\n");
}

TEST_CASE("what a scenario is made of must make sense") {
  CHECK(problems_of(R"({"name": "a"})") ==
        "P006 x.json#/scenarios/0: neither \"scenario\" nor \"measured\" is there\n");
  CHECK(problems_of(R"({"name": "a", "live": {}})") ==
        "P006 x.json#/scenarios/0/live: there is nothing to run: a fresh run needs \"scenario\"\n");
  CHECK(problems_of(R"({"name": "a", "scenario": {}, "live": {}, "measured": "b"})") ==
        "P012 x.json#/scenarios/0/live: both \"measured\" and \"live\" say what to compare with\n");
  CHECK(problems_of(R"({"name": "a", "scenario": {}}, {"name": "a", "scenario": {}})") ==
        "G004 x.json#/scenarios/1/name: the name \"a\" is used at /scenarios/0 already\n");
  CHECK(problems_of(R"({"name": "", "scenario": {}}, 7)") ==
        "P019 x.json#/scenarios/0/name: \"name\" must not be empty\n"
        "P007 x.json#/scenarios/1: an object is expected here; got 7\n");
}

TEST_CASE("the file itself must be a suite") {
  CHECK(problems("").starts_with("P001 x.json:1:1: not valid JSON: the file is empty"));
  CHECK(problems("{\n,").starts_with("P001 x.json:2:1: not valid JSON"));
  CHECK(problems("\xff") == "P002 x.json:1:1: not UTF-8 text\n");
  CHECK(problems("[]") == "P007 x.json#: an object is expected here; got an array\n");
  CHECK(problems(R"({"schema": "debubble.suite/2", "name": "s", "scenarios": []})") ==
        "P010 x.json#/schema: the schema is \"debubble.suite/2\", not \"debubble.suite/1\"\n"
        "P016 x.json#/scenarios: there are no scenarios\n");
  CHECK(problems(R"({"schema": "debubble.suite/1", "schema": "debubble.suite/1"})") ==
        "P003 x.json#/schema: \"schema\" appears twice\n"
        "P006 x.json#: \"name\" is missing\n"
        "P006 x.json#: \"scenarios\" is missing\n");
}

TEST_CASE("who asked for memory is kept: the scenario, the suite or nobody") {
  using Asker = Tolerances::Asker;
  const auto asker = [](const std::string& of_suite, const std::string& of_scenario) {
    const std::string text = R"({"schema": "debubble.suite/1", "name": "s", "tolerances": )" + of_suite +
                             R"(, "scenarios": [{"name": "a", "scenario": {}, "tolerances": )" + of_scenario + "}]}";
    return read_suite(text, "x.json").scenarios.front().tolerances.memory_asked_by;
  };
  CHECK(asker("{}", R"({"bubble_pp": 1})") == Asker::kNobody);
  CHECK(asker(R"({"memory_percent": 1})", R"({"bubble_pp": 1})") == Asker::kSuite);
  CHECK(asker(R"({"memory_percent": 1})", R"({"memory_percent": 1})") == Asker::kScenario);
}

TEST_CASE("problems of flags are placed in the suite") {
  const Suite suite = one(R"({"name": "a", "scenario": {}})");
  const auto placed = placed_in_suite({{"C006", "--times", "m", "h"},
                                       {"S002", "--param group", "m", "h"},
                                       {"T001", "x.csv:3:1", "m", "h"},
                                       {"S001", "", "m", "h"}},
                                      suite, suite.scenarios.front());
  CHECK(placed[0].place == "ci/x.suite.json#/scenarios/0/scenario/times");
  CHECK(placed[1].place == "ci/x.suite.json#/scenarios/0/scenario/param");
  CHECK(placed[2].place == "x.csv:3:1");
  CHECK(placed[3].place == "ci/x.suite.json#/scenarios/0");
}

}  // namespace
}  // namespace debubble
