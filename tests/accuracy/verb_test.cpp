// `debubble accuracy` as people run it: its formats, its refusals, its page in docs/, and that errors do not grow.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/command.hpp"

#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

const std::string kRoot = debubble::testing::source_directory();
const std::string kResults = kRoot + "/traces/published/results.json";

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.is_open());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// All records take a while in a debug build, and the command says so on stderr.
std::string printed(const std::vector<std::string>& arguments) {
  Surroundings patient;
  patient.limit = std::chrono::minutes(5);
  const Outcome outcome = Folder().run(arguments, patient);
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  return outcome.out;
}

TEST_CASE("accuracy: docs/accuracy.md is what the binary prints") {
  const std::string page = printed({"accuracy", "--records", kResults, "--format", "markdown"});
  const bool same = page == file_text(kRoot + "/docs/accuracy.md");
  CHECK_MESSAGE(same, "run: debubble accuracy --format markdown -o docs/accuracy.md");
}

// ctest runs every case in a process of its own, so that all that needs all records stands in this one.
TEST_CASE("accuracy: every record is predicted, constants are few, and errors of the judged halves do not grow") {
  const nlohmann::json sources =
      nlohmann::json::parse(printed({"accuracy", "--records", kResults, "--format", "json"}))["sources"];
  // What was reached when this was written, rounded up: a change that makes one of them worse has to say so there.
  const nlohmann::json bounds = nlohmann::json::parse(file_text(kRoot + "/tests/accuracy/bounds.json"));
  std::size_t records = 0;
  std::size_t checked = 0;
  for (const auto& source : sources) {
    const std::string name = source["source"].get<std::string>();
    CAPTURE(name);
    for (const auto& record : source["records"]) {
      CAPTURE(record["id"].get<std::string>());
      CHECK_FALSE(record.contains("refused"));
      for (const auto& one : record["comparisons"]) CHECK(std::isfinite(one["error"].get<double>()));
      ++records;
    }
    for (const auto& summary : source["judged"]) {
      const std::string quantity = name + " " + summary["quantity"].get<std::string>();
      CAPTURE(quantity);
      REQUIRE(bounds.contains(quantity));
      CHECK(summary["mean_absolute_error"].get<double>() <= bounds[quantity].get<double>());
      ++checked;
    }
    if (source["constants"].is_null()) {
      CHECK(source["fitted"].empty());
      continue;
    }
    CHECK(source["constants"].size() <= 2);
    // Set-ups are divided evenly; records of one set-up stay together.
    std::map<std::string, std::set<std::string>> setups;
    for (const auto& record : source["records"]) {
      setups[record["half"].get<std::string>()].insert(record["command"].get<std::string>());
    }
    const auto fitted = static_cast<int>(setups["fitted"].size());
    const auto judged = static_cast<int>(setups["judged"].size());
    CHECK(std::abs(fitted - judged) <= 1);
    for (const std::string& setup : setups["judged"]) CHECK_FALSE(setups["fitted"].contains(setup));
  }
  CHECK(records == 173);
  CHECK(checked == bounds.size());
}

TEST_CASE("accuracy: the command of a record gives the predicted step time") {
  const nlohmann::json sources = nlohmann::json::parse(
      printed({"accuracy", "--records", kResults, "--source", "korthikanti", "--format", "json"}))["sources"];
  const auto& record = sources[0]["records"][0];
  std::istringstream words(record["command"].get<std::string>());
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  arguments.erase(arguments.begin());  // "debubble"
  arguments.insert(arguments.end(), {"--format", "json"});
  const nlohmann::json report = nlohmann::json::parse(printed(arguments));
  const double seconds = report["makespan_ns"].get<double>() / 1e9;
  CHECK(seconds == doctest::Approx(record["comparisons"][0]["predicted"].get<double>()).epsilon(1e-9));
}

TEST_CASE("accuracy: one source, as text") {
  const std::string text = printed({"accuracy", "--records", kResults, "--source", "zero-bubble", "--width", "100"});
  CHECK(text.starts_with("zero-bubble  "));
  CHECK(text.find("nothing is fitted") != std::string::npos);
  CHECK(text.find("zb-iclr-p8-m24-h2304-zb-h1") != std::string::npos);
  CHECK(text.find("korthikanti") == std::string::npos);
}

TEST_CASE("accuracy: --fit writes its file, the same each time") {
  const Folder folder;
  folder.write("results.json", R"({
  "schema": "debubble.results/1",
  "sources": [
    {"name": "toy", "title": "A toy", "where": "here", "licence": "none", "kind": "made up", "constants": ["compute"],
     "flags": {"model": "gpt", "model-size": "layers=4,hidden=1024,heads=16,positions=512,vocabulary=1000",
               "hardware": "a100-80", "schedule": "1f1b", "devices": 2}}
  ],
  "records": [
    {"id": "a", "source": "toy", "flags": {"microbatches": 4}, "measured": {"step_time_s": 0.006}},
    {"id": "b", "source": "toy", "flags": {"microbatches": 8}, "measured": {"step_time_s": 0.011}}
  ]
}
)");
  const std::vector<std::string> fit{"accuracy", "--records", "results.json", "--fit", "--format", "json"};
  const nlohmann::json first = nlohmann::json::parse(folder.data(fit));
  const std::string constants = folder.read("calibration.json");
  CHECK(constants.find("\"source\": \"toy\"") != std::string::npos);
  CHECK(constants.find("\"network\": 1}") != std::string::npos);
  (void)folder.data(fit);
  CHECK(folder.read("calibration.json") == constants);
  // Without --fit the same constants are read, and give the same.
  const nlohmann::json again =
      nlohmann::json::parse(folder.data({"accuracy", "--records", "results.json", "--format", "json"}));
  CHECK(again["sources"][0]["constants"] == first["sources"][0]["constants"]);
  CHECK(again["sources"][0]["judged"] == first["sources"][0]["judged"]);
  CHECK(first["sources"][0]["records"][0]["half"] == "fitted");
  CHECK(first["sources"][0]["records"][1]["half"] == "judged");
  // One constant meets one record as well as its lattice of half per cents allows.
  CHECK(std::abs(first["sources"][0]["fitted"][0]["bias"].get<double>()) < 0.02);
}

TEST_CASE("accuracy: what it refuses") {
  const Folder folder;
  CHECK(folder.refusal({"accuracy"}) ==
        "error[C005]: cannot read traces/published/results.json: No such file or directory\n"
        "  --> --records\n"
        "  = help: check the path and its permissions\n");
  CHECK(folder.refusal({"accuracy", "--records", kResults, "--source", "vtrian"}) ==
        "error[C003]: there is no source \"vtrian\"\n"
        "  --> --source\n"
        "  = help: did you mean vtrain?\n");
  folder.write("bad.json", "[1]");
  CHECK(folder.refusal({"accuracy", "--records", "bad.json"}).starts_with("error[P007]: "));
  folder.write("bad.json", "no");
  CHECK(folder.refusal({"accuracy", "--records", "bad.json"}).starts_with("error[P001]: "));
}

}  // namespace
}  // namespace debubble::testing
