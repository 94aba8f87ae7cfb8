#include "tools/views/check/cases.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "formats/text/shell.hpp"
#include "sim/core/numbers.hpp"
#include "tools/views/check/wording.hpp"
#include "tools/views/escape.hpp"

namespace debubble {
namespace {

constexpr std::size_t kFewChanges = 3;
constexpr std::size_t kManyChanges = 200;

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

Outcome outcome_of_verdict(Verdict verdict) {
  if (verdict == Verdict::kFail) return Outcome::kFail;
  return verdict == Verdict::kWarn ? Outcome::kWarn : Outcome::kPass;
}

class CaseList {
 public:
  explicit CaseList(const SuiteResult& suite) : suite_(suite) {}

  std::vector<CheckCase> make() {
    for (const Diagnostic& error : suite_.errors) add_error(error);
    for (const ScenarioResult& scenario : suite_.scenarios) {
      add_prediction(scenario);
      if (scenario.measurement) add_measurement(scenario, *scenario.measurement);
    }
    add_baseline();
    return std::move(cases_);
  }

 private:
  CheckCase& add(const std::string& scenario, int line, const std::string& question, Outcome outcome) {
    CheckCase one;
    one.suite = suite_.name.empty() ? suite_.file : suite_.name;
    one.file = suite_.file;
    one.line = line;
    one.scenario = scenario;
    one.question = question;
    one.outcome = outcome;
    return cases_.emplace_back(std::move(one));
  }

  void add_error(const Diagnostic& error) {
    CheckCase& one = add("", line_of(error.place), "error " + error.code, Outcome::kFail);
    one.error = true;
    one.message = error.message + " (" + error.place + ")";
    one.details = to_string(error);
  }

  // "ci.suite.json#/scenarios/3/live": where the fourth scenario begins.
  [[nodiscard]] int line_of(const std::string& place) const {
    const std::string lead = suite_.file + "#/scenarios/";
    if (!place.starts_with(lead)) return 1;
    std::string_view rest = std::string_view(place).substr(lead.size());
    const auto index = take_whole<std::size_t>(rest);
    return index && *index < suite_.lines.size() ? suite_.lines[*index] : 1;
  }

  [[nodiscard]] std::string accept_command() const { return "debubble check --accept " + shell_file(suite_.file); }

  void add_prediction(const ScenarioResult& scenario) {
    const PredictionResult& prediction = scenario.prediction;
    const bool fine = prediction.state == PredictionResult::State::kSame || suite_.accepted;
    CheckCase& one = add(scenario.name, scenario.line, "prediction", fine ? Outcome::kPass : Outcome::kFail);
    one.message = prediction_sentence(prediction, kFewChanges);
    if (fine) return;
    if (prediction.state == PredictionResult::State::kDeadlock) return;
    for (std::size_t k = 0; k < prediction.changes.size() && k < kManyChanges; ++k) {
      one.details += change_text(prediction.changes[k]) + "\n";
    }
    one.details += "if this is meant: " + accept_command();
  }

  void add_measurement(const ScenarioResult& scenario, const MeasurementResult& measurement) {
    using State = MeasurementResult::State;
    if (measurement.state == State::kMissing) {
      const Outcome outcome = scenario.required ? Outcome::kMissing : Outcome::kSkipped;
      CheckCase& one = add(scenario.name, scenario.line, "run", outcome);
      one.error = scenario.required;
      one.message = "not run: " + measurement.missing.message;
      one.details = to_string(measurement.missing);
    } else if (measurement.state == State::kStuck) {
      CheckCase& one = add(scenario.name, scenario.line, "run", Outcome::kFail);
      one.details = failure_text(measurement);
      one.message = one.details.substr(0, one.details.find('\n'));
      one.details += "\n" + joined_lines(measurement.next);
    }
    for (const MetricResult& metric : measurement.metrics) {
      CheckCase& one = add(scenario.name, scenario.line, to_string(metric.kind), outcome_of_verdict(metric.verdict));
      one.message = metric_sentence(metric, measurement.repetitions);
      one.details = source_text(measurement);
      if (!measurement.notes.empty()) one.details += "\n" + joined_lines(measurement.notes);
      if (metric.verdict == Verdict::kFail) one.details += "\n" + joined_lines(measurement.next);
    }
  }

  void add_baseline() {
    if (suite_.accepted) return;
    for (const std::string& name : suite_.gone) {
      CheckCase& one = add(name, 1, "prediction", Outcome::kFail);
      one.message = "only the baseline has this scenario";
      one.details = "if this is meant: " + accept_command();
    }
    if (!suite_.rewritten_by_hand) return;
    CheckCase& one = add("", 1, "baseline", Outcome::kFail);
    one.message = "the baseline holds the same numbers, but not as --accept writes them";
    one.details = accept_command();
  }

  const SuiteResult& suite_;
  std::vector<CheckCase> cases_;
};

}  // namespace

std::vector<CheckCase> cases_of(const CheckResult& result) {
  std::vector<CheckCase> cases;
  for (const SuiteResult& suite : result.suites) {
    for (CheckCase& one : CaseList(suite).make()) cases.push_back(std::move(one));
  }
  return cases;
}

std::string title_of(const CheckCase& one) {
  return one.scenario.empty() ? one.question : one.scenario + ": " + one.question;
}

namespace {

struct Counts {
  int tests = 0;
  int failures = 0;
  int errors = 0;
  int skipped = 0;

  void add(const CheckCase& one) {
    ++tests;
    if (one.error) {
      ++errors;
    } else if (one.outcome == Outcome::kFail) {
      ++failures;
    } else if (one.outcome == Outcome::kSkipped) {
      ++skipped;
    }
  }
  [[nodiscard]] std::string attributes() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests, failures, errors, skipped);
  }
};

std::string element(const char* name, const CheckCase& one) {
  return fmt::format("      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n", name, xml_escaped(one.message),
                     xml_escaped(one.question), xml_escaped(one.details));
}

std::string testcase(const CheckCase& one) {
  std::string inside;
  if (one.error) {
    inside = element("error", one);
  } else if (one.outcome == Outcome::kFail) {
    inside = element("failure", one);
  } else if (one.outcome == Outcome::kSkipped) {
    inside = fmt::format("      <skipped message=\"{}\"/>\n", xml_escaped(one.message));
  } else {
    const char* lead = one.outcome == Outcome::kWarn ? "warning: " : "";
    inside = fmt::format("      <system-out>{}{}</system-out>\n", lead, xml_escaped(one.message));
  }
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{}\">\n{}    </testcase>\n",
                     xml_escaped(one.suite), xml_escaped(title_of(one)), xml_escaped(one.file), one.line, inside);
}

}  // namespace

std::string junit_xml(const CheckResult& result) {
  Counts all;
  std::string body;
  for (const SuiteResult& suite : result.suites) {
    CheckResult single;
    single.accept = result.accept;
    single.suites = {suite};
    Counts counts;
    std::string cases;
    for (const CheckCase& one : cases_of(single)) {
      counts.add(one);
      all.add(one);
      cases += testcase(one);
    }
    const std::string name = suite.name.empty() ? suite.file : suite.name;
    body +=
        fmt::format("  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n", xml_escaped(name), counts.attributes(), cases);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"debubble check\" {}>\n{}</testsuites>\n",
      all.attributes(), body);
}

}  // namespace debubble
