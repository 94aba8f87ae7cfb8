// Diagnostics as a compiler prints them.
//
//     error[P004]: "median_ns" must be a whole number of nanoseconds, at least 0; got -5
//       --> bert.json#/layers/3/forward/median_ns
//       = help: durations are integers in nanoseconds: 1.5 ms is 1500000
//
// Not wrapped at the width: places and messages are searched for and copied.
#pragma once

#include <span>
#include <string>

#include "sim/analysis/report.hpp"
#include "sim/core/error.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// All of them, one after the other; with more than one, a last line counts them: "3 errors".
// Without colour the text of one is that of to_string(Diagnostic).
[[nodiscard]] std::string diagnostics_view(std::span<const Diagnostic> diagnostics, const ViewStyle& style);

// What was found about a run: "warning[M030]: ...", one line each.
[[nodiscard]] std::string findings_view(const Report& report, const ViewStyle& style);

}  // namespace debubble
