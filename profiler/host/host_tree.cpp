#include "profiler/host/host_tree.hpp"

#include <algorithm>
#include <utility>

namespace debubble {
namespace {

constexpr std::string_view kStepText = "debubble.step:";
constexpr std::string_view kEngineText = "autograd::engine::evaluate_function: ";

// Only a step's range says where the step begins and ends.
void keep_the_step(std::vector<HostRange>& ranges) {
  const auto step = std::find_if(ranges.begin(), ranges.end(),
                                 [](const HostRange& range) { return range.name.starts_with(kStepText); });
  if (step == ranges.end()) return;
  const Nanoseconds begin = step->begin;
  const Nanoseconds end = step->end;
  std::erase_if(ranges, [&](const HostRange& range) { return range.begin < begin || range.begin >= end; });
}

bool opens_before(const HostRange& a, const HostRange& b) {
  if (a.thread != b.thread) return a.thread < b.thread;
  return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
}

}  // namespace

bool is_engine_range(std::string_view name) { return name.starts_with(kEngineText); }

HostTree host_tree_of(std::vector<HostRange> ranges) {
  keep_the_step(ranges);
  std::stable_sort(ranges.begin(), ranges.end(), opens_before);
  HostTree tree;
  std::vector<std::size_t> open;
  for (HostRange& range : ranges) {
    range.end = std::max(range.begin, range.end);
    while (!open.empty()) {
      const HostRange& around = tree.nodes[open.back()].range;
      if (around.thread == range.thread && range.begin < around.end) break;
      // Nothing lasts less than the clock can tell: an empty range at the end of another one is still inside.
      if (around.thread == range.thread && range.end == around.end && range.begin == around.begin) break;
      open.pop_back();
    }
    const std::size_t index = tree.nodes.size();
    HostNode node;
    if (open.empty()) {
      tree.roots.push_back(index);
    } else {
      node.parent = open.back();
      HostNode& around = tree.nodes[open.back()];
      around.children.push_back(index);
      if (range.end > around.range.end) {
        range.end = around.range.end;
        ++tree.overlaps;
      }
    }
    node.range = std::move(range);
    tree.nodes.push_back(std::move(node));
    open.push_back(index);
  }
  return tree;
}

}  // namespace debubble
