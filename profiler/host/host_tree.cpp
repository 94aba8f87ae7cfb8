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

bool is_ours(const HostRange& range) { return range.name.starts_with("debubble."); }

// Takes the ranges thread by thread, in order of begin.
class HostPlanter {
 public:
  void add(HostRange range) {
    range.end = std::max(range.begin, range.end);
    while (!open_.empty() && has_ended(around(), range)) open_.pop_back();
    // A layer may begin inside of an operator and outlast it: what runs after the last layer begins where that one
    // ends, within a function that checkpoints it. Layers are as they were marked.
    while (!open_.empty() && is_ours(range) && !is_ours(around()) && range.end > around().end) {
      around().end = range.begin;
      open_.pop_back();
    }
    const std::size_t index = tree_.nodes.size();
    HostNode node;
    if (open_.empty()) {
      tree_.roots.push_back(index);
    } else {
      node.parent = open_.back();
      tree_.nodes[open_.back()].children.push_back(index);
      if (range.end > around().end) {
        if (is_ours(range) == is_ours(around())) ++tree_.overlaps;
        range.end = around().end;
      }
    }
    node.range = std::move(range);
    tree_.nodes.push_back(std::move(node));
    open_.push_back(index);
  }

  HostTree take() { return std::move(tree_); }

 private:
  HostRange& around() { return tree_.nodes[open_.back()].range; }

  // An empty range at the begin of another empty one is inside of it.
  static bool has_ended(const HostRange& before, const HostRange& now) {
    if (before.thread != now.thread) return true;
    return now.begin >= before.end && !(now.begin == before.begin && now.end == before.end);
  }

  HostTree tree_;
  std::vector<std::size_t> open_;
};

}  // namespace

bool is_engine_range(std::string_view name) { return name.starts_with(kEngineText); }

HostTree host_tree_of(std::vector<HostRange> ranges) {
  keep_the_step(ranges);
  std::stable_sort(ranges.begin(), ranges.end(), opens_before);
  HostPlanter planter;
  for (HostRange& range : ranges) planter.add(std::move(range));
  return planter.take();
}

}  // namespace debubble
