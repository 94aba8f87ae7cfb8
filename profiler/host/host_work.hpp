// Work of the host: what the ranges of a training step on a CPU are when read as work, so that the attribution of GPU
// work (profiler/attribution) holds for them as it stands.
//
//     range        aten::linear |---------------------|
//     inside           aten::t    |--|   aten::addmm   |...|
//     work                      ==    ===            ==          own time of aten::linear, three pieces
//                                 ====               .....       of aten::t; of what aten::addmm has inside, ...
//
// A CPU works where it stands, so a range's own time, its duration without that of the ranges inside, is work, and the
// work of all ranges of a step is the step's time, to the nanosecond. Each piece belongs to its range, except
//
//   between two backward nodes   the engine's time belongs to the node that follows
//   in a node with products      views and own time belong to the product that they prepare, the next one of the node
//                                (after the last one: to the last), for they are not there without it
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "profiler/host/host_tree.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct HostWork {
  std::size_t node = 0;  // of the tree: the range that this is counted with
  std::string_view name;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// In order of begin, one thread after the other. Names point into the tree.
[[nodiscard]] std::vector<HostWork> host_work_of(const HostTree& tree);

}  // namespace debubble
