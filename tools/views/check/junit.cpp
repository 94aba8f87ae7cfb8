#include "tools/views/check/junit.hpp"

#include <fmt/format.h>

#include <vector>

#include "tools/views/check/cases.hpp"
#include "tools/views/escape.hpp"

namespace debubble {
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
