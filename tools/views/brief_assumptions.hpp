// Assumptions in a line or two, where the lists and the JSON hold the whole text.
//
//     published  dgx-h100 bandwidth 370.8 GB/s, latency 936 ns, pcie 50 GB/s, nic 48 GB/s; model llama3-70b; ...
//
// The numbers of a topology are one entry under its name, by the names under which they can be changed; who measured
// or published them is said by `debubble list topologies NAME`, and likewise for models and hardware. Left out is what
// was typed with the topology, whose text is there, and what is at its default and has no effect: a count of 0, a ratio
// of 1, no latency. JSON has them all, word for word.
#pragma once

#include <string>
#include <vector>

#include "sim/core/assumption.hpp"

namespace debubble {

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
