// Importer of PipeDream's layer graphs (graph.txt of its profiler): times in ms, sizes in bytes, a directed graph.
//
// The graph becomes a chain of layers in the order in which the model ran:
//
//     node1 Input  ->  node2 Conv  ->  node3 ReLU  ->  node4 Concat        Concat takes no time: it joins the layer
//                  \------------------------------------^                  before it, for a cut there would buy nothing
//
//     layers:          | node2 Conv |  node3..node4 ReLU+Concat |
//     boundary bytes:              Conv's (it is needed after the cut, once)
//
// - Input nodes are dropped: their time is data loading, and every stage reads its input data by itself.
// - Order: topological, the smallest node number first; PipeDream numbers modules in the order of their execution.
// - A cut may fall before any node that takes time, inside of branches too. Every prefix of such an order is closed
// under
//   predecessors, which is what PipeDream's own planner cuts at (the antichains of the graph). Keeping whole branches
//   together instead would leave GNMT, whose attention output feeds every decoder layer, with a single decoder layer.
// - A layer's output is what crosses the boundary after it: each tensor that is made before it and needed after it,
// once.
//   A tensor that skips over several boundaries crosses, and counts at, each of them. Nothing leaves the last layer.
// - A layer keeps the outputs of all its nodes for its backward, as PipeDream's planner assumes (Source::kModelled);
// that
//   counts views and in-place results twice, so it is an upper bound. Only whole backward times exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/assumption.hpp"
#include "sim/core/profile.hpp"

namespace debubble {

struct PipedreamImport {
  Profile profile;
  std::vector<std::string> notes;  // what was dropped, merged or assumed, and what looks mismeasured; one sentence each
  int nodes_in_file = 0;
  int nodes_placed = 0;  // equal to nodes_in_file less the inputs
};

// `name` is the file's path: errors begin with it, and the model is called after the folder when the file is graph.txt,
// after the file otherwise. Decimal milliseconds become nanoseconds exactly.
// Throws InputError for anything that is not such a graph: bad syntax, unknown or doubled nodes,
// cycles, impossible numbers; all of the file's problems of one pass (syntax first, then the graph) at once.
[[nodiscard]] PipedreamImport import_pipedream(std::string_view text, const std::string& name);

}  // namespace debubble
