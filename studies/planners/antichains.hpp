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

#include "formats/importers/pipedream_graph.hpp"
#include "studies/planners/job.hpp"

namespace debubble {

// Layers and cuts of the job, in a topological order of the states; no devices. A layer is what its state adds to the
// layer before it, so its numbers may be negative. Throws InputError Z003 for a graph without nodes, with a cycle or
// with more than 2,000 states (inception_v3 has 221,564).
[[nodiscard]] PlannerJob pipedream_states(const PipedreamGraph& graph, bool as_published = false);

}  // namespace debubble
