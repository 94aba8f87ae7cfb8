// `debubble diff --log`: a training log of Megatron-LM beside what its own arguments predict.
#pragma once

#include <string>

#include "studies/diff/log_diff.hpp"
#include "tools/output/output.hpp"

namespace debubble {

// Writes the comparison to `output` and commits it. `tolerance` as typed, "": nothing is judged. Returns the exit
// status; throws InputError: what make_log_diff and parse_tolerance throw.
int diff_log(const LogDiffRequest& request, const std::string& tolerance, const std::string& command_line,
             Output& output);

}  // namespace debubble
