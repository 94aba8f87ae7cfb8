#include "tools/views/check/text_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "formats/text/shell.hpp"
#include "sim/core/at.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/check/wording.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::size_t kIndent = 9;  // where a scenario's text begins, after its outcome
constexpr std::size_t kMostChanges = 6;

std::string_view outcome_colour(Outcome outcome) {
  constexpr std::array<std::string_view, 5> kColours{kGreen, kYellow, kCyan, kYellow, kRed};  // in the enum's order
  return at(kColours, outcome);
}

// Loud where something is wrong, so that it is found without colour.
std::string label(Outcome outcome) {
  std::string text = to_string(outcome);
  if (outcome != Outcome::kFail && outcome != Outcome::kMissing) return text;
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  return text;
}

Table metrics_table() {
  using Side = Table::Side;
  return Table({{"metric", Side::kLeft},
                {"predicted", Side::kRight},
                {"measured", Side::kRight},
                {"error", Side::kRight},
                {"95 % interval", Side::kLeft},
                {"allowed", Side::kRight},
                {"", Side::kLeft}});
}

class TextView {
 public:
  TextView(const CheckResult& result, const ViewStyle& style) : result_(result), style_(style) {}

  std::string text() {
    for (const SuiteResult& suite : result_.suites) add_suite(suite);
    out_ += paint(style_.color, kBold, tally_text(tally_of(result_))) + "\n";
    name_failures();
    const bool refused = std::any_of(result_.suites.begin(), result_.suites.end(),
                                     [](const SuiteResult& suite) { return !suite.accepted; });
    if (result_.accept && refused) out_ += "no baseline was written: not everything could be predicted\n";
    if (result_.accept && !refused) say_what_follows();
    return out_;
  }

 private:
  // At the end of a long log, which one it was.
  void name_failures() {
    const Tally tally = tally_of(result_);
    if (tally.scenarios < 2) return;
    for (const Outcome wanted : {Outcome::kFail, Outcome::kMissing}) {
      std::string names;
      for (const SuiteResult& suite : result_.suites) {
        for (const ScenarioResult& scenario : suite.scenarios) {
          if (outcome_of(scenario, suite.accepted) != wanted) continue;
          names += (names.empty() ? "" : ", ") + scenario.name;
        }
      }
      if (!names.empty()) paragraph(label(wanted) + ": ", names, label(wanted).size() + 2);
    }
  }

  void say_what_follows() {
    std::string suites;
    for (const SuiteResult& suite : result_.suites) suites += " " + shell_file(suite.file);
    const bool one = result_.suites.size() == 1;
    out_ += one ? "commit the baseline next to its suite" : "commit the baselines next to their suites";
    out_ += "; from now on: debubble check" + suites + "\n";
  }

  void paragraph(std::string_view lead, const std::string& body, std::size_t indent) {
    const auto width = static_cast<std::size_t>(style_.width);
    const std::size_t room = width - std::min(width - 20, indent);
    out_ += paragraph_after(std::string(lead), printable(body), room + indent, indent);
  }
  void line_below(const std::string& body) { paragraph(std::string(kIndent, ' '), body, kIndent); }
  // Commands are copied: never wrapped.
  void command(const std::string& text) { out_ += std::string(kIndent, ' ') + printable(text) + "\n"; }

  void add_suite(const SuiteResult& suite) {
    std::string title = "suite " + (suite.name.empty() ? "" : suite.name + ": ") + suite.file;
    if (!suite.baseline.empty()) title += ", baseline " + suite.baseline;
    for (const std::string& line : wrap(printable(title), static_cast<std::size_t>(style_.width))) {
      out_ += paint(style_.color, kBold, line) + "\n";
    }
    out_ += "\n";
    if (suite.scenarios.empty() && !suite.errors.empty()) out_ += "not looked at: it has errors\n";
    for (const ScenarioResult& scenario : suite.scenarios) add_scenario(scenario, suite);
    add_baseline(suite);
    out_ += "\n";
  }

  static std::string prediction_words(const ScenarioResult& scenario, const SuiteResult& suite) {
    const PredictionResult::State state = scenario.prediction.state;
    using State = PredictionResult::State;
    if (state == State::kSame) return "prediction unchanged";
    if (state == State::kDeadlock) return "deadlock";
    const bool accepted = suite.accepted;
    if (state == State::kNew) return accepted ? "prediction accepted: new" : "prediction not in the baseline";
    if (state == State::kNone) return accepted ? "prediction accepted" : "no baseline yet";
    return fmt::format("{}: {} number{}", accepted ? "prediction accepted" : "prediction changed",
                       scenario.prediction.changes.size(), scenario.prediction.changes.size() == 1 ? "" : "s");
  }

  void add_scenario(const ScenarioResult& scenario, const SuiteResult& suite) {
    const Outcome outcome = outcome_of(scenario, suite.accepted);
    const std::string word = label(outcome);
    std::string body = scenario.name + ": " + prediction_words(scenario, suite);
    if (scenario.measurement) body += "; " + source_text(*scenario.measurement);
    paragraph(paint(style_.color, outcome_colour(outcome), word) + std::string(kIndent - word.size(), ' '), body,
              kIndent);
    add_prediction(scenario.prediction);
    if (scenario.measurement) add_measurement(*scenario.measurement, outcome == Outcome::kFail);
  }

  void add_prediction(const PredictionResult& prediction) {
    if (!prediction.deadlock.empty()) line_below(prediction.deadlock);
    for (std::size_t k = 0; k < prediction.changes.size() && k < kMostChanges; ++k) {
      line_below(change_text(prediction.changes[k]));
    }
    if (prediction.changes.size() > kMostChanges) {
      line_below(fmt::format("and {} more: --format json names all", prediction.changes.size() - kMostChanges));
    }
  }

  void add_measurement(const MeasurementResult& measurement, bool failed) {
    if (!measurement.missing.message.empty()) {
      line_below(fmt::format("not run ({}): {}", measurement.missing.code, measurement.missing.message));
      if (!measurement.missing.help.empty()) line_below(measurement.missing.help);
    }
    const std::string failure = failure_text(measurement);
    for (std::size_t begin = 0; begin < failure.size();) {
      const std::size_t end = std::min(failure.find('\n', begin), failure.size());
      line_below(failure.substr(begin, end - begin));
      begin = end + 1;
    }
    add_metrics(measurement);
    for (const std::string& note : measurement.notes) line_below(note);
    if (!failed) return;
    for (const std::string& next : measurement.next) command(next);
  }

  void add_metrics(const MeasurementResult& measurement) {
    if (measurement.metrics.empty()) return;
    Table table = metrics_table();
    for (const MetricResult& metric : measurement.metrics) {
      const bool fails = metric.verdict == Verdict::kFail;
      table.add_row({metric_name(metric), predicted_text(metric), measured_text(metric), error_text(metric),
                     interval_text(metric, measurement.repetitions), tolerance_text(metric),
                     fails ? "FAIL" : to_string(metric.verdict)});
    }
    if (measurement.repetitions < 2) table.remove_column(4);
    // Wide numbers take what is left of the margin rather than the edge of the terminal.
    const auto width = static_cast<std::size_t>(style_.width);
    const std::size_t natural = table.natural_width();
    const std::size_t indent = natural + kIndent <= width ? kIndent : natural < width ? width - natural : 0;
    out_ += table.text(width, std::min(kIndent, indent));
  }

  void add_baseline(const SuiteResult& suite) {
    const auto has = [&](PredictionResult::State state) {
      return std::any_of(suite.scenarios.begin(), suite.scenarios.end(),
                         [&](const ScenarioResult& scenario) { return scenario.prediction.state == state; });
    };
    for (const std::string& name : suite.gone) {
      const std::string word = suite.accepted ? "gone" : "FAIL";
      paragraph(word + std::string(kIndent - word.size(), ' '),
                name + ": only the baseline has it" + (suite.accepted ? "; taken out" : ""), kIndent);
    }
    if (suite.accepted) {
      out_ += "wrote " + printable(suite.baseline) + "\n";
      return;
    }
    if (suite.rewritten_by_hand) {
      paragraph("FAIL     ", "the baseline holds the same numbers, but not as --accept writes them", kIndent);
    }
    if (result_.accept) return;
    const bool none = has(PredictionResult::State::kNone);
    const bool differs = suite.rewritten_by_hand || !suite.gone.empty() || has(PredictionResult::State::kChanged) ||
                         has(PredictionResult::State::kNew);
    if (!none && !differs) return;
    out_ += none ? "\nto make the baseline: " : "\nif this is meant: ";
    out_ += "debubble check --accept " + shell_file(suite.file) + "\n";
  }

  const CheckResult& result_;
  const ViewStyle& style_;
  std::string out_;
};

}  // namespace

std::string check_text(const CheckResult& result, const ViewStyle& style) { return TextView(result, style).text(); }

}  // namespace debubble
