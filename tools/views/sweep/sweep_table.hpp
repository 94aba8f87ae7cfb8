// A sweep for people: how its rows ended, and a table of the best of them.
//
//     sweep  24 rows: 18 ran, 6 did not
//     best by throughput
//     row  --schedule  --microbatches      step  bubble ...
//       7  zb-h1                   32  51.00 ms  ...
//     did not run
//     F040  4 rows  out of memory: ...
#pragma once

#include <string>

#include "studies/sweep/block.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// `sum`: what came of all rows that are done. `merit`: the word of --best.
[[nodiscard]] std::string sweep_table(const SweepBlock& sum, const SweepSpace& space, std::string_view merit,
                                      const ViewStyle& style);

}  // namespace debubble
