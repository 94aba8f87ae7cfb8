// Baselines: the same predictions give the same bytes, and every difference has a name.
#include "studies/check/baseline.hpp"

#include "studies/runs/predict.hpp"
#include "tests/check/noisy_run.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using State = PredictionResult::State;

NamedPrediction prediction(const std::string& name, int microbatches = 8) {
  testing::NoisyRun wish;
  wish.microbatches = microbatches;
  wish.repetitions = 1;
  NoProgress silent;
  return {name, simulate_record(testing::noisy_run(wish), silent).result.report};
}

BaselineComparison compare(const std::vector<NamedPrediction>& now, const std::optional<std::string>& accepted) {
  return compare_with_baseline(now, accepted, "b.json");
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(compare({}, text));
    return "";
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().code == "P010");
    return error.diagnostics().front().message;
  }
}

TEST_CASE("a baseline is compared with what wrote it byte for byte") {
  const std::vector<NamedPrediction> now{prediction("a"), prediction("b\n\"|<", 12)};
  const std::string text = baseline_text(now);
  CHECK(text == baseline_text(now));
  const BaselineComparison same = compare(now, text);
  for (const PredictionResult& one : same.predictions) CHECK(one.state == State::kSame);
  CHECK(same.gone.empty());
  CHECK_FALSE(same.rewritten_by_hand);
}

TEST_CASE("a baseline holds neither version nor command line, and a line per device number") {
  const std::string text = baseline_text(std::vector{prediction("a")});
  CHECK_FALSE(contains(text, "command_line"));
  CHECK_FALSE(contains(text, "version"));
  NamedPrediction noted = prediction("a");
  noted.report.findings = {ScheduleNote{"PyTorch refuses this"}};
  const std::string with_note = baseline_text(std::vector{noted});
  CHECK(contains(with_note, "PyTorch refuses this"));
  CHECK_FALSE(contains(with_note, "arguments"));  // a new one changes no prediction
  CHECK(contains(text, "\n        \"makespan_ns\": "));
  CHECK(contains(text, "\n            \"busy_ns\": "));
  CHECK(text.back() == '\n');
}

TEST_CASE("one changed digit is found and named") {
  const std::vector<NamedPrediction> now{prediction("a")};
  std::string text = baseline_text(now);
  const std::string busy = "\"busy_ns\": ";
  text.insert(text.find(busy) + busy.size(), "1");
  const BaselineComparison found = compare(now, text);
  REQUIRE(found.predictions.front().state == State::kChanged);
  REQUIRE(found.predictions.front().changes.size() == 1);
  const NumberChange& change = found.predictions.front().changes.front();
  CHECK(change.number == "devices[0].busy_ns");
  CHECK(change.before == "1" + change.after);
}

TEST_CASE("the run's own numbers come before those of its devices") {
  const BaselineComparison found = compare({prediction("a", 12)}, baseline_text(std::vector{prediction("a", 8)}));
  const std::vector<NumberChange>& changes = found.predictions.front().changes;
  REQUIRE(changes.size() > 10);
  CHECK(changes.front().number == "makespan_ns");
  CHECK(changes.back().number.starts_with("devices[3]."));
}

TEST_CASE("a scenario that is new, or that only the baseline has, is told from one that changed") {
  const std::string text = baseline_text(std::vector{prediction("a"), prediction("b")});
  const BaselineComparison found = compare({prediction("a"), prediction("c")}, text);
  CHECK(found.predictions[0].state == State::kSame);
  CHECK(found.predictions[1].state == State::kNew);
  CHECK(found.gone == std::vector<std::string>{"b"});
  CHECK(compare({prediction("a")}, std::nullopt).predictions.front().state == State::kNone);
}

TEST_CASE("the same numbers in other bytes are not the baseline") {
  const std::vector<NamedPrediction> now{prediction("a"), prediction("b")};
  CHECK(compare(now, baseline_text(now) + "\n").rewritten_by_hand);
  const std::vector<NamedPrediction> turned{now[1], now[0]};
  CHECK(compare(now, baseline_text(turned)).rewritten_by_hand);
}

TEST_CASE("what is not a baseline is refused") {
  CHECK(refusal("<<<<<<< HEAD") == "this is not a baseline: it is not valid JSON (a merge conflict?)");
  CHECK(refusal("{}") == "this is not a baseline: its schema is not \"debubble.baseline/1\"");
  CHECK(refusal("[1]") == "this is not a baseline: its schema is not \"debubble.baseline/1\"");
  CHECK(refusal(R"({"schema": "debubble.baseline/1"})") == "this is not a baseline: it has no list of scenarios");
  CHECK(refusal(R"({"schema": "debubble.baseline/1", "scenarios": [{"name": "a"}]})") ==
        "this is not a baseline: a scenario lacks its name or prediction");
  const std::string twice =
      R"({"schema": "debubble.baseline/1", "scenarios": [{"name": "a", "prediction": {}}, {"name": "a", "prediction": {}}]})";
  CHECK(refusal(twice) == "this is not a baseline: a scenario appears twice");
}

TEST_CASE("only a baseline, whole or spoilt, is overwritten") {
  CHECK(may_replace(baseline_text(std::vector{prediction("a")})));
  CHECK(may_replace(""));
  CHECK(may_replace("{\n  \"schema\": \"debubble.baseline/1\",\n<<<<<<< HEAD\n"));
  CHECK_FALSE(may_replace("int main() {}"));
  CHECK_FALSE(is_baseline("{"));
  CHECK(is_baseline(baseline_text(std::vector{prediction("a")})));
}

}  // namespace
}  // namespace debubble
