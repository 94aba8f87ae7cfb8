// Ranges as people see them: their coverage of published records, in simulate, compare and plan, and where there is
// none.
#include <chrono>

#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using RangedJson = nlohmann::json;

const Words kJob = "--model llama3-8b --hardware h100 -p 4 -m 8";

std::string shown(Words arguments, const Words& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  Surroundings patient;
  patient.limit = std::chrono::minutes(5);
  const Outcome outcome = Folder().run(arguments, patient);
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  return outcome.out;
}

RangedJson shown_json(Words arguments, const Words& more) {
  arguments.insert(arguments.end(), {"--format", "json"});
  return RangedJson::parse(shown(arguments, more));
}

TEST_CASE("ranges: of 100 measured steps of published records they hold 75 to 85") {
  const std::string records = source_directory() + "/traces/published/results.json";
  const RangedJson ranges = shown_json({"accuracy", "--records", records}, {})["ranges"];
  int all = 0;
  int inside = 0;
  for (const auto& source : ranges["sources"]) {
    for (const auto& record : source["records"]) {
      CAPTURE(record["id"].get<std::string>());
      const double measured = record["measured"].get<double>();
      CHECK(record["low"] < record["high"]);
      ++all;
      inside += record["low"] <= measured && record["high"] >= measured ? 1 : 0;
    }
  }
  CHECK(all >= 150);
  const double coverage = static_cast<double>(inside) / all;
  CHECK(coverage >= 0.75);
  CHECK(coverage <= 0.85);
  CHECK(ranges["counts"]["coverage"].get<double>() == doctest::Approx(coverage));
  CHECK(ranges["asked_coverage"] == 0.8);
  // Where runs of one job are told apart, most are in the right order; no better than that where they are not.
  const RangedJson& pairs = ranges["pairs"];
  const double right = pairs["told_apart_in_order"].get<double>() / pairs["told_apart"].get<double>();
  const double close = pairs["not_told_apart_in_order"].get<double>() / pairs["not_told_apart"].get<double>();
  CHECK(pairs["told_apart"] > 50);
  CHECK(right >= 0.9);
  CHECK(close < right);
}

TEST_CASE("ranges: simulate shows that of a modelled step, and where it is from") {
  const RangedJson report = shown_json({"simulate"}, kJob);
  const RangedJson& range = report["step_range"];
  CHECK(range["low_ns"] < range["high_ns"]);
  CHECK(range["coverage"] == 0.8);
  double shares = 0;
  for (const auto& kind : range["kinds"]) shares += kind["share"].get<double>();
  CHECK(shares == doctest::Approx(1).epsilon(0.01));
  const std::string text = shown({"simulate"}, kJob);
  CHECK(contains(text, "\nrange "));
  CHECK(contains(text, "of 100 measured steps"));
}

TEST_CASE("ranges: a GPU without tables has a wider one") {
  Words without = kJob;
  without.insert(without.end(), {"--kernels", "off"});
  const double tabled = shown_json({"simulate"}, kJob)["step_range"]["scatter"].get<double>();
  CHECK(shown_json({"simulate"}, without)["step_range"]["scatter"].get<double>() > 1.5 * tabled);
}

TEST_CASE("ranges: there is none without a model") {
  const Words times = "--times f=1,b=2 -p 4 -m 8";
  CHECK_FALSE(shown_json({"simulate"}, times).contains("step_range"));
  CHECK_FALSE(contains(shown({"simulate"}, times), "\nrange "));
  const auto compared = shown_json("compare --schedule 1f1b,gpipe", times);
  for (const auto& run : compared["runs"]) {
    CHECK_FALSE(run.contains("step_range"));
    CHECK_FALSE(run.contains("beside_fastest"));
  }
  CHECK_FALSE(contains(shown("compare --schedule 1f1b,gpipe", times), "told apart"));
}

TEST_CASE("ranges: compare says which rows cannot be told apart, and which can") {
  // gpipe takes the time of 1f1b; with 4 devices and 8 microbatches ZB-H2 is far ahead of both.
  const RangedJson runs = shown_json("compare --schedule 1f1b,gpipe", kJob)["runs"];
  const auto beside = [](const RangedJson& run) { return run.value("beside_fastest", RangedJson()); };
  CHECK(beside(runs[0]).is_null() != beside(runs[1]).is_null());  // one of them is the fastest
  const RangedJson& second = beside(runs[0]).is_null() ? runs[1] : runs[0];
  CHECK(second["beside_fastest"]["told_apart"] == false);
  CHECK(second["beside_fastest"]["slower"] < second["beside_fastest"]["needed"]);
  const std::string text = shown("compare --schedule 1f1b,gpipe", kJob);
  CHECK(contains(text, "cannot be distinguished from the best"));
  CHECK(contains(text, "\n~ "));
  const RangedJson apart = shown_json("compare --schedule 1f1b,zb-h2", kJob)["runs"];
  CHECK(apart[0]["beside_fastest"]["told_apart"] == true);
  CHECK(beside(apart[1]).is_null());
  CHECK_FALSE(contains(shown("compare --schedule 1f1b,zb-h2", kJob), "told apart"));
}

TEST_CASE("ranges: plan shows that of its best run") {
  const Words job =
      "--model llama3-8b --hardware h100 --gpus 8 --global-batch 16 --only tp=1 --only pp=2 --only microbatch=1";
  const RangedJson plan = shown_json({"plan"}, job);
  const RangedJson& range = plan["step_range"];
  REQUIRE(range.is_object());
  CHECK(range["low_ns"] < plan["runs"][0]["makespan_ns"]);
  CHECK(contains(shown({"plan"}, job), "\nrange "));
}

}  // namespace
}  // namespace debubble::testing
