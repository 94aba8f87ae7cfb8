#include "tools/views/check/markdown.hpp"

#include <fmt/format.h>

#include <vector>

#include "tools/views/check/cases.hpp"
#include "tools/views/check/wording.hpp"
#include "tools/views/escape.hpp"

namespace debubble {
namespace {

constexpr std::string_view kHeading = "| result | scenario | question | what |\n|---|---|---|---|\n";

const char* outcome_word(const CheckCase& one) {
  if (one.error && one.outcome == Outcome::kFail) return "**error**";
  switch (one.outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kWarn:
      return "warn";
    case Outcome::kSkipped:
      return "skipped";
    case Outcome::kMissing:
      return "**missing**";
    case Outcome::kFail:
      return "**fail**";
  }
  return "pass";
}

std::string markdown_row(const CheckCase& one) {
  return fmt::format("| {} | {} | {} | {} |\n", outcome_word(one), markdown_escaped(one.scenario),
                     markdown_escaped(one.question), markdown_escaped(one.message));
}

// Commands to copy are shown as code, which needs no escapes but must not hold the fence.
std::string commands(const SuiteResult& suite) {
  std::string text;
  for (const ScenarioResult& scenario : suite.scenarios) {
    if (!scenario.measurement || outcome_of(scenario, suite.accepted) != Outcome::kFail) continue;
    for (const std::string& next : scenario.measurement->next) {
      if (next.find("```") == std::string::npos && next.find('\n') == std::string::npos) text += next + "\n";
    }
  }
  return text.empty() ? text : "To see why:\n\n```sh\n" + text + "```\n\n";
}

std::string markdown_table(const std::vector<CheckCase>& cases, bool passing, std::size_t room) {
  std::string text;
  int left_out = 0;
  for (const CheckCase& one : cases) {
    if ((one.outcome == Outcome::kPass) != passing) continue;
    const std::string line = markdown_row(one);
    if (text.size() + line.size() + kHeading.size() > room) {
      ++left_out;
    } else {
      text += line;
    }
  }
  if (text.empty() && left_out == 0) return {};
  text.insert(0, kHeading);
  if (left_out > 0) text += fmt::format("\n{} more rows do not fit here.\n", left_out);
  return text + "\n";
}

std::string suite_markdown(const SuiteResult& suite, bool accept, std::size_t room) {
  CheckResult single;
  single.accept = accept;
  single.suites = {suite};
  const std::vector<CheckCase> cases = cases_of(single);
  const std::string name = suite.name.empty() ? suite.file : suite.name;
  std::string text = fmt::format("### {}\n\n", markdown_escaped(name));
  text += markdown_table(cases, false, room / 2);
  if (text.size() < room / 2) text += commands(suite);
  const std::string passing = markdown_table(cases, true, room / 4);
  if (!passing.empty()) text += "<details><summary>what passes</summary>\n\n" + passing + "</details>\n\n";
  return text;
}

}  // namespace

std::string check_markdown(const CheckResult& result, std::size_t most) {
  std::string text = fmt::format("## debubble check: {}\n\n", tally_text(tally_of(result)));
  for (const SuiteResult& suite : result.suites) {
    const std::size_t room = (most - text.size()) / 2;
    std::string part = suite_markdown(suite, result.accept, room);
    if (text.size() + part.size() + kHeading.size() > most) return text + "More suites do not fit here.\n";
    text += part;
  }
  return text;
}

}  // namespace debubble
