// simulate: the walk with every span and transfer recorded, and with what each waited for.
#include "sim/engine/simulate.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/engine/tables.hpp"
#include "sim/engine/walk.hpp"

namespace debubble {

namespace {

class SpanRecorder {
 public:
  SpanRecorder(const Program& program, const Tables& tables, const Walk& walk, Timeline& timeline)
      : program_(program),
        tables_(tables),
        walk_(walk),
        timeline_(timeline),
        span_of_node_(program.nodes.size(), -1),
        made_at_(2 * static_cast<std::size_t>(program.placement.stages())),
        lanes_(static_cast<std::size_t>(program.devices)) {
    lay_out();
  }

  void cell(std::size_t k, Nanoseconds begin, Nanoseconds end) {
    const Program::Node& node = program_.nodes[k];
    LaneState& lane = lanes_[static_cast<std::size_t>(node.device)];
    const std::int32_t index = lane.next_span++;
    span_of_node_[k] = index;
    Span& span = timeline_.spans[static_cast<std::size_t>(index)];
    span.op = program_.ops[k];
    span.paired = program_.cells[node.cell].paired;
    if (span.paired) span.partner = program_.partners[next_partner_++];
    span.device = node.device;
    span.begin = begin;
    span.end = end;
    span.gate = lane.last;
    take_local_inputs(span);
    take_input(span, node.input, node.channel, index);
    while (next_second_ < program_.second_inputs.size() &&
           program_.second_inputs[next_second_].node == static_cast<std::int32_t>(k)) {
      const auto& second = program_.second_inputs[next_second_++];
      take_input(span, second.input, second.channel, index);
    }
    lane.last = {Gate::Kind::kSpan, index};
    lane.last_span = lane.last;
    lane.last_end = end;
    remember(span.op, end);
    if (span.paired) remember(span.partner, end);
  }

  // Blocking and coupled only: overlapped transfers are recorded by the cell that receives them.
  void transfer(std::size_t k, Nanoseconds begin, Nanoseconds end) {
    const Program::Node& node = program_.nodes[k];
    const auto& channel = program_.channels[static_cast<std::size_t>(node.channel)];
    LaneState& sender = lanes_[static_cast<std::size_t>(channel.from_device)];
    LaneState& receiver = lanes_[static_cast<std::size_t>(channel.to_device)];
    const auto index = add_transfer(program_.ops[k], node.input, node.channel, begin, end);
    span_of_node_[k] = index;
    // A coupled exchange is gated by the cell before it, not by other transfers of the exchange.
    const bool coupled = program_.p2p == P2p::kCoupled;
    const Gate& senders = coupled ? sender.last_span : sender.last;
    const Gate& receivers = coupled ? receiver.last_span : receiver.last;
    timeline_.transfers[static_cast<std::size_t>(index)].gate =
        end_of(receivers) > end_of(senders) ? receivers : senders;
    for (LaneState* lane : {&sender, &receiver}) {
      if (lane->last.kind == Gate::Kind::kStart || end >= lane->last_end) {
        lane->last = {Gate::Kind::kTransfer, index};
        lane->last_end = end;
      }
    }
  }

 private:
  struct LaneState {
    std::int32_t next_span = 0;
    Gate last;       // what held the lane last
    Gate last_span;  // the last cell
    Nanoseconds last_end = 0;
  };

  // Spans stand by device; count them first so that each device's run of indexes is known.
  void lay_out() {
    std::vector<std::int32_t> counts(lanes_.size() + 1, 0);
    for (const Program::Node& node : program_.nodes) {
      if (node.cell != Program::kTransfer) ++counts[static_cast<std::size_t>(node.device) + 1];
    }
    for (std::size_t d = 0; d < lanes_.size(); ++d) counts[d + 1] += counts[d];
    for (std::size_t d = 0; d < lanes_.size(); ++d) lanes_[d].next_span = counts[d];
    timeline_.spans.resize(static_cast<std::size_t>(counts.back()));
    timeline_.device_begin = std::move(counts);
  }

  [[nodiscard]] Nanoseconds end_of(const Gate& gate) const {
    switch (gate.kind) {
      case Gate::Kind::kStart:
        break;
      case Gate::Kind::kSpan:
        return timeline_.spans[static_cast<std::size_t>(gate.index)].end;
      case Gate::Kind::kTransfer:
        return timeline_.transfers[static_cast<std::size_t>(gate.index)].end;
    }
    return 0;
  }

  std::int32_t add_transfer(const Op& op, std::int32_t maker, std::int32_t channel, Nanoseconds begin,
                            Nanoseconds end) {
    const auto& way = program_.channels[static_cast<std::size_t>(channel)];
    const auto index = static_cast<std::int32_t>(timeline_.transfers.size());
    Transfer transfer;
    transfer.op = op;
    transfer.from_span = span_of_node_[static_cast<std::size_t>(maker)];
    transfer.from_device = way.from_device;
    transfer.to_device = way.to_device;
    transfer.begin = begin;
    transfer.end = end;
    transfer.latency = tables_.channels[static_cast<std::size_t>(channel)].latency;
    transfer.bytes = tables_.channel_bytes[static_cast<std::size_t>(channel)];
    transfer.gate = {Gate::Kind::kSpan, transfer.from_span};
    timeline_.transfers.push_back(transfer);
    return index;
  }

  // Which member of the maker's cell made what travels through `channel` to `user`.
  [[nodiscard]] Op made_op(std::int32_t maker, std::int32_t channel, const Span& user) const {
    const Span& span = timeline_.spans[static_cast<std::size_t>(span_of_node_[static_cast<std::size_t>(maker)])];
    if (!span.paired) return span.op;
    const bool gradient = static_cast<std::size_t>(channel) >= program_.channels.size() / 2;
    const std::int32_t stage = program_.channels[static_cast<std::size_t>(channel)].stage + (gradient ? 1 : 0);
    const auto fits = [&](const Op& op) {
      const bool is_gradient = op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad;
      const bool for_user =
          op.microbatch == user.op.microbatch || (user.paired && op.microbatch == user.partner.microbatch);
      return op.stage == stage && is_gradient == gradient && op.kind != OpKind::kWeightGrad && for_user;
    };
    return fits(span.op) ? span.op : span.partner;
  }

  void take_input(Span& span, std::int32_t input, std::int32_t channel, std::int32_t index) {
    if (input < 0) return;
    const Nanoseconds arrival = walk_.arrival(input, channel);
    span.ready = std::max(span.ready, arrival);
    std::int32_t transfer = 0;
    if (channel < 0) {
      transfer = span_of_node_[static_cast<std::size_t>(input)];
    } else {
      transfer = add_transfer(made_op(input, channel, span), input, channel, walk_.end(input), arrival);
    }
    timeline_.transfers[static_cast<std::size_t>(transfer)].to_span = index;
    // On a tie the lane counts as what released the span: nothing was lost by waiting for the transfer.
    if (channel >= 0 && arrival > end_of(span.gate)) span.gate = {Gate::Kind::kTransfer, transfer};
  }

  // Inputs from the same device: its own forward, its own I, and neighbouring stages on the device.
  void take_local_inputs(Span& span) {
    for (const Op& op : {span.op, span.partner}) {
      if (op.kind != OpKind::kForward) span.ready = std::max(span.ready, made(false, op.stage, op.microbatch));
      if (op.kind == OpKind::kWeightGrad) span.ready = std::max(span.ready, made(true, op.stage, op.microbatch));
      if (op.kind == OpKind::kForward && is_local(span, op.stage - 1, op)) {
        span.ready = std::max(span.ready, made(false, op.stage - 1, op.microbatch));
      }
      const bool needs_gradient = op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad;
      if (needs_gradient && is_local(span, op.stage + 1, op)) {
        span.ready = std::max(span.ready, made(true, op.stage + 1, op.microbatch));
      }
      if (!span.paired) break;
    }
  }

  [[nodiscard]] bool is_local(const Span& span, std::int32_t stage, const Op& op) const {
    if (stage < 0 || stage >= program_.placement.stages()) return false;
    return program_.placement.device_of(program_.replica_of[static_cast<std::size_t>(op.microbatch)], stage) ==
           span.device;
  }

  // End of the forward (or of B or I) of a (stage, piece), 0 before it ran.
  [[nodiscard]] Nanoseconds made(bool gradient, std::int32_t stage, std::int32_t piece) const {
    const auto& ends = made_at_[2 * static_cast<std::size_t>(stage) + (gradient ? 1 : 0)];
    return static_cast<std::size_t>(piece) < ends.size() ? ends[static_cast<std::size_t>(piece)] : 0;
  }

  void remember(const Op& op, Nanoseconds end) {
    if (op.kind == OpKind::kWeightGrad) return;
    auto& ends = made_at_[2 * static_cast<std::size_t>(op.stage) + (op.kind == OpKind::kForward ? 0 : 1)];
    ends.resize(std::max(ends.size(), program_.replica_of.size()));
    ends[static_cast<std::size_t>(op.microbatch)] = end;
  }

  const Program& program_;
  const Tables& tables_;
  const Walk& walk_;
  Timeline& timeline_;
  std::vector<std::int32_t> span_of_node_;  // of a transfer node: its index in timeline.transfers
  std::vector<std::vector<Nanoseconds>> made_at_;
  std::vector<LaneState> lanes_;
  std::size_t next_partner_ = 0;
  std::size_t next_second_ = 0;
};

}  // namespace

Timeline simulate(const Program& program, const StageCosts& costs, const Topology& topology) {
  const Tables tables = make_tables(program, costs, topology);
  Timeline timeline;
  timeline.devices = program.devices;
  timeline.transfers_hold_lanes = program.p2p != P2p::kOverlapped;
  Walk walk(program, tables);
  SpanRecorder recorder(program, tables, walk, timeline);
  walk.run(recorder);
  for (const Span& span : timeline.spans) timeline.makespan = std::max(timeline.makespan, span.end);
  return timeline;
}

}  // namespace debubble
