// A diff for people.
//
//     1f1b on 4 devices, 8 microbatches: predicted and measured
//       predicted  run.json, simulated from its own schedule, costs and links
//       measured   run.json, cpu, wall clock; iteration 4 of 10, the median step
//       clocks     one clock
//       matched    ops 64/64, transfers 48/48
//
//                    predicted   measured        gap             p10 .. p90
//     step            33.00 ms   35.40 ms   +2.400 ms    +7.3 %  ...
//     bubble/step       27.3 %     29.1 %    +1.8 pp
//     ...
//     gap explained
//       +2.400 ms  F of stage 2 takes 1.300 ms on average, predicted 1.000 ms (8 ops on device 2)
#pragma once

#include <string>
#include <vector>

#include "studies/diff/diff.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// `written` names the files that were written as well, `next` is the command to suggest.
[[nodiscard]] std::string diff_view(const Diff& diff, const ViewStyle& style, const std::vector<std::string>& written,
                                    const std::string& next);

}  // namespace debubble
