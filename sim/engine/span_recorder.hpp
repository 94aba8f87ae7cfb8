// SpanRecorder: writes a Timeline while something shows it every node of a Program with its times, in program order.
// Internal to sim/engine.
//
// Where the times come from is the template's: of the walk (simulate.cpp) or of a run in the order of events.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"
#include "sim/engine/program.hpp"
#include "sim/engine/tables.hpp"
#include "sim/engine/transfer_rule.hpp"

namespace debubble {

// What a cell waits for from another device.
struct Input {
  std::int32_t maker = -1;  // node; -1: nothing
  std::int32_t channel = -1;
  std::size_t number = 0;  // of the input: its user's node, or nodes + the number of the ExtraInput
};

// Times has: copy_engines(), whether copies out and back overlap; end(node); arrival(Input);
// alone(channel), the TransferTime without contention; add_parts(node, span), what of the span's length is not its
// stage's cost; add_gate(node, end of the gate so far, gate, ready), for what a walk knows nothing of.
template <typename Times>
class SpanRecorder {
 public:
  SpanRecorder(const Program& program, const Schedule& schedule, const Tables& tables, const Times& times,
               Timeline& timeline)
      : program_(program),
        schedule_(schedule),
        tables_(tables),
        times_(times),
        timeline_(timeline),
        span_of_node_(program.nodes.size(), -1),
        made_at_(kMade * static_cast<std::size_t>(program.placement.stages())),
        lanes_(static_cast<std::size_t>(program.devices)) {
    lay_out();
  }

  void cell(std::size_t k, Nanoseconds begin, Nanoseconds end) {
    const Program::Node& node = program_.nodes[k];
    const Program::Cell& cell = program_.cells[node.cell()];
    if (cell.is_copy) return copy(k, cell.device - program_.devices, begin, end);
    LaneState& lane = at(lanes_, cell.device);
    const std::int32_t index = lane.next_span++;
    span_of_node_[k] = index;
    Span& span = at(timeline_.spans, index);
    const auto& row = at(schedule_.rows, cell.device);
    span.op = row[lane.position++];
    const Op* partner = nullptr;
    if (cell.paired) {
      timeline_.set_partner(to_index(index), row[lane.position++]);
      partner = timeline_.partner(span);
    }
    span.device = cell.device;
    span.begin = begin;
    span.end = end;
    span.gate = lane.last;
    take_local_inputs(span);
    times_.add_parts(k, span);
    const bool first_receives = receives(span, span.op);
    take_input(span, first_receives || partner == nullptr ? span.op : *partner, {node.input, cell.input_channel, k},
               index);
    for (; has_extra(k); ++next_extra_) take_extra(span, program_.extra_inputs[next_extra_], index);
    times_.add_gate(k, end_of(span.gate), span.gate, span.ready);
    lane.last = {Gate::Kind::kSpan, index};
    lane.last_span = lane.last;
    lane.last_end = end;
    remember(span.op, end);
    if (partner != nullptr) remember(*partner, end);
  }

  // Of a transfer that is a node: overlapped ones are recorded by the cell that receives them.
  void transfer(std::size_t k, Nanoseconds begin, Nanoseconds end) {
    const Program::Node& node = program_.nodes[k];
    const auto& channel = program_.channels[node.channel()];
    LaneState& sender = at(lanes_, channel.from_device);
    LaneState& receiver = at(lanes_, channel.to_device);
    const auto index = add_transfer(node.input, static_cast<std::int32_t>(node.channel()), begin, end);
    span_of_node_[k] = index;
    const bool holds = holds_both_lanes(program_.p2p);
    const Gate senders = holds ? held_gate(sender) : Gate{Gate::Kind::kSpan, at(span_of_node_, node.input)};
    Gate receivers = posted_gate(k);
    if (holds && end_of(receivers) <= end_of(held_gate(receiver))) receivers = held_gate(receiver);
    Transfer& made = at(timeline_.transfers, index);
    made.gate = end_of(receivers) > end_of(senders) ? receivers : senders;
    Nanoseconds ready = 0;
    times_.add_gate(k, end_of(made.gate), made.gate, ready);
    if (!holds) return;
    for (LaneState* lane : {&sender, &receiver}) {
      if (lane->last.kind == Gate::Kind::kStart || end >= lane->last_end) {
        lane->last = {Gate::Kind::kTransfer, index};
        lane->last_end = end;
      }
    }
  }

  // Of a transfer or copy node: its index in timeline.transfers or copies.
  [[nodiscard]] std::int32_t index_of(std::size_t node) const { return span_of_node_[node]; }

 private:
  using Wait = Program::ExtraInput::Wait;

  struct LaneState {
    std::int32_t next_span = 0;
    std::size_t next_copy = 0;  // in the device's list
    std::int32_t first_copy = 0;
    std::array<Gate, 2> last_copy;  // on the device's copy lane, or on its two engines
    std::size_t position = 0;       // in the device's row
    Gate last;                      // what held the lane last
    Gate last_span;                 // the last cell
    Nanoseconds last_end = 0;
  };

  [[nodiscard]] Gate held_gate(const LaneState& lane) const {
    return transfer_after(program_.p2p) == TransferAfter::kCell ? lane.last_span : lane.last;
  }

  // The span, or the transfer, in front of its receive.
  Gate posted_gate(std::size_t k) {
    Gate posted;
    for (; has_extra(k); ++next_extra_) {
      const std::int32_t input = program_.extra_inputs[next_extra_].input;
      const bool transfer = at(program_.nodes, input).is_transfer();
      posted = {transfer ? Gate::Kind::kTransfer : Gate::Kind::kSpan, at(span_of_node_, input)};
    }
    return posted;
  }

  // Spans are ordered by device; count them first so that each device's run of indexes is known.
  void lay_out() {
    std::vector<std::int32_t> counts(lanes_.size() + 1, 0);
    auto transfers = static_cast<std::size_t>(
        std::count_if(program_.extra_inputs.begin(), program_.extra_inputs.end(),
                      [](const Program::ExtraInput& extra) { return extra.wait == Wait::kArrival; }));
    for (const Program::Node& node : program_.nodes) {
      const bool held = program_.p2p != P2p::kOverlapped;
      if (held ? node.is_transfer() : node.input >= 0) ++transfers;
      if (node.is_transfer() || program_.cells[node.cell()].is_copy) continue;
      ++counts[static_cast<std::size_t>(program_.device_of(node)) + 1];
    }
    check_rows(counts);
    for (std::size_t d = 0; d < lanes_.size(); ++d) counts[d + 1] += counts[d];
    for (std::size_t d = 0; d < lanes_.size(); ++d) lanes_[d].next_span = counts[d];
    timeline_.spans.resize(static_cast<std::size_t>(counts.back()));
    timeline_.device_begin = std::move(counts);
    timeline_.transfers.reserve(transfers);  // growing would take as much again for a moment
    timeline_.copies.resize(program_.copies.size());
    if (program_.copies.empty()) return;
    for (std::size_t d = 1; d < lanes_.size(); ++d) {
      lanes_[d].first_copy = lanes_[d - 1].first_copy + static_cast<std::int32_t>(schedule_.copies.at(d - 1).size());
    }
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
        return at(timeline_.spans, gate.index).end;
      case Gate::Kind::kTransfer:
        return at(timeline_.transfers, gate.index).end;
      case Gate::Kind::kCopy:
        return at(timeline_.copies, gate.index).end;
      case Gate::Kind::kCollective:
        return at(timeline_.collectives, gate.index).end;
      case Gate::Kind::kStep:
        return at(timeline_.steps, gate.index).end;
    }
    return 0;
  }

  [[nodiscard]] bool has_extra(std::size_t k) const {
    return next_extra_ < program_.extra_inputs.size() &&
           program_.extra_inputs[next_extra_].node == static_cast<std::int32_t>(k);
  }

  void take_extra(Span& span, const Program::ExtraInput& extra, std::int32_t index) {
    switch (extra.wait) {
      case Wait::kArrival:
        take_input(span, last_op(span), {extra.input, extra.what, program_.nodes.size() + next_extra_}, index);
        return;
      case Wait::kEnd: {
        if (!at(program_.nodes, extra.input).is_transfer()) {
          return wait_for(span, {Gate::Kind::kCopy, at(span_of_node_, extra.input)});
        }
        const Gate exchange{Gate::Kind::kTransfer, at(span_of_node_, extra.input)};  // no input of the span's
        if (end_of(exchange) > end_of(span.gate)) span.gate = exchange;
        return;
      }
      case Wait::kGathered: {
        const std::int32_t collective = gather(extra);
        if (!has_more_of(extra)) wait_for(span, {Gate::Kind::kCollective, collective});
        return;
      }
      case Wait::kBegin:
        throw std::logic_error("simulate: only copies wait for a cell to begin");
    }
  }

  // On a tie what the span waited for before counts: nothing was lost by waiting for this.
  void wait_for(Span& span, const Gate& gate) const {
    span.ready = std::max(span.ready, end_of(gate));
    if (end_of(gate) > end_of(span.gate)) span.gate = gate;
  }

  [[nodiscard]] bool has_more_of(const Program::ExtraInput& extra) const {
    const std::size_t next = next_extra_ + 1;
    return next < program_.extra_inputs.size() && program_.extra_inputs[next].node == extra.node &&
           program_.extra_inputs[next].wait == Wait::kGathered && program_.extra_inputs[next].what == extra.what;
  }

  // Every reader of a barrier brings all it gathers, so the first one makes it whole.
  std::int32_t gather(const Program::ExtraInput& extra) {
    const auto next = static_cast<std::int32_t>(timeline_.collectives.size());
    const auto [found, is_new] = collectives_.try_emplace(extra.what, next);
    if (is_new) {
      const auto pieces = static_cast<std::int32_t>(schedule_.replica_of.size());
      Collective made;
      made.kind = extra.what < pieces ? OpKind::kVocabularyLogits : OpKind::kVocabularyGradient;
      made.microbatch = extra.what % pieces;
      timeline_.collectives.push_back(made);
    }
    Collective& collective = at(timeline_.collectives, found->second);
    const Nanoseconds end = times_.end(extra.input);
    if (collective.gate.kind == Gate::Kind::kStart || end > collective.begin) {
      collective.gate = {Gate::Kind::kSpan, at(span_of_node_, extra.input)};
      collective.begin = end;
      collective.end = end + tables_.barrier;
    }
    return found->second;
  }

  void copy(std::size_t k, std::int32_t device, Nanoseconds begin, Nanoseconds end) {
    LaneState& lane = at(lanes_, device);
    const auto index = lane.first_copy + static_cast<std::int32_t>(lane.next_copy);
    const Copy& moved = at(schedule_.copies, device)[lane.next_copy++];
    CopySpan& made = at(timeline_.copies, index);
    made.op = {OpKind::kForward, false, moved.stage, moved.microbatch};
    made.way = moved.way;
    made.device = device;
    made.peer = moved.peer;
    made.begin = begin;
    made.end = end;
    made.bytes = tables_.cells[program_.nodes[k].cell()].moved;
    Gate& last_copy = lane.last_copy[times_.copy_engines() && moved.way == Copy::Way::kBack ? 1 : 0];
    made.gate = last_copy;
    for (; has_extra(k); ++next_extra_) {
      const Program::ExtraInput& extra = program_.extra_inputs[next_extra_];
      Gate gate{Gate::Kind::kSpan, at(span_of_node_, extra.input)};
      if (extra.wait == Wait::kBegin) gate = at(timeline_.spans, gate.index).gate;
      if (made.gate.kind == Gate::Kind::kStart || end_of(gate) > end_of(made.gate)) made.gate = gate;
    }
    if (times_.copy_engines()) take_own_copy_out(made, index);
    span_of_node_[k] = index;
    last_copy = {Gate::Kind::kCopy, index};
  }

  // With two engines a copy back is no longer on the lane of its own copy out, but must still wait for it.
  void take_own_copy_out(CopySpan& made, std::int32_t index) {
    const std::pair key(made.op.stage, made.op.microbatch);
    if (made.way == Copy::Way::kOut) {
      copies_out_[key] = index;
    } else if (const auto found = copies_out_.find(key); found != copies_out_.end()) {
      const Gate gate{Gate::Kind::kCopy, found->second};
      if (made.gate.kind == Gate::Kind::kStart || end_of(gate) > end_of(made.gate)) made.gate = gate;
    }
  }

  // What it carries and for whom is known when its user runs.
  std::int32_t add_transfer(std::int32_t maker, std::int32_t channel, Nanoseconds begin, Nanoseconds end) {
    const Program::Channel& of = at(program_.channels, channel);
    const auto index = static_cast<std::int32_t>(timeline_.transfers.size());
    Transfer transfer;
    transfer.from_span = at(span_of_node_, maker);
    transfer.from_device = of.from_device;
    transfer.to_device = of.to_device;
    transfer.begin = begin;
    transfer.end = end;
    const TransferTime alone = times_.alone(channel);
    transfer.latency = alone.latency;
    transfer.contention = end - begin - alone.total();
    transfer.bytes = at(tables_.channel_bytes, channel);
    transfer.gate = {Gate::Kind::kSpan, transfer.from_span};
    timeline_.transfers.push_back(transfer);
    return index;
  }

  // The partner of a pair, else the only op.
  [[nodiscard]] const Op& last_op(const Span& span) const {
    const Op* partner = timeline_.partner(span);
    return partner == nullptr ? span.op : *partner;
  }

  // The member of the maker's cell that feeds `user`.
  [[nodiscard]] Op feeding_op(const Span& maker, const Op& user) const {
    return feeds(maker.op, user, program_.placement.stages()) ? maker.op : last_op(maker);
  }

  void take_input(Span& span, const Op& user, const Input& from, std::int32_t index) {
    const std::int32_t input = from.maker;
    if (input < 0) return;
    const Nanoseconds arrival = times_.arrival(from);
    span.ready = std::max(span.ready, arrival);
    const bool held = at(program_.nodes, input).is_transfer();
    const std::int32_t number =
        held ? at(span_of_node_, input) : add_transfer(input, from.channel, times_.end(input), arrival);
    Transfer& transfer = at(timeline_.transfers, number);
    transfer.to_span = index;
    transfer.op = feeding_op(at(timeline_.spans, transfer.from_span), user);
    // On a tie the lane counts as what released the span: nothing was lost by waiting for the transfer. One that held
    // the lane is the gate already.
    if (!holds_both_lanes(program_.p2p) && arrival > end_of(span.gate)) span.gate = {Gate::Kind::kTransfer, number};
  }

  // Inputs from the same device: its own forward, R or I, and neighbouring stages on the device.
  void take_local_inputs(Span& span) {
    take_local_inputs(span, span.op);
    if (const Op* partner = timeline_.partner(span)) take_local_inputs(span, *partner);
  }

  void take_local_inputs(Span& span, const Op& op) {
    for (const OpKind needed : rule_of(op.kind).needs) take_made(span, made_by(needed), op.stage, op.microbatch);
    const std::int32_t source = source_of(op);
    if (source < 0 || device_of(op, source) != span.device) return;
    take_made(span, makes_input_gradient(op.kind) ? Made::kGradient : Made::kForward, source, op.microbatch);
  }

  // The stage whose output the op needs; -1 when it needs none.
  [[nodiscard]] std::int32_t source_of(const Op& op) const {
    return source_stage(op.kind, op.stage, program_.placement.stages());
  }
  [[nodiscard]] std::int32_t device_of(const Op& op, std::int32_t stage) const {
    return program_.placement.device_of(at(schedule_.replica_of, op.microbatch), stage);
  }
  [[nodiscard]] bool receives(const Span& span, const Op& op) const {
    const std::int32_t source = source_of(op);
    return source >= 0 && device_of(op, source) != span.device;
  }

  // What later ops on the same device may need of a (stage, piece).
  enum class Made { kForward, kGradient, kRecomputed };
  [[nodiscard]] static Made made_by(OpKind kind) {
    if (kind == OpKind::kForward) return Made::kForward;
    return kind == OpKind::kRecompute ? Made::kRecomputed : Made::kGradient;
  }
  static constexpr std::size_t kMade = 3;
  [[nodiscard]] std::vector<Nanoseconds>& ends_of(Made made, std::int32_t stage) {
    return made_at_[kMade * static_cast<std::size_t>(stage) + static_cast<std::size_t>(made)];
  }

  // What has not run says nothing.
  void take_made(Span& span, Made made, std::int32_t stage, std::int32_t piece) {
    const auto& ends = ends_of(made, stage);
    if (static_cast<std::size_t>(piece) >= ends.size()) return;
    span.ready = std::max(span.ready, at(ends, piece));
  }

  void remember(const Op& op, Nanoseconds end) {
    if (op.kind == OpKind::kWeightGrad || is_vocabulary(op.kind)) return;
    auto& ends = ends_of(made_by(op.kind), op.stage);
    ends.resize(std::max(ends.size(), schedule_.replica_of.size()));
    at(ends, op.microbatch) = end;
  }

  const Program& program_;
  const Schedule& schedule_;
  const Tables& tables_;
  const Times& times_;
  Timeline& timeline_;
  std::vector<std::int32_t> span_of_node_;  // of a transfer or copy node: its index in timeline.transfers or copies
  std::vector<std::vector<Nanoseconds>> made_at_;     // by stage and Made: by piece
  std::map<std::int32_t, std::int32_t> collectives_;  // by barrier number: index in timeline.collectives
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> copies_out_;  // by stage and piece: in timeline.copies
  std::vector<LaneState> lanes_;
  std::size_t next_extra_ = 0;
};

}  // namespace debubble
