#include "profiler/host/host_records.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "profiler/host/host_work.hpp"

namespace debubble {
namespace {

struct HostMoment {
  Nanoseconds time = 0;
  std::size_t node = 0;
  bool opens = false;
};

// Depth first, as the thread lived it, so that a stable sort by time keeps the nesting.
void add_host_moments(const HostTree& tree, std::size_t index, std::vector<HostMoment>& moments) {
  const HostNode& node = tree.nodes[index];
  moments.push_back({node.range.begin, index, true});
  for (const std::size_t child : node.children) add_host_moments(tree, child, moments);
  moments.push_back({node.range.end, index, false});
}

std::vector<HostMoment> moments_of(const HostTree& tree) {
  std::vector<HostMoment> moments;
  for (const std::size_t root : tree.roots) add_host_moments(tree, root, moments);
  std::stable_sort(moments.begin(), moments.end(),
                   [](const HostMoment& a, const HostMoment& b) { return a.time < b.time; });
  return moments;
}

Nanoseconds begin_of(const HostTree& tree) {
  Nanoseconds begin = tree.nodes.front().range.begin;
  for (const std::size_t root : tree.roots) begin = std::min(begin, tree.nodes[root].range.begin);
  return begin;
}

RangePush pushed(const HostRange& range, std::uint64_t number) {
  return {number, range.thread, range.begin, range.name, range.sequence, range.forward_thread, range.sizes};
}

}  // namespace

void HostRecords::step(std::vector<HostRange> ranges, bool slowed) {
  HostTree tree = host_tree_of(std::move(ranges));
  if (tree.roots.empty()) return;
  const Nanoseconds begin = begin_of(tree);
  const Nanoseconds late = std::max<Nanoseconds>(0, now_ - begin);
  for (HostNode& node : tree.nodes) {
    node.range.begin += late;
    node.range.end += late;
    now_ = std::max(now_, node.range.end);
  }
  thread_ = tree.nodes[tree.roots.front()].range.thread;
  if (slowed) mark_slowed(begin + late, now_);
  const std::vector<std::uint64_t> numbers = push_all(tree);
  for (const HostWork& piece : host_work_of(tree)) {
    const std::uint32_t thread = tree.nodes[piece.node].range.thread;
    ++pieces_;
    sink_.on(LinkRecord{pieces_, numbers[piece.node]});
    sink_.on(LaunchRecord{pieces_, thread, piece.begin, piece.begin});
    KernelRecord record;
    record.correlation = pieces_;
    record.stream = thread;
    record.begin = piece.begin;
    record.end = piece.end;
    record.name = piece.name;
    sink_.on(record);
  }
  if (tree.overlaps > 0) sink_.on(LossRecord{"host ranges that did not nest", tree.overlaps});
}

// Returns the numbers of the ranges in the stream.
std::vector<std::uint64_t> HostRecords::push_all(const HostTree& tree) {
  std::vector<std::uint64_t> numbers(tree.nodes.size(), 0);
  for (const HostMoment& moment : moments_of(tree)) {
    const HostRange& range = tree.nodes[moment.node].range;
    if (moment.opens) {
      numbers[moment.node] = ++ranges_;
      sink_.on(pushed(range, ranges_));
    } else {
      sink_.on(RangePop{range.thread, moment.time});
    }
  }
  return numbers;
}

void HostRecords::bare_step(std::int64_t number, Nanoseconds duration, bool paused, bool slowed) {
  const Nanoseconds begin = now_ + 1;
  now_ = begin + std::max<Nanoseconds>(0, duration);
  if (slowed) mark_slowed(begin, now_);
  if (paused) sink_.on(SwitchRecord{begin, false});
  const std::string text = "debubble.step:" + std::to_string(number);
  sink_.on(pushed({text, "", begin, now_, -1, thread_, 0}, ++ranges_));
  sink_.on(RangePop{thread_, now_});
  if (paused) sink_.on(SwitchRecord{now_, true});
}

void HostRecords::mark_slowed(Nanoseconds begin, Nanoseconds end) {
  sink_.on(OverheadRecord{OverheadKind::kCounting, thread_, begin, end});
}

}  // namespace debubble
