// Which arrows of a Perfetto trace leave and arrive at each span. Used by perfetto_trace.cpp only.
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

  // As in a Chrome trace it does not go back; unlike there it may end on spans of no length, for it is bound to them
  // and not to their time.
  static bool is_shown(const Timeline& timeline, const Transfer& transfer) {
    if (transfer.from_span < 0 || transfer.to_span < 0) return false;
    const Span& from = at(timeline.spans, transfer.from_span);
    const Span& to = at(timeline.spans, transfer.to_span);
    return to.begin >= from.begin + (from.end - from.begin) / 2;
  }

  BySpan leaving_;
  BySpan arriving_;
};

}  // namespace debubble::trace_detail
