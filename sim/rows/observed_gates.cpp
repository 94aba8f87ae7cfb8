#include "sim/rows/observed_gates.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/rows/joined_exchanges.hpp"
#include "sim/rows/posted_receives.hpp"
#include "sim/rows/transfer_order.hpp"

namespace debubble {

namespace {

class GateFinder {
 public:
  GateFinder(Timeline& timeline, const OpIndex& ops, P2p p2p) : timeline_(timeline), ops_(ops) {
    if (!holds_both_lanes(p2p)) return;
    constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();
    for (auto& ranks : rank_) ranks.assign(to_index(ops.size()), kLast);
    std::int32_t rank = 0;
    for (const Placed& placed : transfer_order(ops, p2p)) at(rank_[placed.transfer ? 1 : 0], placed.op) = rank++;
  }

  // Compute never waits for a send: a span waits for its lane or for an input that came later.
  void overlapped() {
    for (Transfer& transfer : timeline_.transfers) transfer.gate = {Gate::Kind::kSpan, transfer.from_span};
    const auto inputs = by_user();
    for (std::size_t k = 0; k < timeline_.spans.size(); ++k) {
      timeline_.spans[k].gate = before(k);
      for (const std::int32_t input : inputs[k]) wait_for(timeline_.spans[k], input);
    }
  }

  // A transfer waited for the span in front of its receive, too; a span for whole exchanges where they are joined.
  void posted(P2p p2p) {
    overlapped();
    const SpanPosting posting = span_posting(ops_, p2p, timeline_);
    for (std::size_t k = 0; k < posting.in_front.size(); ++k) {
      Transfer& each = timeline_.transfers[k];
      const Gate gate{Gate::Kind::kSpan, posting.in_front[k]};
      if (gate.index >= 0 && end_of(gate) > end_of(each.gate) && fits(gate, each.begin)) each.gate = gate;
    }
    for (const auto& [span, transfer] : posting.awaited) wait_for(at(timeline_.spans, span), transfer);
  }

  // Each lane is held by one cell or transfer after another; the last one gates the next.
  void blocking() {
    std::vector<Lane> lanes(to_index(timeline_.devices));
    for (const Event& event : events()) {
      if (event.is_transfer) {
        hold(lanes, event.index);
        continue;
      }
      Span& span = at(timeline_.spans, event.index);
      Lane& lane = at(lanes, span.device);
      const bool fits = !timeline_.measured || end_of(lane.last) <= span.begin;
      span.gate = fits ? lane.last : before(to_index(event.index));
      lane = {{Gate::Kind::kSpan, event.index}, span.end};
    }
  }

  // Between two slots of a device is one exchange: the sends of the first and the receives of the second.
  void coupled() {
    const SpanSlots slots = slots_of_spans(ops_.schedule(), timeline_, spans_by_device());
    std::vector<std::vector<std::int32_t>> exchange(timeline_.spans.size());  // by the span after it
    for (std::size_t k = 0; k < timeline_.transfers.size(); ++k) {
      Transfer& each = timeline_.transfers[k];
      const std::int32_t last = at(slots.last, each.from_span);
      const std::int32_t user = at(slots.received, each.to_span);
      const bool whole = fits({Gate::Kind::kSpan, last}, each.begin);  // a measured run may send earlier
      const Gate sender{Gate::Kind::kSpan, whole ? last : each.from_span};
      const Gate receiver = before(to_index(user));
      each.gate = end_of(receiver) > end_of(sender) && fits(receiver, each.begin) ? receiver : sender;
      const auto index = static_cast<std::int32_t>(k);
      at(exchange, user).push_back(index);
      const std::size_t next = to_index(last) + 1;
      if (next < timeline_.spans.size() && timeline_.spans[next].device == each.from_device) {
        exchange[next].push_back(index);
      }
    }
    for (std::size_t k = 0; k < timeline_.transfers.size(); ++k) {
      Transfer& each = timeline_.transfers[k];
      if (!slots.apart[to_index(each.to_span)]) continue;
      for (const std::int32_t other : at(exchange, at(slots.received, each.to_span))) {
        const Gate gate{Gate::Kind::kTransfer, other};
        const bool later = to_index(other) != k && end_of(gate) > end_of(each.gate);
        if (later && fits(gate, each.begin)) each.gate = gate;
      }
    }
    for (std::size_t k = 0; k < timeline_.spans.size(); ++k) {
      std::sort(exchange[k].begin(), exchange[k].end(),
                [&](std::int32_t a, std::int32_t b) { return rank_of(a) < rank_of(b); });
      Span& span = timeline_.spans[k];
      span.gate = before(k);
      for (const std::int32_t index : exchange[k]) {
        const Gate gate{Gate::Kind::kTransfer, index};
        const bool later = span.gate.kind == Gate::Kind::kStart || end_of(gate) >= end_of(span.gate);
        if (later && fits(gate, span.begin)) span.gate = gate;
      }
    }
  }

  // Times that contradict the schedule could make things of no length wait for each other.
  void break_circles() {
    const std::size_t spans = timeline_.spans.size();
    std::vector<std::int32_t> walk(spans + timeline_.transfers.size(), 0);  // the walk that came by; 0: none
    for (std::size_t start = 0; start < walk.size(); ++start) {
      const auto number = static_cast<std::int32_t>(start) + 1;
      for (std::size_t node = start; walk[node] == 0;) {
        walk[node] = number;
        Gate& gate = node < spans ? timeline_.spans[node].gate : timeline_.transfers[node - spans].gate;
        if (gate.kind == Gate::Kind::kStart) break;
        const std::size_t next = to_index(gate.index) + (gate.kind == Gate::Kind::kTransfer ? spans : 0);
        if (walk[next] == number) gate = {};
        node = next;
      }
    }
  }

 private:
  struct Lane {
    Gate last;
    Nanoseconds last_end = 0;
  };
  struct Event {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::int32_t rank = 0;
    bool is_transfer = false;
    std::int32_t index = 0;

    [[nodiscard]] auto key() const { return std::tie(begin, end, rank, is_transfer, index); }
  };

  [[nodiscard]] const Transfer& transfer(std::int32_t index) const { return at(timeline_.transfers, index); }
  [[nodiscard]] Nanoseconds end_of(const Gate& gate) const {
    switch (gate.kind) {
      case Gate::Kind::kStart:
        break;
      case Gate::Kind::kSpan:
        return at(timeline_.spans, gate.index).end;
      case Gate::Kind::kTransfer:
        return transfer(gate.index).end;
      case Gate::Kind::kCopy:
      case Gate::Kind::kCollective:
      case Gate::Kind::kStep:
        break;  // nobody observes them: assemble_timeline refuses such schedules
    }
    return 0;
  }
  [[nodiscard]] bool fits(const Gate& gate, Nanoseconds begin) const {
    return !timeline_.measured || end_of(gate) <= begin;
  }
  // False where clocks contradict each other: the input's maker ended after its use began.
  [[nodiscard]] bool possible(std::int32_t input, const Span& user) const {
    return !timeline_.measured || at(timeline_.spans, transfer(input).from_span).end <= user.begin;
  }

  [[nodiscard]] std::vector<std::vector<std::int32_t>> spans_by_device() const {
    std::vector<std::vector<std::int32_t>> rows;
    for (std::size_t d = 0; d < to_index(timeline_.devices); ++d) {
      const std::int32_t begin = timeline_.device_begin[d];
      rows.emplace_back(to_index(timeline_.device_begin[d + 1] - begin));
      std::iota(rows.back().begin(), rows.back().end(), begin);
    }
    return rows;
  }

  // The span before this one on its device, as a gate.
  [[nodiscard]] Gate before(std::size_t span) const {
    const bool first = span == 0 || timeline_.spans[span - 1].device != timeline_.spans[span].device;
    return first ? Gate{} : Gate{Gate::Kind::kSpan, static_cast<std::int32_t>(span) - 1};
  }

  [[nodiscard]] std::int32_t id(const Op& op) const { return ops_.find(op.kind, op.stage, op.microbatch); }
  [[nodiscard]] std::int32_t rank_of(std::int32_t index) const { return at(rank_[1], id(transfer(index).op)); }
  [[nodiscard]] std::int32_t rank_of(const Span& span) const {
    const std::int32_t rank = at(rank_[0], id(span.op));
    const Op* const partner = timeline_.partner(span);
    return partner != nullptr ? std::min(rank, at(rank_[0], id(*partner))) : rank;
  }

  // On a tie what released the span before counts: nothing was lost by waiting for the transfer.
  void wait_for(Span& span, std::int32_t input) const {
    if (transfer(input).end > end_of(span.gate) && possible(input, span)) span.gate = {Gate::Kind::kTransfer, input};
  }

  // By span: its inputs from other devices, in the order of the cell's members.
  [[nodiscard]] std::vector<std::vector<std::int32_t>> by_user() const {
    std::vector<std::vector<std::int32_t>> inputs(timeline_.spans.size());
    for (std::size_t k = 0; k < timeline_.transfers.size(); ++k) {
      const Transfer& each = timeline_.transfers[k];
      auto& list = at(inputs, each.to_span);
      const bool for_first = ops_.feeder(at(timeline_.spans, each.to_span).op) == id(each.op);
      list.insert(for_first ? list.begin() : list.end(), static_cast<std::int32_t>(k));
    }
    return inputs;
  }

  [[nodiscard]] std::vector<Event> events() const {
    std::vector<Event> events;
    for (std::size_t k = 0; k < timeline_.spans.size(); ++k) {
      const Span& span = timeline_.spans[k];
      events.push_back({span.begin, span.end, rank_of(span), false, static_cast<std::int32_t>(k)});
    }
    for (std::size_t k = 0; k < timeline_.transfers.size(); ++k) {
      const Transfer& each = timeline_.transfers[k];
      const auto index = static_cast<std::int32_t>(k);
      events.push_back({each.begin, each.end, rank_of(index), true, index});
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.key() < b.key(); });
    return events;
  }

  void hold(std::vector<Lane>& lanes, std::int32_t index) {
    Transfer& held = at(timeline_.transfers, index);
    Lane& sender = at(lanes, held.from_device);
    Lane& receiver = at(lanes, held.to_device);
    const bool waits_for_receiver = end_of(receiver.last) > end_of(sender.last) && fits(receiver.last, held.begin);
    held.gate = waits_for_receiver ? receiver.last : sender.last;
    if (!fits(held.gate, held.begin)) held.gate = {Gate::Kind::kSpan, held.from_span};
    for (Lane* lane : {&sender, &receiver}) {
      if (lane->last.kind != Gate::Kind::kStart && held.end < lane->last_end) continue;
      *lane = {{Gate::Kind::kTransfer, index}, held.end};
    }
  }

  Timeline& timeline_;
  const OpIndex& ops_;
  std::array<std::vector<std::int32_t>, 2> rank_;  // of cells (by first op) and of transfers (by maker)
};

}  // namespace

void add_gates(Timeline& timeline, const OpIndex& ops, P2p p2p) {
  GateFinder finder(timeline, ops, p2p);
  switch (p2p) {
    case P2p::kOverlapped:
      finder.overlapped();
      break;
    case P2p::kLate:
    case P2p::kJoined:
      finder.posted(p2p);
      break;
    case P2p::kBlocking:
    case P2p::kRendezvous:
      finder.blocking();
      break;
    case P2p::kCoupled:
      finder.coupled();
      break;
  }
  finder.break_circles();
}

}  // namespace debubble
