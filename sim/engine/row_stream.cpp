#include "sim/engine/row_stream.hpp"

#include "sim/engine/simulate.hpp"

namespace debubble {

bool RowStream::knows(const Schedule& schedule, P2p p2p) {
  return p2p == P2p::kOverlapped && has_shape(schedule) && !has_feature_fields(schedule) &&
         (!schedule.sliced || slices_in_order(schedule));
}

RowStream::RowStream(const Schedule& schedule, const StageCosts& costs, const Topology& topology)
    : schedule_(schedule),
      costs_(costs),
      topology_(topology),
      lowering_(schedule),
      program_(lowering_.without_nodes(P2p::kOverlapped)),
      tables_(make_tables(program_, costs, topology, schedule.total_ops())),
      stages_(schedule.stages),
      pieces_(schedule.total_pieces()),
      one_replica_(schedule.placement.replicas() == 1),
      on_way_(program_.channels.size(), pieces_),
      free_(schedule.rows.size(), 0) {
  make_stage_records();
}

void RowStream::make_stage_records() {
  const Placement& placement = schedule_.placement;
  for (std::int32_t replica = 0; replica < placement.replicas(); ++replica) {
    for (std::int32_t stage = 0; stage < stages_; ++stage) {
      StageRecord made;
      made.device = placement.device_of(replica, stage);
      made.next_device = stage + 1 < stages_ ? placement.device_of(replica, stage + 1) : made.device;
      made.previous_device = stage > 0 ? placement.device_of(replica, stage - 1) : made.device;
      const std::int32_t forward = replica * stages_ + stage;
      const std::int32_t gradient = (placement.replicas() + replica) * stages_ + stage;
      if (made.next_device != made.device) made.forward_out = forward;
      if (made.next_device != made.device) made.gradient_in = gradient;
      if (made.previous_device != made.device) made.forward_in = forward - 1;
      if (made.previous_device != made.device) made.gradient_out = gradient - 1;
      records_.push_back(made);
    }
  }
}

void RowStream::start() {
  done_.assign(to_index(stages_) * to_index(pieces_), 0);
  on_way_.clear();
  next_number_ = 0;
  cursor_.assign(schedule_.rows.size(), 0);
  waits_for_.assign(schedule_.rows.size(), kNothing);
  runnable_.clear();
  for (std::int32_t device = 0; device < schedule_.devices; ++device) runnable_.push_back(device);
}

RowStream::State RowStream::check(const Op& op, std::int32_t device, StreamedTensor& in) {
  if (op.kind >= OpKind::kRecompute) return State::kFaulty;
  const bool known = static_cast<std::uint32_t>(op.stage) < static_cast<std::uint32_t>(stages_) &&
                     static_cast<std::uint32_t>(op.microbatch) < static_cast<std::uint32_t>(pieces_);
  if (!known) return State::kFaulty;
  const StageRecord& stage = record(op);
  if (stage.device != device) return State::kFaulty;
  const std::size_t here = lowering_.number(op);
  const unsigned char done = done_[here];
  const auto pieces = to_index(pieces_);
  if (op.kind == OpKind::kForward) {
    if ((done & kForwardDone) != 0) return State::kFaulty;
    if (op.stage == 0) return State::kReady;
    const std::size_t from = here - pieces;
    return take((done_[from] & kForwardDone) != 0, stage.forward_in, 2 * from, device, op.microbatch, in);
  }
  if (makes_input_gradient(op.kind)) {
    if ((done & kForwardDone) == 0 || (done & kGradientDone) != 0) return State::kFaulty;
    if (op.stage + 1 == stages_) return State::kReady;
    const std::size_t from = here + pieces;
    return take((done_[from] & kGradientDone) != 0, stage.gradient_in, 2 * from + 1, device, op.microbatch, in);
  }
  return (done & kGradientDone) == 0 || (done & kWeightsDone) != 0 ? State::kFaulty : State::kReady;
}

// The rows' own order already speaks for what stays on the device.
RowStream::State RowStream::take(bool made, std::int32_t channel, std::size_t event, std::int32_t device,
                                 std::int32_t piece, StreamedTensor& in) {
  if (!made) {
    at(waits_for_, device) = event;
    return State::kWaiting;
  }
  if (channel >= 0) {
    const TensorsOnWay::Made& tensor = on_way_.find(channel, piece);
    in = {channel, tensor.maker, tensor.end};
  }
  return State::kReady;
}

RowStream::State RowStream::check_pair(const Op& op, const Op& partner, std::int32_t device, StreamedTensor& in) {
  const State state = check(partner, device, in);
  return state == State::kReady && lowering_.depend_on_each_other(op, partner) ? State::kFaulty : state;
}

void RowStream::time(StreamedCell& cell) {
  Nanoseconds& free = at(free_, cell.device);
  cell.number = next_number_++;
  cell.begin = free;
  for (std::size_t member = 0; member < (cell.paired ? 2U : 1U); ++member) {
    const StreamedTensor& in = cell.in[member];
    if (in.maker < 0) continue;
    cell.begin = std::max(cell.begin, in.sent + at(tables_.channels, in.channel).total());
    on_way_.take(in.channel, (member == 0 ? cell.op : cell.partner).microbatch);
  }
  const std::uint32_t kind =
      cell.paired ? lowering_.pair_cell(program_, cell.op, cell.partner) : lowering_.cell(cell.op);
  // Kinds of pairs are found as they come, and are few.
  if (kind >= tables_.cells.size()) tables_ = make_tables(program_, costs_, topology_, schedule_.total_ops());
  cell.end = cell.begin + tables_.cells[kind].duration;
  free = cell.end;
}

StreamedTensor RowStream::finish(const Op& op, const StreamedCell& cell) {
  const StageRecord& stage = record(op);
  const std::size_t number = lowering_.number(op);
  unsigned char& done = done_[number];
  StreamedTensor out{-1, cell.number, cell.end};
  if (op.kind == OpKind::kForward) {
    done = static_cast<unsigned char>(done | kForwardDone);
    out.channel = stage.forward_out;
  } else if (makes_input_gradient(op.kind)) {
    const bool weights = makes_weight_gradient(op.kind);
    done = static_cast<unsigned char>(done | kGradientDone | (weights ? kWeightsDone : 0));
    out.channel = stage.gradient_out;
  } else {
    done = static_cast<unsigned char>(done | kWeightsDone);
    return out;
  }
  if (out.channel >= 0) on_way_.put(out.channel, op.microbatch, {cell.number, cell.end});
  const bool forward = op.kind == OpKind::kForward;
  wake(forward ? stage.next_device : stage.previous_device, 2 * number + (forward ? 0 : 1));
  return out;
}

bool RowStream::all_complete() const {
  for (std::size_t device = 0; device < cursor_.size(); ++device) {
    if (cursor_[device] != schedule_.rows[device].size()) return false;
  }
  return std::all_of(done_.begin(), done_.end(), [](unsigned char done) { return done == kAllDone; });
}

Nanoseconds steady_period(RowStream& stream, int max_iterations) {
  const Schedule& schedule = stream.schedule();
  bool complete = true;
  const Nanoseconds period = repeating_period(max_iterations, [&] {
    complete = complete && stream.run([](const StreamedCell&) {});
    std::vector<Nanoseconds> ends;
    for (std::size_t device = 0; device < schedule.rows.size(); ++device) {
      if (!schedule.rows[device].empty()) ends.push_back(stream.free()[device]);
    }
    return ends;
  });
  return complete ? period : 0;
}

}  // namespace debubble
