// The order of a Perfetto trace: slices of a track as they run, and which arrows leave and arrive at each span. Used by
// perfetto_trace.cpp only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/timeline.hpp"

namespace debubble::trace_detail {

// By what they begin with, then what ends first.
template <typename Thing>
std::vector<std::int32_t> in_running_order(const std::vector<Thing>& things) {
  std::vector<std::int32_t> order(things.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const Thing& first = at(things, a);
    const Thing& second = at(things, b);
    if (first.begin != second.begin) return first.begin < second.begin;
    return first.end != second.end ? first.end < second.end : a < b;
  });
  return order;
}

class SpanArrows {
 public:
  // Those that a Chrome trace shows: both spans take time, and the arrow does not go back.
  explicit SpanArrows(const Timeline& timeline) {
    for (std::size_t i = 0; i < timeline.transfers.size(); ++i) {
      const Transfer& transfer = timeline.transfers[i];
      if (transfer.from_span < 0 || transfer.to_span < 0) continue;
      const Span& from = at(timeline.spans, transfer.from_span);
      const Span& to = at(timeline.spans, transfer.to_span);
      if (from.end <= from.begin || to.end <= to.begin || to.begin < from.begin + (from.end - from.begin) / 2) continue;
      leaving_.emplace_back(transfer.from_span, static_cast<std::int32_t>(i));
      arriving_.emplace_back(transfer.to_span, static_cast<std::int32_t>(i));
    }
    std::sort(leaving_.begin(), leaving_.end());
    std::sort(arriving_.begin(), arriving_.end());
  }

  // Spans in order, each once: take(transfer, whether it leaves).
  template <typename Take>
  void pass(std::int32_t span, const Take& take) {
    for (; leaves_ < leaving_.size() && leaving_[leaves_].first == span; ++leaves_)
      take(leaving_[leaves_].second, true);
    for (; arrives_ < arriving_.size() && arriving_[arrives_].first == span; ++arrives_) {
      take(arriving_[arrives_].second, false);
    }
  }

 private:
  using OfSpan = std::pair<std::int32_t, std::int32_t>;  // span, transfer

  std::vector<OfSpan> leaving_;
  std::vector<OfSpan> arriving_;
  std::size_t leaves_ = 0;
  std::size_t arrives_ = 0;
};

}  // namespace debubble::trace_detail
