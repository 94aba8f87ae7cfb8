// `debubble accuracy` as people run it: its formats, its refusals, its page in docs/, and that errors do not grow.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
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
TEST_CASE("accuracy: every record is predicted, and errors without any constant do not grow") {
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
      CHECK(record["command"].get<std::string>().find("--calibrate") == std::string::npos);
      for (const auto& one : record["comparisons"]) CHECK(std::isfinite(one["error"].get<double>()));
      ++records;
    }
    for (const auto& summary : source["without_constants"]) {
      std::string quantity = name + " " + summary["quantity"].get<std::string>();
      if (!summary["group"].is_null()) quantity += ", " + summary["group"].get<std::string>();
      CAPTURE(quantity);
      REQUIRE(bounds.contains(quantity));
      CHECK(summary["mean_absolute_error"].get<double>() <= bounds[quantity].get<double>());
      ++checked;
    }
    // No constant knows the records that it is judged by.
    if (source["with_constant"].is_null()) continue;
    for (const auto& constant : source["with_constant"]["constants"]) CHECK(constant["left_out"] == name);
  }
  CHECK(records == 197);
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
  CHECK(text.find("nothing fitted") != std::string::npos);
  CHECK(text.find("with a constant ") == std::string::npos);
  CHECK(text.find("zb-iclr-p8-m24-h2304-zb-h1") != std::string::npos);
  CHECK(text.find("korthikanti") == std::string::npos);
}

// Toys of one machine and of another, and --times without a machine.
constexpr const char* kToys = R"({
  "schema": "debubble.results/1",
  "sources": [
    {"name": "toy", "title": "A toy", "where": "here", "licence": "none", "kind": "made up",
     "flags": {"model": "gpt", "model-size": "layers=4,hidden=1024,heads=16,positions=512,vocabulary=1000",
               "hardware": "a100-80", "cuda-graphs": "on", "schedule": "1f1b", "devices": 2}},
    {"name": "other", "title": "Another", "where": "here", "licence": "none", "kind": "made up",
     "flags": {"model": "gpt", "model-size": "layers=8,hidden=1024,heads=16,positions=512,vocabulary=1000",
               "hardware": "a100-80", "cuda-graphs": "on", "schedule": "1f1b", "devices": 2}},
    {"name": "alone", "title": "On its own", "where": "here", "licence": "none", "kind": "made up",
     "flags": {"model": "gpt", "model-size": "layers=8,hidden=1024,heads=16,positions=512,vocabulary=1000",
               "hardware": "h100", "cuda-graphs": "on", "schedule": "1f1b", "devices": 2}},
    {"name": "times", "title": "Times only", "where": "here", "licence": "none", "kind": "made up",
     "flags": {"times": "f=1,b=2", "schedule": "1f1b", "devices": 2}}
  ],
  "records": [
    {"id": "a", "source": "toy", "flags": {"microbatches": 4}, "measured": {"step_time_s": 0.006}},
    {"id": "b", "source": "toy", "flags": {"microbatches": 4}, "software": "Toy 2",
     "measured": {"step_time_s": 0.0072}},
    {"id": "c", "source": "other", "flags": {"microbatches": 4}, "measured": {"step_time_s": 0.02}},
    {"id": "d", "source": "alone", "flags": {"microbatches": 4}, "measured": {"step_time_s": 0.02}},
    {"id": "e", "source": "times", "flags": {"microbatches": 4}, "measured": {"step_time_s": 0.02}}
  ]
}
)";

TEST_CASE("accuracy: --fit writes its file, the same each time, and no source is judged by its own constant") {
  const Folder folder;
  folder.write("results.json", kToys);
  folder.write("calibration.json", R"({"schema": "debubble.calibration/1", "sources": []})");  // anything
  const std::vector<std::string> fit{"accuracy", "--records", "results.json", "--fit", "--format", "json"};
  const nlohmann::json first = nlohmann::json::parse(folder.data(fit))["sources"];
  const std::string text = folder.read("calibration.json");
  (void)folder.data(fit);
  CHECK(folder.read("calibration.json") == text);
  std::map<std::string, nlohmann::json> constants;
  const nlohmann::json written = nlohmann::json::parse(text);
  for (const auto& one : written["constants"]) {
    const std::string left_out = one["left_out"].is_null() ? "" : one["left_out"].get<std::string>();
    constants[one["hardware"].get<std::string>() + " " + left_out] = one;
  }
  REQUIRE(constants.size() == 4);  // none of the times, and none without the only source
  CHECK(constants.at("a100-80 ")["records"] == 3);
  CHECK(constants.at("a100-80 ")["sources"] == 2);
  CHECK(constants.at("a100-80 toy")["records"] == 1);
  CHECK(constants.at("h100 ")["sources"] == 1);
  // The constant without toy is fitted to the other's only record, and the other way round.
  const auto source = [&](const char* name) {
    for (const auto& one : first) {
      if (one["source"] == name) return one;
    }
    return nlohmann::json();
  };
  CHECK(source("toy")["with_constant"]["constants"][0]["compute"] == constants.at("a100-80 toy")["compute"]);
  CHECK(source("other")["with_constant"]["constants"][0]["records"] == 2);
  CHECK(source("alone")["with_constant"].is_null());
  CHECK(source("times")["with_constant"].is_null());
  // One constant meets one record as well as its lattice of half per cents allows.
  const double asked = constants.at("a100-80 toy")["compute"].get<double>();
  const nlohmann::json alone = nlohmann::json::parse(folder.data(
      {"simulate", "--model", "gpt", "--model-size", "layers=8,hidden=1024,heads=16,positions=512,vocabulary=1000",
       "--hardware", "a100-80", "--cuda-graphs", "on", "--schedule", "1f1b", "-p", "2", "-m", "4", "--calibrate",
       "compute=" + std::to_string(asked), "--format", "json"}));
  CHECK(std::abs(alone["makespan_ns"].get<double>() / 0.02e9 - 1) < 0.02);
  // Without --fit the same constants are read, and give the same.
  const nlohmann::json again =
      nlohmann::json::parse(folder.data({"accuracy", "--records", "results.json", "--format", "json"}))["sources"];
  CHECK(again == first);
  // The set-up that was measured twice.
  CHECK(first[0]["noise"]["median_ratio"].get<double>() == doctest::Approx(1.2));
  CHECK(first[0]["records"][1]["software"] == "Toy 2");
  CHECK(first[1]["noise"].is_null());
}

TEST_CASE("accuracy: text and page say where there is no constant") {
  const Folder folder;
  folder.write("results.json", kToys);
  (void)folder.data({"accuracy", "--records", "results.json", "--fit"});
  const std::string text = folder.data({"accuracy", "--records", "results.json", "--width", "80"});
  for (const char* const part :
       {"with a constant  ", "no other source has h100 in bf16\n", "  within", "1 set-up measured more than once"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  }
  const std::string page = folder.data({"accuracy", "--records", "results.json", "--format", "markdown"});
  for (const char* const part : {"\n## Without any constant\n", "\n## With one constant\n", "\n## Noise\n",
                                 "| alone | no other source has h100 in bf16: no constant is used |", "b (Toy 2) "}) {
    CHECK_MESSAGE(page.find(part) != std::string::npos, part);
  }
}

TEST_CASE("accuracy: each effect switched off alone changes what it has a part in, and nothing else") {
  const nlohmann::json effects =
      nlohmann::json::parse(printed({"accuracy", "--effects", "--records", kResults, "--source",
                                     "sc21,mlperf-gpt3,zero-bubble", "--format", "json"}))["effects"];
  const auto changed = [&effects](const std::string& name, const std::string& source) {
    for (const auto& effect : effects) {
      if (effect["effect"] != name) continue;
      CHECK(effect["refused"].empty());
      for (const auto& errors : effect["errors"]) {
        if (errors["source"] != source) continue;
        const bool same = errors["with"] == errors["without"];
        CHECK(same == (errors["changed"] == 0));
        return errors["changed"].get<int>();
      }
    }
    FAIL("no effect " << name << " on " << source);
    return -1;
  };
  CHECK(changed("measured products", "sc21") == 5);
  CHECK(changed("measured products", "mlperf-gpt3") == 2);
  CHECK(changed("measured products", "zero-bubble") == 0);
  CHECK(changed("quantisation", "sc21") == 0);  // nothing is in 8 bits
  CHECK(changed("quantisation", "mlperf-gpt3") == 2);
  CHECK(changed("logits and router in 16 bits", "mlperf-gpt3") == 2);
  CHECK(changed("scattered activations", "sc21") == 3);
  CHECK(changed("coupled sends and receives", "sc21") == 2);
  CHECK(changed("measured collectives", "sc21") == 4);  // one has a single tensor rank
  CHECK(changed("softmax without masked scores", "sc21") == 5);
  CHECK(changed("softmax without masked scores", "mlperf-gpt3") == 0);  // scores never leave the chip
  CHECK(changed("tokens cross once", "sc21") == 0);
  const std::string text =
      printed({"accuracy", "--effects", "--records", kResults, "--source", "sc21", "--width", "80"});
  CHECK(text.find("measured products  without: constant shares") != std::string::npos);
  CHECK(text.find("sc21 step time") != std::string::npos);
}

TEST_CASE("accuracy: what it refuses") {
  const Folder folder;
  CHECK(folder.refusal({"accuracy", "--records", "none.json"}) ==
        "error[C005]: cannot read none.json: No such file or directory\n"
        "  --> --records\n"
        "  = help: check the path and its permissions\n");
  CHECK(folder.refusal({"accuracy", "--records", kResults, "--source", "vtrian"}) ==
        "error[C003]: there is no source \"vtrian\"\n"
        "  --> --source\n"
        "  = help: did you mean vtrain?\n");
  for (const char* const other : {"--bubbles", "--plans", "--fit"}) {
    CHECK(folder.refusal({"accuracy", "--effects", other}).starts_with("error[C087]: "));
  }
  folder.write("bad.json", "[1]");
  CHECK(folder.refusal({"accuracy", "--records", "bad.json"}).starts_with("error[P007]: "));
  folder.write("old.json", R"({"schema": "debubble.calibration/1", "sources": []})");
  CHECK(folder.refusal({"accuracy", "--records", kResults, "--calibration", "old.json"}) ==
        "error[P010]: the schema is \"debubble.calibration/1\", not \"debubble.calibration/2\": two constants for each "
        "source are no longer taken\n"
        "  --> old.json#/schema\n"
        "  = help: write the file anew with `debubble accuracy --fit`\n");
  folder.write("bad.json", "no");
  CHECK(folder.refusal({"accuracy", "--records", "bad.json"}).starts_with("error[P001]: "));
}

}  // namespace
}  // namespace debubble::testing
