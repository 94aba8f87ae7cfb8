// `debubble accuracy` as people run it: its formats, its refusals, its page in docs/, and that errors do not grow.
#include <chrono>

#include "formats/run/run_file.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

const std::string kRoot = debubble::testing::source_directory();
const std::string kResults = kRoot + "/traces/published/results.json";

// All records take a while in a debug build, and the command says so on stderr.
std::string printed(const Words& arguments) {
  Surroundings patient;
  patient.limit = std::chrono::minutes(5);
  const Outcome outcome = Folder().run(arguments, patient);
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  return outcome.out;
}

// ctest runs every case in a process of its own, so that all that needs all records stands in this one.
TEST_CASE("accuracy: every record is predicted, and errors without any constant do not grow") {
  const nlohmann::json sources =
      nlohmann::json::parse(printed({"accuracy", "--records", kResults, "--format", "json"}))["sources"];
  // What was reached when this was written, rounded up: a change that makes one of them worse has to say so there.
  const nlohmann::json bounds = nlohmann::json::parse(contents_of(kRoot + "/tests/accuracy/bounds.json"));
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
  }
  CHECK(records == 197);
  CHECK(checked == bounds.size());
}

TEST_CASE("accuracy: a part of the model switched off changes what it has a part in, and nothing else") {
  const auto predicted = [](const Words& more) {
    Words arguments{"accuracy", "--records", kResults, "--source", "sc21,mlperf-gpt3", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return nlohmann::json::parse(printed(arguments));
  };
  const nlohmann::json whole = predicted({});
  CHECK(whole["ranges"].is_object());
  const auto changed = [&](const char* part, std::size_t source) {
    const nlohmann::json without = predicted({"--without", part});
    CHECK(without["ranges"].is_null());
    const auto& before = whole["sources"][source]["records"];
    int count = 0;
    for (std::size_t k = 0; k < before.size(); ++k) {
      const auto& after = without["sources"][source]["records"][k]["comparisons"][0];
      count += after["predicted"] == before[k]["comparisons"][0]["predicted"] ? 0 : 1;
    }
    return count;
  };
  CHECK(changed("measured-products", 0) == 5);
  CHECK(changed("measured-products", 1) == 2);
  CHECK(changed("quantisation", 0) == 0);  // nothing is in 8 bits
  CHECK(changed("wide-logits", 1) == 2);
  CHECK(changed("measured-collectives", 0) == 4);  // one has a single tensor rank
  CHECK(changed("causal-softmax", 1) == 0);        // scores never leave the chip
}

// Runs of traces/measured, as simulate and diff predict them.

using Json = nlohmann::json;

const std::string kMeasured = source_directory() + "/traces/measured/";

TEST_CASE_IN_FOLDER("Sailor's pipelines end when an independent simulation of fused exchanges says") {
  const Json list = Json::parse(contents_of(kMeasured + "runs.json"));
  const Json expected = Json::parse(contents_of(kMeasured + "sailor_opt350/expected.json"));
  std::size_t compared = 0;
  for (const Json& run : list["runs"]) {
    if (run["source"] != "sailor") continue;
    CAPTURE(run["id"].get<std::string>());
    Words arguments = "simulate --network uncontended --format json";
    for (const auto& flag : run["scenario"].items()) {
      const std::string value =
          flag.value().is_string() ? flag.value().get<std::string>() : std::to_string(flag.value().get<int>());
      const bool file = flag.key() == "profile";
      arguments.push_back("--" + flag.key() + "=" + (file ? kMeasured : "") + value);
    }
    const Json& truth = expected[run["id"].get<std::string>()];
    const Json report = folder.json(arguments);
    const auto end = report["step"]["pipeline_end_ns"].get<double>();
    CHECK(std::abs(end - 1e6 * truth["pipeline_ms"].get<double>()) < 1000);  // transfers are rounded up to nanoseconds
    CHECK(std::abs(run["step_ns"].get<double>() - 1e6 * truth["step_ms"].get<double>()) < 1);
    ++compared;
  }
  CHECK(compared == 15);
  CHECK(expected.size() == 15);
}

TEST_CASE_IN_FOLDER("a run on parts of an H100 is forecast with what ops take beside as many as work") {
  RunRecord run = read_run_file(kMeasured + "h100/gpipe-p8-m16.json.gz");
  const auto gap = [&] {
    std::string text;
    write_run_file(run, [&text](std::string_view piece) { text += piece; });
    folder.write("run.json", text);
    const Json step = folder.json("diff run.json")["makespan_ns"];
    return step["predicted"].get<double>() / step["measured"].get<double>() - 1;
  };
  CHECK(std::abs(gap()) < 0.02);
  run.costs.at_work.clear();  // as with all at work throughout
  CHECK(gap() > 0.15);
}

}  // namespace
}  // namespace debubble::testing
