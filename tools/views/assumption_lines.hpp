// What a result rests on, for the end of a report.
//
//     assumed (--assumptions shows all 8)
//       default  forward 1 ms per device share; backward 2 ms per device share; ...
//
// Without --assumptions those that a user might want to change: defaults and modelled values with an effect. With it
// all of them, word for word, each with where it came from, so that no default passes for a measurement.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/core/assumption.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string assumption_lines(const std::vector<Assumption>& assumptions, const ViewStyle& style);

// The same in at most so many lines, what is left out being counted.
[[nodiscard]] std::string assumption_lines(const std::vector<Assumption>& assumptions, std::size_t most_lines,
                                           const ViewStyle& style);

// Assumptions in a line or two, where the lists and the JSON hold the whole text.
//
//     published  dgx-h100 bandwidth 370.8 GB/s, latency 936 ns, pcie 50 GB/s, nic 48 GB/s; model llama3-70b; ...
//
// The numbers of a topology are one entry under its name, by the names under which they can be changed; who measured
// or published them is said by `debubble list topologies NAME`, and likewise for models and hardware. Left out is what
// was typed with the topology, whose text is there, and what is at its default and has no effect: a count of 0, a ratio
// of 1, no latency. JSON has them all, word for word.
struct BriefAssumption {
  std::string what;    // "model", or the subject that the amount's keys belong to: "dgx-h100"
  std::string amount;  // "llama3-70b", "bandwidth 370.8 GB/s, latency 936 ns"
  Source source = Source::kDefault;
};

[[nodiscard]] std::vector<BriefAssumption> brief_assumptions(const std::vector<Assumption>& all);

// Those that nobody gave, measured or published, and that change the result: what to look at first when a number
// surprises.
[[nodiscard]] std::vector<Assumption> unsettled(const std::vector<Assumption>& all);

}  // namespace debubble
