// simulate: the walk with every span and transfer recorded, and with what each waited for.
#include "sim/engine/simulate.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "sim/engine/tables.hpp"
#include "sim/engine/walk.hpp"

namespace debubble {

namespace {

class SpanRecorder {
 public:
  SpanRecorder(const Program& program, const Schedule& schedule, const Tables& tables, const Walk& walk,
               Timeline& timeline)
      : program_(program),
        schedule_(schedule),
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
    const Program::Cell& cell = program_.cells[node.cell()];
    LaneState& lane = lanes_[static_cast<std::size_t>(cell.device)];
    const std::int32_t index = lane.next_span++;
    span_of_node_[k] = index;
    Span& span = timeline_.spans[static_cast<std::size_t>(index)];
    const auto& row = schedule_.rows[static_cast<std::size_t>(cell.device)];
    span.op = row[lane.position++];
    span.paired = cell.paired;
    if (span.paired) span.partner = row[lane.position++];
    span.device = cell.device;
    span.begin = begin;
    span.end = end;
    span.gate = lane.last;
    take_local_inputs(span);
    const bool first_receives = receives(span, span.op);
    take_input(span, first_receives ? span.op : span.partner, node.input, cell.input_channel, index);
    while (next_second_ < program_.second_inputs.size() &&
           program_.second_inputs[next_second_].node == static_cast<std::int32_t>(k)) {
      const auto& second = program_.second_inputs[next_second_++];
      take_input(span, span.partner, second.input, second.channel, index);
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
    const auto& channel = program_.channels[node.channel()];
    LaneState& sender = lanes_[static_cast<std::size_t>(channel.from_device)];
    LaneState& receiver = lanes_[static_cast<std::size_t>(channel.to_device)];
    const auto index = add_transfer(node.input, static_cast<std::int32_t>(node.channel()), begin, end);
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
    std::size_t position = 0;  // in the device's row
    Gate last;                 // what held the lane last
    Gate last_span;            // the last cell
    Nanoseconds last_end = 0;
  };

  // Spans stand by device; count them first so that each device's run of indexes is known.
  void lay_out() {
    std::vector<std::int32_t> counts(lanes_.size() + 1, 0);
    for (const Program::Node& node : program_.nodes) {
      if (!node.is_transfer()) ++counts[static_cast<std::size_t>(program_.device_of(node)) + 1];
    }
    check_rows(counts);
    for (std::size_t d = 0; d < lanes_.size(); ++d) counts[d + 1] += counts[d];
    for (std::size_t d = 0; d < lanes_.size(); ++d) lanes_[d].next_span = counts[d];
    timeline_.spans.resize(static_cast<std::size_t>(counts.back()));
    timeline_.device_begin = std::move(counts);
  }

  // The rows name the ops, so they must be those that were lowered: as many cells on each device.
  void check_rows(const std::vector<std::int32_t>& counts) const {
    for (std::size_t d = 0; d < lanes_.size(); ++d) {
      const std::vector<Op>* row = d < schedule_.rows.size() ? &schedule_.rows[d] : nullptr;
      const auto starts_cell = [&](const Op& op) { return !op.paired_with_next; };
      const auto cells = row == nullptr ? -1 : std::count_if(row->begin(), row->end(), starts_cell);
      if (cells != counts[d + 1]) throw std::logic_error("simulate: not the schedule that was lowered");
    }
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

  // What it carries and for whom is known when its user runs.
  std::int32_t add_transfer(std::int32_t maker, std::int32_t channel, Nanoseconds begin, Nanoseconds end) {
    const auto& way = program_.channels[static_cast<std::size_t>(channel)];
    const auto index = static_cast<std::int32_t>(timeline_.transfers.size());
    Transfer transfer;
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

  // The member of the maker's cell that feeds `user`.
  [[nodiscard]] static Op feeding_op(const Span& maker, const Op& user) {
    const bool forward = user.kind == OpKind::kForward;
    const auto feeds = [&](const Op& op) {
      const bool right_kind =
          forward ? op.kind == OpKind::kForward : op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad;
      return right_kind && op.microbatch == user.microbatch && op.stage == user.stage + (forward ? -1 : 1);
    };
    return maker.paired && !feeds(maker.op) ? maker.partner : maker.op;
  }

  void take_input(Span& span, const Op& user, std::int32_t input, std::int32_t channel, std::int32_t index) {
    if (input < 0) return;
    const Nanoseconds arrival = walk_.arrival(input, channel);
    span.ready = std::max(span.ready, arrival);
    const bool held = program_.nodes[static_cast<std::size_t>(input)].is_transfer();
    const std::int32_t number =
        held ? span_of_node_[static_cast<std::size_t>(input)] : add_transfer(input, channel, walk_.end(input), arrival);
    Transfer& transfer = timeline_.transfers[static_cast<std::size_t>(number)];
    transfer.to_span = index;
    transfer.op = feeding_op(timeline_.spans[static_cast<std::size_t>(transfer.from_span)], user);
    // On a tie the lane counts as what released the span: nothing was lost by waiting for the transfer.
    if (!held && arrival > end_of(span.gate)) span.gate = {Gate::Kind::kTransfer, number};
  }

  // Inputs from the same device: its own forward, its own I, and neighbouring stages on the device.
  void take_local_inputs(Span& span) {
    for (const Op& op : {span.op, span.partner}) {
      if (op.kind != OpKind::kForward) span.ready = std::max(span.ready, made(false, op.stage, op.microbatch));
      if (op.kind == OpKind::kWeightGrad) span.ready = std::max(span.ready, made(true, op.stage, op.microbatch));
      const std::int32_t neighbour = feeder(op);
      if (neighbour >= 0 && device_of(op, neighbour) == span.device) {
        span.ready = std::max(span.ready, made(op.kind != OpKind::kForward, neighbour, op.microbatch));
      }
      if (!span.paired) break;
    }
  }

  // The stage whose output the op needs; -1 when it needs none.
  [[nodiscard]] std::int32_t feeder(const Op& op) const {
    switch (op.kind) {
      case OpKind::kForward:
        return op.stage - 1;
      case OpKind::kBackward:
      case OpKind::kInputGrad:
        return op.stage + 1 < program_.placement.stages() ? op.stage + 1 : -1;
      case OpKind::kWeightGrad:
      case OpKind::kRecompute:
      case OpKind::kVocabularyLogits:
      case OpKind::kVocabularyGradient:
        break;
    }
    return -1;
  }
  [[nodiscard]] std::int32_t device_of(const Op& op, std::int32_t stage) const {
    return program_.placement.device_of(schedule_.replica_of[static_cast<std::size_t>(op.microbatch)], stage);
  }
  [[nodiscard]] bool receives(const Span& span, const Op& op) const {
    const std::int32_t neighbour = feeder(op);
    return neighbour >= 0 && device_of(op, neighbour) != span.device;
  }

  // End of the forward (or of B or I) of a (stage, piece), 0 before it ran.
  [[nodiscard]] Nanoseconds made(bool gradient, std::int32_t stage, std::int32_t piece) const {
    const auto& ends = made_at_[2 * static_cast<std::size_t>(stage) + (gradient ? 1 : 0)];
    return static_cast<std::size_t>(piece) < ends.size() ? ends[static_cast<std::size_t>(piece)] : 0;
  }

  void remember(const Op& op, Nanoseconds end) {
    if (op.kind == OpKind::kWeightGrad) return;
    auto& ends = made_at_[2 * static_cast<std::size_t>(op.stage) + (op.kind == OpKind::kForward ? 0 : 1)];
    ends.resize(std::max(ends.size(), schedule_.replica_of.size()));
    ends[static_cast<std::size_t>(op.microbatch)] = end;
  }

  const Program& program_;
  const Schedule& schedule_;
  const Tables& tables_;
  const Walk& walk_;
  Timeline& timeline_;
  std::vector<std::int32_t> span_of_node_;  // of a transfer node: its index in timeline.transfers
  std::vector<std::vector<Nanoseconds>> made_at_;
  std::vector<LaneState> lanes_;
  std::size_t next_second_ = 0;
};

}  // namespace

Timeline simulate(const Program& program, const Schedule& schedule, const StageCosts& costs, const Topology& topology) {
  const Tables tables = make_tables(program, costs, topology);
  Timeline timeline;
  timeline.devices = program.devices;
  timeline.transfers_hold_lanes = program.p2p != P2p::kOverlapped;
  Walk walk(program, tables, Ends::kAll);
  SpanRecorder recorder(program, schedule, tables, walk, timeline);
  walk.run(recorder);
  for (const Span& span : timeline.spans) timeline.makespan = std::max(timeline.makespan, span.end);
  check_device_time(timeline.makespan, program.devices);
  return timeline;
}

}  // namespace debubble
