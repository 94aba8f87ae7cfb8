// Cases: what the gate found as a flat list of single questions, each with one answer. JUnit, Markdown and annotations
// print this list: one case per scenario and metric, one for its prediction, one for a suite that has errors.
#pragma once

#include <string>
#include <vector>

#include "studies/check/result.hpp"

namespace debubble {

struct CheckCase {
  std::string suite;  // its name, or its file where it has none
  std::string file;   // of the suite
  int line = 1;
  std::string scenario;  // empty for the suite as a whole
  std::string question;  // "prediction", "bubble", "run", "errors", ...
  Outcome outcome = Outcome::kPass;
  bool error = false;   // not a finding, but wrong input or what is missing
  std::string message;  // one sentence
  std::string details;  // lines; commands to copy among them
};

[[nodiscard]] std::vector<CheckCase> cases_of(const CheckResult& result);

// "zb-h1: bubble", or the question alone.
[[nodiscard]] std::string title_of(const CheckCase& one);

// What the gate found as JUnit XML, which GitLab, Jenkins and most others show: a testsuite per suite, a testcase per
// scenario and metric. Warnings pass and say so in system-out; what is missing is skipped, or an error where it is
// required.
[[nodiscard]] std::string junit_xml(const CheckResult& result);

}  // namespace debubble
