// The critical path: from the span that ends last, back along the gates to time 0.
#include <algorithm>
#include <cstddef>

#include "sim/analysis/analyse.hpp"
#include "sim/analysis/critical_path.hpp"

namespace debubble {

std::vector<Gate> critical_path(const Timeline& timeline) {
  std::vector<Gate> path;
  if (timeline.spans.empty()) return path;
  const auto latest = std::max_element(timeline.spans.begin(), timeline.spans.end(),
                                       [](const Span& a, const Span& b) { return a.end < b.end; });
  Gate gate{Gate::Kind::kSpan, static_cast<std::int32_t>(latest - timeline.spans.begin())};
  while (gate.kind != Gate::Kind::kStart) {
    path.push_back(gate);
    const auto index = static_cast<std::size_t>(gate.index);
    gate = gate.kind == Gate::Kind::kSpan ? timeline.spans[index].gate : timeline.transfers[index].gate;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

CriticalPath sum_critical_path(const Timeline& timeline) {
  CriticalPath sums;
  Nanoseconds at = 0;
  for (const Gate& gate : critical_path(timeline)) {
    const auto index = static_cast<std::size_t>(gate.index);
    const bool is_span = gate.kind == Gate::Kind::kSpan;
    const Nanoseconds begin = is_span ? timeline.spans[index].begin : timeline.transfers[index].begin;
    const Nanoseconds end = is_span ? timeline.spans[index].end : timeline.transfers[index].end;
    sums.wait += begin - at;
    (is_span ? sums.compute : sums.transfer) += end - begin;
    if (!is_span) ++sums.hops;
    at = end;
  }
  sums.wait += timeline.makespan - at;
  return sums;
}

}  // namespace debubble
