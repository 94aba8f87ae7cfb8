// Assumptions as a heading tells them: in a line or two, where the lists and the JSON hold the whole text.
//
//     published  dgx-h100 bandwidth 370.8 GB/s, latency 936 ns, pcie 50 GB/s, nic 48 GB/s; model llama3-70b; ...
//
// The numbers of a topology stand together under its name, by the names under which they can be changed; who measured
// or published them is said by `debubble list topologies NAME`, and likewise for models and hardware. Left out is what
// was typed with the topology, whose text is there, and what is at its default and has no effect: a count of 0, a ratio
// of 1, no latency. JSON has them all, word for word.
#pragma once

#include <vector>

#include "sim/core/stage_costs.hpp"

namespace debubble {

[[nodiscard]] std::vector<Assumption> brief_assumptions(const std::vector<Assumption>& all);

}  // namespace debubble
