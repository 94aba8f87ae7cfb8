// Importers of the layer graphs that two planners of Microsoft's Fiddle project read, as JSON: dnn-partitioning
// (Tarnawski et al., Efficient Algorithms for Device Placement of DNN Graph Operators, NeurIPS 2020) and Piper
// (Tarnawski et al., Piper: Multidimensional Planner for DNN Parallelization, NeurIPS 2021). Which of them it is
// follows from the keys: `maxFPGAs`, or `maxDevices`.
//
//     dnn-partitioning   a training graph: every forward node has a backward node of the same colorClass; fpgaLatency
//                        in ms is the accelerator's, size what a node holds in bytes, an edge's size what it sends
//     piper              timePerSample in seconds is forward and backward of one microbatch; one device without tensor
//                        parallelism ("1") and without recomputation ("vanilla") is taken
//
// The graph becomes a chain by the rules of PipeDream's graphs (formats/importers/pipedream.hpp): in execution order, a
// layer's output what crosses the boundary after it.
//  - dnn-partitioning: a node's output is the largest of its edges, its weights are the rest of its size. The last node
//    has no edge: all of its size counts as weights. Mirrored edges of the backward are not needed. CPU times are
//    dropped.
//  - piper: forward is a third of the time, backward two thirds: the file does not tell them apart. Weights
//    and activations in flight are the file's; memoryUsageB is dropped. Nodes that take no time, hold no weights and
//    follow none are inputs. Tensor-parallel times and what they exchange are dropped.
#pragma once

#include <string>
#include <string_view>

#include "formats/importers/pipedream.hpp"

namespace debubble {

// `name` is the file's path. Throws InputError with all problems of one pass: P002 to P022 for JSON that is no such
// graph, G017 for cycles, P016 without layers.
[[nodiscard]] PipedreamImport import_partitioning(std::string_view text, const std::string& name);

}  // namespace debubble
