// Summary: one run in words and numbers, for people. `simulate` prints headline, Gantt, summary, assumptions.
//
//     1f1b on 4 devices: 4 stages, 8 microbatches                                                      headline
//     33.00 ms per step, 27.3 % bubble
//
//     step time      33.00 ms; 24.00 ms would be ideal                                                 summary
//     bubble         27.3 % of the step   (bubble_ratio: idle / (devices x step))
//                    37.5 % of the ideal  (bubble_over_ideal: idle / ideal compute)
//     peak memory    4.00 MiB on d0, reached by 0F3 at 3.000 ms: activations 4.00 MiB
//     critical path  33.00 ms compute, 6 hops between devices
//
//     limit  pipeline fill and drain: ...                                                              advice
//     try    debubble compare -p 4 -m 8
//
//     p2p            48 messages                                                                       details
//
//     device   busy   idle   fill  drain  ...                                                          device table
//
//     assumed (--assumptions shows all 8)                                                     assumption_lines.hpp
//       default  forward 1 ms per device share; ...
//
// Of a run that is out of memory, the error and what would make it fit stand in place of the advice.
#pragma once

#include <string>

#include "sim/analysis/report.hpp"
#include "tools/views/advice.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// What was run and, where there is a result, the answer in a line.
[[nodiscard]] std::string headline(const Report& report, const ViewStyle& style);

// Its two parts: "1f1b on 4 devices: 4 stages, 8 microbatches", "33.00 ms per step, 27.3 % bubble". The second is of a
// report with a result.
[[nodiscard]] std::string schedule_title(const ScheduleFacts& facts);
[[nodiscard]] std::string run_verdict(const Report& report);

// A title in as many lines as it takes.
[[nodiscard]] std::string title_lines(const std::string& title, const ViewStyle& style);

// The results and findings; of a deadlock, the cycle. `context` is for the command that is suggested.
[[nodiscard]] std::string summary(const Report& report, const ViewStyle& style, const AdviceContext& context = {});

}  // namespace debubble
