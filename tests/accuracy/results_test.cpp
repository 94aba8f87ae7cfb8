// Published results: what their reader refuses, how records are divided, how errors are summed up.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "studies/accuracy/accuracy.hpp"
#include "studies/accuracy/calibration.hpp"
#include "studies/accuracy/results_file.hpp"
#include "tests/cli/inputs.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"

namespace debubble {
namespace {

using testing::replaced;

const std::string kResults = R"({
  "schema": "debubble.results/1",
  "sources": [
    {"name": "toy", "title": "A toy", "where": "here", "licence": "none", "kind": "made up", "constants": [],
     "targets": {"step_time": 5}, "flags": {"schedule": "1f1b", "devices": 2}}
  ],
  "records": [
    {"id": "b", "source": "toy", "flags": {"microbatches": 4, "times": "f=1,b=2"}, "measured": {"step_time_s": 0.03}},
    {"id": "a", "source": "toy", "flags": {"microbatches": 2, "times": "f=1,b=2"},
     "measured": {"step_time_s": 0.009, "bubble_ratio": 0.3333}}
  ],
  "unusable": [{"id": "c", "source": "toy", "reason": "nothing stated"}]
}
)";

// The codes of everything that is wrong, in order.
std::string codes_of(const std::string& text) {
  try {
    (void)read_results(text, "results.json");
  } catch (const InputError& error) {
    std::string codes;
    for (const Diagnostic& problem : error.diagnostics()) codes += (codes.empty() ? "" : " ") + problem.code;
    return codes;
  }
  return "";
}

TEST_CASE("results: a source's flags come first, records are ordered by id") {
  const ResultsFile results = read_results(kResults, "traces/results.json");
  REQUIRE(results.records.size() == 2);
  CHECK(results.records[0].id == "a");
  CHECK(results.records[0].arguments ==
        std::vector<std::string>{"--schedule=1f1b", "--devices=2", "--microbatches=2", "--times=f=1,b=2"});
  REQUIRE(results.records[0].measured.size() == 2);
  CHECK(results.records[0].measured[1].quantity == Quantity::kBubble);
  CHECK(results.unusable.size() == 1);
  CHECK(results.sources.front().targets.front() == std::pair{Quantity::kStepTime, 5.0});
}

TEST_CASE("results: files of a record lie beside the results") {
  const std::string text = replaced(kResults, R"("times": "f=1,b=2"}, "measured": {"step_time_s": 0.03})",
                                    R"("profile": "../p.json"}, "measured": {"step_time_s": 0.03})");
  CHECK(read_results(text, "traces/published/results.json").records[1].arguments.back() == "--profile=traces/p.json");
}

TEST_CASE("results: what is wrong is refused, with its code") {
  CHECK(codes_of(kResults).empty());
  CHECK(codes_of("{") == "P001");
  CHECK(codes_of(replaced(kResults, "debubble.results/1", "debubble.results/2")) == "P010");
  CHECK(codes_of(replaced(kResults, R"("kind": "made up")", R"("kin": "made up")")) == "P006 P005");
  CHECK(codes_of(replaced(kResults, R"("step_time_s": 0.03)", R"("step_time_s": 0)")) == "P012 P012");
  CHECK(codes_of(replaced(kResults, R"("step_time_s": 0.03)", R"("time": 0.03)")) == "P005 P012");
  CHECK(codes_of(replaced(kResults, R"("id": "b", "source": "toy")", R"("id": "b", "source": "joy")")) == "G014");
  CHECK(codes_of(replaced(kResults, R"("id": "b")", R"("id": "a")")) == "G004");
  CHECK(codes_of(replaced(kResults, R"("constants": [])", R"("constants": ["latency"])")) == "P012");
  CHECK(codes_of(replaced(kResults, R"("constants": [])", R"("constants": ["compute", "compute"])")) == "P012");
  CHECK(codes_of(replaced(kResults, R"("constants": [])", R"("constants": [1])")) == "P007");
  CHECK(codes_of(replaced(kResults, R"("microbatches": 4)", R"("microbatch": 4)")) == "P005");
}

TEST_CASE("halves: in turn by id, twins together, and never by what was measured") {
  const auto make = [](std::vector<std::string> setups, double measured) {
    std::vector<ResultRecord> records;
    for (std::size_t k = 0; k < setups.size(); ++k) {
      ResultRecord record;
      record.id = "r" + std::to_string(k);
      record.arguments = {"--times=" + setups[k]};
      record.measured = {{Quantity::kStepTime, measured * static_cast<double>(k + 1)}};
      records.push_back(record);
    }
    return records;
  };
  ResultSource source;
  const auto halves_of = [&](const std::vector<ResultRecord>& records) {
    std::vector<const ResultRecord*> list;
    for (const ResultRecord& record : records) list.push_back(&record);
    std::string text;
    for (const Half half : halves(source, list)) text += half == Half::kFitted ? 'f' : 'j';
    return text;
  };
  CHECK(halves_of(make({"a", "b", "c"}, 1)) == "jjj");  // nothing to fit
  source.constants = {"compute"};
  CHECK(halves_of(make({"a", "b", "c", "d", "e"}, 1)) == "fjfjf");
  CHECK(halves_of(make({"a", "b", "c", "d", "e"}, -7)) == "fjfjf");
  CHECK(halves_of(make({"a", "a", "b", "c", "b", "d"}, 1)) == "ffjfjj");
}

TEST_CASE("errors: mean of sizes, bias with signs, the worst by size") {
  std::vector<ResultRecord> records(3);
  std::vector<JudgedRecord> judged(3);
  const std::vector<double> errors{0.10, -0.30, 0.05};
  for (std::size_t k = 0; k < 3; ++k) {
    records[k].id = "r" + std::to_string(k);
    judged[k].record = &records[k];
    judged[k].comparisons = {{Quantity::kStepTime, 1, 1 + errors[k], errors[k]}};
  }
  judged[2].half = Half::kFitted;
  const ErrorSummary summary = summarise(judged, Quantity::kStepTime, Half::kJudged);
  CHECK(summary.records == 2);
  CHECK(summary.mean_absolute == doctest::Approx(0.20));
  CHECK(summary.bias == doctest::Approx(-0.10));
  CHECK(summary.worst == doctest::Approx(-0.30));
  CHECK(summary.worst_id == "r1");
  CHECK(summarise(judged, Quantity::kStepTime, Half::kFitted).records == 1);
  CHECK(summarise(judged, Quantity::kBubble, Half::kJudged).records == 0);
}

TEST_CASE("verdicts: a target is met at its very figure") {
  ErrorSummary summary;
  summary.mean_absolute = 0.03;
  CHECK(verdict(summary).empty());
  summary.target = 0.03;
  CHECK(verdict(summary) == "met");
  summary.mean_absolute = 0.0301;
  CHECK(verdict(summary) == "missed");
}

TEST_CASE("judged: predictions are what simulate says, to the nanosecond") {
  const ResultsFile results = read_results(kResults, "results.json");
  const std::vector<JudgedSource> judged = judge_results(results, {}, "");
  REQUIRE(judged.size() == 1);
  REQUIRE(judged[0].records.size() == 2);
  // (m + p - 1)(f + b): 3 x 3 ms and 5 x 3 ms.
  CHECK(judged[0].records[0].comparisons[0].predicted == 0.009);
  CHECK(judged[0].records[1].comparisons[0].predicted == 0.015);
  CHECK(judged[0].records[1].comparisons[0].error == doctest::Approx(-0.5));
  // Idle a third of the time, as 2 of 3 slots work.
  CHECK(judged[0].records[0].comparisons[1].predicted == doctest::Approx(1.0 / 3));
  CHECK(judged[0].records[0].comparisons[1].error == doctest::Approx(0.00005).epsilon(0.01));
  CHECK(judge_results(results, {}, "none").empty());
}

TEST_CASE("judged: a record that cannot be predicted says why, and the others stand") {
  const std::string text = replaced(kResults, R"("microbatches": 4)", R"("microbatches": 0)");
  const ResultsFile results = read_results(text, "results.json");
  const std::vector<JudgedSource> judged = judge_results(results, {}, "");
  CHECK(judged[0].records[0].refused.empty());
  CHECK(judged[0].records[1].refused.starts_with("S0"));
  CHECK(judged[0].judged.front().records == 1);
}

TEST_CASE("calibrations: written and read back, and what is refused") {
  const Calibrations calibrations{{"a", {0.975, 1.05}}, {"b", {1, 0.6}}};
  const std::string text = calibrations_json(calibrations);
  CHECK(read_calibrations(text, "c.json") == calibrations);
  CHECK(flag_text(calibrations.at("a")) == "compute=0.975,network=1.05");
  CHECK_THROWS_AS((void)read_calibrations(replaced(text, "0.975", "0"), "c.json"), InputError);
  CHECK_THROWS_AS((void)read_calibrations(replaced(text, "0.975", "\"x\""), "c.json"), InputError);
  CHECK_THROWS_AS((void)read_calibrations(replaced(text, "calibration/1", "calibration/2"), "c.json"), InputError);
}

}  // namespace
}  // namespace debubble
