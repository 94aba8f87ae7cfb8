// Lowering with overlapped transfers: each cell becomes a node whose remote input is an edge.
//
// Devices run ahead until their next cell lacks an input, then wait for the op that makes it. Each op feeds one
// consumer only, so "is the consumer's device waiting for just this?" is all the bookkeeping there is. This is the
// inner loop of every sweep: what it needs of a stage is in one small record, what has run in another.
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "sim/engine/lowering.hpp"

#include "sim/core/at.hpp"

namespace debubble {

namespace {

class OverlappedLowering {
 public:
  explicit OverlappedLowering(const Schedule& schedule)
      : schedule_(schedule),
        lowering_(schedule),
        program_(lowering_.start(P2p::kOverlapped)),
        stages_(schedule.stages),
        pieces_(schedule.total_pieces()),
        one_replica_(schedule.placement.replicas() == 1),
        done_(lowering_.tensors() / 2),
        cursor_(schedule.rows.size(), 0),
        waits_for_(schedule.rows.size(), kNothing) {
    make_stage_records();
  }

  std::variant<Program, Deadlock> run() {
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) runnable_.push_back(device);
    while (!runnable_.empty()) {
      waking_.swap(runnable_);
      for (const std::size_t device : waking_) {
        if (!advance(device)) return has_features_ ? lower_features(schedule_) : explain_stuck(schedule_);
      }
      waking_.clear();
    }
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) {
      if (cursor_[device] != schedule_.rows[device].size()) return explain_stuck(schedule_);
    }
    if (!all_complete()) return explain_stuck(schedule_);
    return std::move(program_);
  }

 private:
  static constexpr std::int32_t kNotYet = -1;
  static constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

  // One replica's stage: where it runs, what brings its inputs (-1: it stays on the device), whom its outputs serve.
  struct StageRecord {
    std::int32_t device = 0;
    std::int32_t forward_channel = -1;
    std::int32_t gradient_channel = -1;
    std::int32_t next_device = 0;
    std::int32_t previous_device = 0;
  };
  // What has run of a (stage, piece). `gradient` is twice the node of its B or I, + 1 once the weight gradient is done
  // too: one word, for a flag of its own would be written and read back in different sizes, which stalls.
  struct Done {
    std::int32_t forward = kNotYet;
    std::int32_t gradient = kNotYet;

    [[nodiscard]] std::int32_t gradient_node() const { return gradient >> 1; }  // kNotYet stays kNotYet
    [[nodiscard]] bool has_weights() const { return gradient != kNotYet && (gradient & 1) != 0; }
  };
  enum class State { kReady, kWaiting, kFaulty, kFeature };  // kFeature: an op that this lowering does not know
  struct Input {
    std::int32_t node = -1;
    std::int32_t channel = -1;
  };

  // Where an op is, found once: its stage's record, its (stage, piece) number, its input.
  struct Site {
    const StageRecord* stage = nullptr;
    std::size_t number = 0;
    Input input;
  };

  void make_stage_records() {
    const Placement& placement = schedule_.placement;
    for (int replica = 0; replica < placement.replicas(); ++replica) {
      for (int stage = 0; stage < stages_; ++stage) {
        const std::int32_t here = placement.device_of(replica, stage);
        const std::int32_t next = stage + 1 < stages_ ? placement.device_of(replica, stage + 1) : here;
        const std::int32_t previous = stage > 0 ? placement.device_of(replica, stage - 1) : here;
        const int forward = replica * stages_ + stage - 1;
        const int gradient = (placement.replicas() + replica) * stages_ + stage;
        records_.push_back({here, previous != here ? forward : -1, next != here ? gradient : -1, next, previous});
      }
    }
  }

  // Runs device's row until it waits. False when the row is faulty.
  bool advance(std::size_t device) {
    const auto& row = schedule_.rows[device];
    std::size_t& cursor = cursor_[device];
    for (; cursor < row.size(); ++cursor) {
      const Op& op = row[cursor];
      Site site;
      State state = check(op, device, site);
      if (op.paired_with_next && (state == State::kReady || state == State::kWaiting)) {
        if (cursor + 1 >= row.size() || row[cursor + 1].paired_with_next) return false;
        if (state == State::kReady) state = emit_pair(op, row[cursor + 1], device, site);
        if (state == State::kReady) ++cursor;
      } else if (state == State::kReady) {
        const std::int32_t node = add_node(site.input, lowering_.cell(op));
        finish(op.kind, site, node);
      }
      if (state == State::kFeature) has_features_ = true;
      if (state != State::kReady) return state == State::kWaiting;
    }
    return true;
  }

  State emit_pair(const Op& op, const Op& partner, std::size_t device, const Site& first) {
    Site second;
    if (const State state = check(partner, device, second); state != State::kReady) return state;
    if (lowering_.depend_on_each_other(op, partner)) return State::kFaulty;
    const bool first_receives = first.input.node >= 0;
    const std::int32_t node =
        add_node(first_receives ? first.input : second.input, lowering_.pair_cell(program_, op, partner));
    if (first_receives && second.input.node >= 0) {
      program_.extra_inputs.push_back({node, second.input.node, second.input.channel});
      program_.reach = std::max(program_.reach, node - second.input.node);
    }
    finish(op.kind, first, node);
    finish(partner.kind, second, node);
    return State::kReady;
  }

  std::int32_t add_node(const Input& input, std::uint32_t cell) {
    const auto node = static_cast<std::int32_t>(program_.nodes.size());
    program_.nodes.push_back({input.node, cell});
    if (input.node >= 0) program_.reach = std::max(program_.reach, node - input.node);
    return node;
  }

  [[nodiscard]] const StageRecord& record(const Op& op) const {
    const std::int32_t replica = one_replica_ ? 0 : at(schedule_.replica_of, op.microbatch);
    return at(records_, replica * stages_ + op.stage);
  }

  // Whether the op may run now; if so, where it is and what it receives.
  State check(const Op& op, std::size_t device, Site& site) {
    if (op.kind >= OpKind::kRecompute) return State::kFeature;
    const bool known = static_cast<std::uint32_t>(op.stage) < static_cast<std::uint32_t>(stages_) &&
                       static_cast<std::uint32_t>(op.microbatch) < static_cast<std::uint32_t>(pieces_);
    if (!known) return State::kFaulty;
    const StageRecord& stage = record(op);
    if (static_cast<std::size_t>(stage.device) != device) return State::kFaulty;
    const std::size_t here = lowering_.number(op);
    site.stage = &stage;
    site.number = here;
    const Done& done = done_[here];
    const auto pieces = static_cast<std::size_t>(pieces_);
    if (op.kind == OpKind::kForward) {
      if (done.forward != kNotYet) return State::kFaulty;
      if (source_stage(OpKind::kForward, op.stage, stages_) < 0) return State::kReady;
      return take(done_[here - pieces].forward, stage.forward_channel, 2 * (here - pieces), device, site.input);
    }
    if (makes_input_gradient(op.kind)) {
      if (done.forward == kNotYet || done.gradient != kNotYet) return State::kFaulty;
      if (source_stage(OpKind::kInputGrad, op.stage, stages_) < 0) return State::kReady;  // a B's is the same
      return take(done_[here + pieces].gradient_node(), stage.gradient_channel, 2 * (here + pieces) + 1, device,
                  site.input);
    }
    return done.gradient == kNotYet || done.has_weights() ? State::kFaulty : State::kReady;  // W
  }

  // The rows' own order already speaks for what stays on the device (channel -1).
  State take(std::int32_t maker, std::int32_t channel, std::size_t event, std::size_t device, Input& input) {
    if (maker == kNotYet) {
      waits_for_[device] = event;
      return State::kWaiting;
    }
    if (channel >= 0) input = {maker, channel};
    return State::kReady;
  }

  void finish(OpKind kind, const Site& site, std::int32_t node) {
    Done& done = done_[site.number];
    if (kind == OpKind::kForward) {
      done.forward = node;
      wake(site.stage->next_device, 2 * site.number);
    } else if (makes_input_gradient(kind)) {
      done.gradient = 2 * node + (makes_weight_gradient(kind) ? 1 : 0);
      wake(site.stage->previous_device, 2 * site.number + 1);
    } else {
      done.gradient |= 1;
    }
  }

  void wake(std::int32_t device, std::size_t event) {
    std::size_t& waits_for = at(waits_for_, device);
    if (waits_for != event) return;
    waits_for = kNothing;
    runnable_.push_back(static_cast<std::size_t>(device));
  }

  [[nodiscard]] bool all_complete() const {
    for (const Done& done : done_) {
      if (done.forward == kNotYet || !done.has_weights()) return false;
    }
    return true;
  }

  const Schedule& schedule_;
  Lowering lowering_;
  Program program_;
  int stages_;
  int pieces_;
  bool one_replica_;
  bool has_features_ = false;
  std::vector<StageRecord> records_;    // by replica, then stage
  std::vector<Done> done_;              // by stage, then piece
  std::vector<std::size_t> cursor_;     // by device
  std::vector<std::size_t> waits_for_;  // by device: 2 * (stage, piece) number, + 1 for its gradient
  std::vector<std::size_t> runnable_;
  std::vector<std::size_t> waking_;
};

// Whether the schedule's parts agree so far that its rows can be read at all; `explain_stuck` says what is wrong.
bool has_shape(const Schedule& schedule) {
  const Placement& placement = schedule.placement;
  const auto pieces = std::int64_t{schedule.microbatches} * schedule.pieces;
  if (schedule.devices < 1 || schedule.stages < 1 || schedule.microbatches < 1 || schedule.pieces < 1) return false;
  if (schedule.rows.size() != static_cast<std::size_t>(schedule.devices)) return false;
  if (!placement.well_formed() || placement.stages() != schedule.stages || placement.replicas() < 1) return false;
  if (schedule.replica_of.size() != static_cast<std::size_t>(pieces)) return false;
  // Each stage runs each piece at least forward and backward; anything less would only make the tables too large.
  if (static_cast<double>(pieces) * schedule.stages * 2 > static_cast<double>(schedule.total_ops())) return false;
  for (int replica = 0; replica < placement.replicas(); ++replica) {
    for (int stage = 0; stage < schedule.stages; ++stage) {
      const std::int32_t device = placement.device_of(replica, stage);
      if (device < 0 || device >= schedule.devices) return false;
    }
  }
  return std::all_of(schedule.replica_of.begin(), schedule.replica_of.end(),
                     [&](std::int32_t replica) { return replica >= 0 && replica < placement.replicas(); });
}

// A stage's slices of a microbatch, forward in order and backward in reverse; `find_problems` names what is not so.
bool slices_in_order(const Schedule& schedule) {
  const auto pieces = static_cast<std::size_t>(schedule.total_pieces());
  std::vector<unsigned char> seen(static_cast<std::size_t>(schedule.stages) * pieces, 0);  // 1: F, 2: B or I
  for (const auto& row : schedule.rows) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (!is_pipelined(row[k].kind)) continue;
      const bool forward = row[k].kind == OpKind::kForward;
      const int place = row[k].microbatch % schedule.pieces;
      const std::size_t index =
          static_cast<std::size_t>(row[k].stage) * pieces + static_cast<std::size_t>(row[k].microbatch);
      const bool first = forward ? place == 0 : place + 1 == schedule.pieces;
      const unsigned char mark = forward ? 1 : 2;
      if (!first && (seen[forward ? index - 1 : index + 1] & mark) == 0) return false;
      // The members of a pair begin together: the one before must be in an earlier cell.
      if (!first && k > 0 && row[k - 1].paired_with_next && row[k - 1].stage == row[k].stage &&
          row[k - 1].microbatch == row[k].microbatch + (forward ? -1 : 1) &&
          (row[k - 1].kind == OpKind::kForward) == forward && is_pipelined(row[k - 1].kind)) {
        return false;
      }
      seen[index] = static_cast<unsigned char>(seen[index] | mark);
    }
  }
  return true;
}

// Whether the schedule's fields alone say that the plain lowering does not do.
bool has_feature_fields(const Schedule& schedule) {
  return !schedule.copies.empty() || !schedule.piece_shares.empty() || schedule.vocabulary_barriers != 0;
}

}  // namespace

std::variant<Program, Deadlock> lower(const Schedule& schedule, P2p p2p) {
  if (!has_shape(schedule)) return explain_stuck(schedule);
  switch (p2p) {
    case P2p::kOverlapped:
      break;
    case P2p::kBlocking:
      return lower_blocking(schedule);
    case P2p::kLate:
    case P2p::kJoined:
      return lower_posted(schedule, p2p);
    case P2p::kCoupled:
    case P2p::kRendezvous:
      return lower_ordered(schedule, p2p);
  }
  if (has_feature_fields(schedule)) return lower_features(schedule);
  auto lowered = OverlappedLowering(schedule).run();
  const auto* program = std::get_if<Program>(&lowered);
  if (schedule.sliced && program != nullptr && !program->has_features && !slices_in_order(schedule)) {
    refuse_problems(schedule);
    throw std::logic_error("slices out of order that find_problems does not see");
  }
  return lowered;
}

}  // namespace debubble
