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
  explicit SpanArrows(const Timeline& timeline)
      : leaving_(timeline, [](const Transfer& transfer) { return transfer.from_span; }),
        arriving_(timeline, [](const Transfer& transfer) { return transfer.to_span; }) {}

  // take(transfer, whether it leaves) for each of a span.
  template <typename Take>
  void pass(std::int32_t span, const Take& take) const {
    leaving_.pass(span, [&](std::int32_t transfer) { take(transfer, true); });
    arriving_.pass(span, [&](std::int32_t transfer) { take(transfer, false); });
  }

 private:
  // Transfers by the span at one of their ends, in order.
  class BySpan {
   public:
    template <typename End>
    BySpan(const Timeline& timeline, const End& end_of) : first_(timeline.spans.size() + 1, 0) {
      for (const Transfer& transfer : timeline.transfers) {
        if (is_shown(timeline, transfer)) ++at(first_, end_of(transfer));
      }
      std::partial_sum(first_.begin(), first_.end(), first_.begin());
      transfers_.resize(to_index(first_.back()));
      for (std::size_t i = timeline.transfers.size(); i-- > 0;) {
        const Transfer& transfer = timeline.transfers[i];
        if (is_shown(timeline, transfer)) at(transfers_, --at(first_, end_of(transfer))) = static_cast<std::int32_t>(i);
      }
    }

    template <typename Take>
    void pass(std::int32_t span, const Take& take) const {
      for (std::int32_t i = at(first_, span); i < at(first_, span + 1); ++i) take(at(transfers_, i));
    }

   private:
    std::vector<std::int32_t> first_;  // by span: where its transfers begin
    std::vector<std::int32_t> transfers_;
  };

  // As in a Chrome trace: both spans take time, and the arrow does not go back.
  static bool is_shown(const Timeline& timeline, const Transfer& transfer) {
    if (transfer.from_span < 0 || transfer.to_span < 0) return false;
    const Span& from = at(timeline.spans, transfer.from_span);
    const Span& to = at(timeline.spans, transfer.to_span);
    return from.end > from.begin && to.end > to.begin && to.begin >= from.begin + (from.end - from.begin) / 2;
  }

  BySpan leaving_;
  BySpan arriving_;
};

}  // namespace debubble::trace_detail
