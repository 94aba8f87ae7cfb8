// HostTree: the ranges of one training step as trees, a tree or several for each thread.
//
//     debubble.step:4 |-----------------------------------------------------------|
//       debubble.layer:0 |--------------|
//         aten::linear     |--------|         evaluate_function: AddmmBackward0 |----------|
//           aten::addmm      |----|               AddmmBackward0                 |-------|
//                                                   aten::mm                       |---|
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "profiler/host/host_range.hpp"

namespace debubble {

inline constexpr std::size_t kNoHostRange = std::numeric_limits<std::size_t>::max();

struct HostNode {
  HostRange range;
  std::size_t parent = kNoHostRange;
  std::vector<std::size_t> children;  // in order of time
};

struct HostTree {
  std::vector<HostNode> nodes;     // parents before their children, each thread's by time
  std::vector<std::size_t> roots;  // likewise
  std::int64_t overlaps = 0;       // ranges that do not nest, cut off where the one around them ends
};

// Of ranges in any order. Where one of them is the step's ("debubble.step:N"), what lies outside of its time is left
// out: it is the profiler's own. A layer that outlasts the operator it begins in ends that operator, and an operator
// that outlasts a layer ends with it; neither counts as an overlap.
[[nodiscard]] HostTree host_tree_of(std::vector<HostRange> ranges);

// The range of autograd's engine around a backward node.
[[nodiscard]] bool is_engine_range(std::string_view name);

}  // namespace debubble
