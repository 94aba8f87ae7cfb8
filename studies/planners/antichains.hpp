// A PipeDream graph as the states that its optimizer plans over: antichains, each standing for all nodes up to it.
//
//     node2 -> node3 -> node5         states: {2} {3} {3,4} {5}      what {3,4} stands for: 2, 3 and 4
//        \---> node4 ----^
//
// After the original (optimizer_graph_hierarchical.py and graph.py of msr-fiddle/pipedream, commit 7db6a1c): input
// nodes and unused __getitem__ sinks are dropped; from the first source on, every next antichain replaces one node by a
// successor, extended by the nodes whose output is still needed. A stage may end with a state and begin behind any
// state that precedes it, whose output is the sum of the nodes' that are needed behind it. As published it also counts
// nodes that only another node of the same antichain needs, which do not cross.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "studies/planners/job.hpp"

namespace debubble {

// A node of graph.txt, as PipeDream's profiler writes it.
struct PipedreamNode {
  int number = 0;  // 4 in "node4"
  std::string description;
  Nanoseconds forward = 0;
  Nanoseconds backward = 0;
  Bytes activation = 0;  // of all tensors that the module returns
  Bytes parameters = 0;
  std::vector<std::size_t> successors;  // indices into nodes, ascending

  [[nodiscard]] std::string name() const { return "node" + std::to_string(number); }
  // "Input", "Input0", ...: a source of data, not a part of the model.
  [[nodiscard]] bool is_input() const;
};

struct PipedreamGraph {
  std::vector<PipedreamNode> nodes;  // in the order of their numbers
};

// Layers and cuts of the job, in a topological order of the states; no devices. A layer is what its state adds to the
// layer before it, so its numbers may be negative. Throws InputError Z003 for a graph without nodes, with a cycle or
// with more than 2,000 states (inception_v3 has 221,564).
[[nodiscard]] PlannerJob pipedream_states(const PipedreamGraph& graph, bool as_published = false);

}  // namespace debubble
