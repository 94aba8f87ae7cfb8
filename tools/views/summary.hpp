// Summary: one run in words and numbers, for people. `simulate` prints heading, Gantt, summary.
//
//     1f1b on 4 devices: 4 stages, 8 microbatches                                                      heading
//       given    devices 4; microbatches 8
//       default  forward 1 ms per device share; backward 2 ms per device share; ...
//
//     step time      33.00 ms; 24.00 ms would be ideal                                                 summary
//     bubble         27.3 % of the step   (bubble_ratio: idle / (devices x step))
//                    37.5 % of the ideal  (bubble_over_ideal: idle / ideal compute)
//     peak memory    4.00 MiB on d0, reached by 0F3 at 3.000 ms: activations 4.00 MiB
//     ...
//     device   busy   idle   fill  drain  ...                                                          device table
//     limit  pipeline fill and drain: ...                                                              advice
//     try    debubble compare -p 4 -m 8
//
// The heading names every assumption under where it came from, so that no default passes for a measurement.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/assumption.hpp"
#include "tools/views/advice.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// What was run, on which assumptions.
[[nodiscard]] std::string heading(const Report& report, const ViewStyle& style);
[[nodiscard]] std::string heading(const std::string& title, const std::vector<Assumption>& assumptions,
                                  const ViewStyle& style);

// The results and, after them, the findings; of a deadlock, the cycle. `context` is for the command that is suggested.
[[nodiscard]] std::string summary(const Report& report, const ViewStyle& style, const AdviceContext& context = {});

}  // namespace debubble
