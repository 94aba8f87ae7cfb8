// What the gate found as GitHub's annotations: a line of the suite file, marked in the pull request.
//
//     ::error file=ci/nightly.suite.json,line=12,title=debubble%3A zb-h1::bubble: 27.27 %25 predicted, 29.40 %25 ...
#pragma once

#include <string>

#include "studies/check/result.hpp"

namespace debubble {

// One line per scenario that does not pass: error, warning, or notice for what was skipped. `workspace` is the
// checkout's folder (GITHUB_WORKSPACE), from which files are named; may be empty.
[[nodiscard]] std::string github_annotations(const CheckResult& result, const std::string& workspace);

// Appends `markdown` to the file of the job's summary (GITHUB_STEP_SUMMARY) in one piece, as far as the 1 MiB allow
// that GitHub takes. Throws InputError C051 when it cannot.
void append_step_summary(const std::string& file, const std::string& markdown);

}  // namespace debubble
