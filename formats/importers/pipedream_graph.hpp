// PipedreamGraph: a graph.txt as in the file, checked but not yet interpreted.
//
//     node4 -- MaxPool2d(...) -- forward_compute_time=0.756, backward_compute_time=1.148, activation_size=47775744.000,
//              parameter_size=0.000[ -- stage_id=1]                                            (one line)
//     <TAB>node3 -- node4
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/problems/problem_list.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct PipedreamNode {
  std::int64_t number = 0;  // 4 in "node4"
  std::string description;
  Nanoseconds forward = 0;
  Nanoseconds backward = 0;
  Bytes activation = 0;  // sum over the tensors that the module returns
  Bytes parameters = 0;
  bool has_stage = false;               // the line names a stage of some partition; not used
  std::size_t line = 0;                 // in the file, from 1
  std::vector<std::size_t> successors;  // indices into nodes, ascending
  std::size_t predecessors = 0;         // how many

  [[nodiscard]] std::string name() const { return "node" + std::to_string(number); }
  // "Input", "Input0", ...: a source of data, not a part of the model.
  [[nodiscard]] bool is_input() const;
};

struct PipedreamGraph {
  std::vector<PipedreamNode> nodes;  // by ascending number
};

// Reads every line and records its problems; the graph is usable when there are none.
[[nodiscard]] PipedreamGraph parse_pipedream(std::string_view text, ProblemList& problems);

}  // namespace debubble
