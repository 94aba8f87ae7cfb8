// Published results: what their reader refuses, how errors are summed up.
#include "studies/accuracy/accuracy.hpp"
#include "studies/accuracy/results_file.hpp"
#include "tests/cli/inputs.hpp"
#include "tests/support/test.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"

namespace debubble {
namespace {

using testing::replaced;

const std::string kResults = R"({
  "schema": "debubble.results/1",
  "sources": [
    {"name": "toy", "title": "A toy", "where": "here", "licence": "none", "kind": "made up",
     "targets": {"step_time": 5}, "group_targets": {"long": {"step_time": 7}}, "flags": {"schedule": "1f1b", "devices": 2}}
  ],
  "records": [
    {"id": "b", "source": "toy", "group": "long", "software": "Toy 2.1",
     "flags": {"microbatches": 4, "times": "f=1,b=2"}, "measured": {"step_time_s": 0.03}},
    {"id": "a", "source": "toy", "flags": {"microbatches": 2, "times": "f=1,b=2"},
     "measured": {"step_time_s": 0.009, "bubble_ratio": 0.3333}}
  ],
  "unusable": [{"id": "c", "source": "toy", "reason": "nothing stated"}]
}
)";

// The codes of everything that is wrong, in order.
std::string codes_of(const std::string& text) {
  std::string codes;
  for (const Diagnostic& problem : diagnostics_of([&] { (void)read_results(text, "results.json"); }))
    codes += (codes.empty() ? "" : " ") + problem.code;
  return codes;
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
  REQUIRE(results.sources.front().targets.size() == 2);
  CHECK(results.sources.front().targets[0].group.empty());
  CHECK(results.sources.front().targets[0].per_cent == 5);
  CHECK(results.sources.front().targets[1].group == "long");
  CHECK(results.sources.front().targets[1].per_cent == 7);
  CHECK(results.records[1].group == "long");
  CHECK(results.records[1].software == "Toy 2.1");
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
  CHECK(codes_of(replaced(kResults, R"("id": "b", "source": "toy")", R"("id": "b", "source": "joy")")) ==
        "G014 G014");  // its group, too
  CHECK(codes_of(replaced(kResults, R"("id": "b")", R"("id": "a")")) == "G004");
  CHECK(codes_of(replaced(kResults, R"("kind": "made up")", R"("kind": "made up", "constants": ["compute"])")) ==
        "P005");
  CHECK(codes_of(replaced(kResults, R"("group": "long")", R"("group": "short")")) == "G014");
  CHECK(codes_of(replaced(kResults, R"({"long": {"step_time": 7}})", R"({"long": {"time": 7}})")) == "P005");
  CHECK(codes_of(replaced(kResults, R"({"long": {"step_time": 7}})", "7")) == "P007");
  CHECK(codes_of(replaced(kResults, R"("microbatches": 4)", R"("microbatche": 4)")) == "P005");
}

TEST_CASE("errors: mean and median of sizes, bias with signs, the worst by size, by group") {
  std::vector<ResultRecord> records(3);
  std::vector<JudgedRecord> judged(3);
  const std::vector<double> errors{0.10, -0.30, 0.05};
  for (std::size_t k = 0; k < 3; ++k) {
    records[k].id = "r" + std::to_string(k);
    records[k].group = k < 2 ? "large" : "small";
    judged[k].record = &records[k];
    judged[k].comparisons = {{Quantity::kStepTime, 1, 1 + errors[k], errors[k]}};
  }
  const ErrorSummary all = summarise(judged, Quantity::kStepTime, "");
  CHECK(all.records == 3);
  CHECK(all.mean_absolute == doctest::Approx(0.15));
  CHECK(all.median_absolute == doctest::Approx(0.10));
  CHECK(all.bias == doctest::Approx(-0.05));
  const ErrorSummary large = summarise(judged, Quantity::kStepTime, "large");
  CHECK(large.records == 2);
  CHECK(large.mean_absolute == doctest::Approx(0.20));
  CHECK(large.median_absolute == doctest::Approx(0.20));
  CHECK(large.bias == doctest::Approx(-0.10));
  CHECK(large.worst == doctest::Approx(-0.30));
  CHECK(large.worst_id == "r1");
  CHECK(summarise(judged, Quantity::kBubble, "").records == 0);
}

TEST_CASE("noise: records with the same flags, by the ratio of their steps") {
  const std::vector<std::string> setups{"a", "b", "a", "c", "b", "a", "d"};
  const std::vector<double> steps{1.0, 2.0, 1.1, 5.0, 3.0, 1.05, 4.0};
  std::vector<ResultRecord> records(7);
  std::vector<const ResultRecord*> list;
  for (std::size_t k = 0; k < 7; ++k) {
    records[k].arguments = {"--times=" + setups[k]};
    records[k].measured = {{Quantity::kStepTime, steps[k]}};
    list.push_back(&records[k]);
  }
  const std::optional<Noise> noise = noise_of(list);
  REQUIRE(noise.has_value());
  REQUIRE(noise->setups.size() == 2);
  CHECK(noise->setups[0].records.size() == 3);
  CHECK(noise->setups[0].ratio == doctest::Approx(1.1));
  CHECK(noise->median == doctest::Approx(1.3));
  CHECK(noise->largest == doctest::Approx(1.5));
  CHECK_FALSE(noise_of({&records[0], &records[1]}).has_value());
  JudgedSource judged;
  CHECK(noise_text(judged, Quantity::kStepTime, 0).empty());
  judged.noise = noise;
  CHECK(noise_text(judged, Quantity::kStepTime, -0.29) == "within noise");
  CHECK(noise_text(judged, Quantity::kStepTime, 0.31).empty());
  CHECK(noise_text(judged, Quantity::kPeakMemory, 0.1).empty());
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
  const std::vector<JudgedSource> judged = judge_results(results, "");
  REQUIRE(judged.size() == 1);
  REQUIRE(judged[0].records.size() == 2);
  // (m + p - 1)(f + b): 3 x 3 ms and 5 x 3 ms.
  CHECK(judged[0].records[0].comparisons[0].predicted == 0.009);
  CHECK(judged[0].records[1].comparisons[0].predicted == 0.015);
  CHECK(judged[0].records[1].comparisons[0].error == doctest::Approx(-0.5));
  // Idle a third of the time, as 2 of 3 slots work.
  CHECK(judged[0].records[0].comparisons[1].predicted == doctest::Approx(1.0 / 3));
  CHECK(judged[0].records[0].comparisons[1].error == doctest::Approx(0.00005).epsilon(0.01));
  CHECK(judge_results(results, "none").empty());
}

TEST_CASE("judged: a record that cannot be predicted says why, and the others stand") {
  const std::string text = replaced(kResults, R"("microbatches": 4)", R"("microbatches": 0)");
  const ResultsFile results = read_results(text, "results.json");
  const std::vector<JudgedSource> judged = judge_results(results, "");
  CHECK(judged[0].records[0].refused.empty());
  CHECK(judged[0].records[1].refused.starts_with("S0"));
  CHECK(judged[0].summaries.front().records == 1);
}

}  // namespace
}  // namespace debubble
