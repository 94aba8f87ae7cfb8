// What the gate found as JUnit XML, which GitLab, Jenkins and most others show: a testsuite per suite, a testcase per
// scenario and metric.
#pragma once

#include <string>

#include "studies/check/result.hpp"

namespace debubble {

// Warnings pass and say so in system-out; what is missing is skipped, or an error where it is required.
[[nodiscard]] std::string junit_xml(const CheckResult& result);

}  // namespace debubble
