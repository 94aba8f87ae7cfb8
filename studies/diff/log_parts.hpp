// Parts of make_log_diff. Internal to studies/diff.
#pragma once

#include "studies/diff/log_diff.hpp"
#include "studies/diff/logged_run.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

// Sets `bubble` and `bubbles`, where the log's timers say them.
void add_bubbles(const LoggedRun& run, const Simulated& predicted, LogDiff& diff);

// What was left out or lost of the log, and what the prediction does not know.
void add_log_notes(const LoggedRun& run, LogDiff& diff);

}  // namespace debubble
