// Lowering with overlapped transfers: each cell becomes a node whose remote input is an edge.
//
// Devices run ahead until their next cell lacks an input, then wait for the op that makes it. Each op feeds one
// consumer only, so "is the consumer's device waiting for just this?" is all the bookkeeping there is.
#include <cstddef>
#include <utility>

#include "sim/engine/lowering.hpp"

namespace debubble {

namespace {

constexpr std::int32_t kNotYet = -1;

class OverlappedLowering {
 public:
  explicit OverlappedLowering(const Schedule& schedule)
      : schedule_(schedule),
        lowering_(schedule),
        program_(lowering_.start(P2p::kOverlapped)),
        maker_node_(lowering_.tensors(), kNotYet),
        done_(lowering_.tensors() / 2, 0),
        cursor_(schedule.rows.size(), 0),
        waits_for_(schedule.rows.size(), kNothing) {}

  std::variant<Program, Deadlock> run() {
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) runnable_.push_back(device);
    for (std::size_t head = 0; head < runnable_.size(); ++head) {
      if (!advance(runnable_[head])) return explain_stuck(schedule_);
      if (head > kCompactAt) {  // the queue is a vector: drop what has been served now and then
        runnable_.erase(runnable_.begin(), runnable_.begin() + static_cast<std::ptrdiff_t>(head) + 1);
        head = static_cast<std::size_t>(-1);
      }
    }
    if (program_.ops.size() + program_.partners.size() != schedule_.total_ops() || !all_complete()) {
      return explain_stuck(schedule_);
    }
    return std::move(program_);
  }

 private:
  static constexpr std::size_t kNothing = static_cast<std::size_t>(-1);
  static constexpr std::size_t kCompactAt = 1U << 16;
  // What has run of a (stage, piece).
  static constexpr unsigned char kForwardDone = 1;
  static constexpr unsigned char kInputGradDone = 2;
  static constexpr unsigned char kWeightGradDone = 4;
  static constexpr unsigned char kAllDone = 7;

  // Runs device's row until it waits. False when the row is faulty.
  bool advance(std::size_t device) {
    const auto& row = schedule_.rows[device];
    while (cursor_[device] < row.size()) {
      const Op& op = row[cursor_[device]];
      const bool paired = op.paired_with_next;
      if (paired && (cursor_[device] + 1 >= row.size() || row[cursor_[device] + 1].paired_with_next)) return false;
      const Op* partner = paired ? &row[cursor_[device] + 1] : nullptr;
      if (!lowering_.is_placed(op, static_cast<int>(device))) return false;
      if (partner != nullptr && !lowering_.is_placed(*partner, static_cast<int>(device))) return false;
      if (partner != nullptr && lowering_.depend_on_each_other(op, *partner)) return false;
      if (!has_inputs(op, device) || (partner != nullptr && !has_inputs(*partner, device))) return true;
      if (!mark_done(op) || (partner != nullptr && !mark_done(*partner))) return false;
      emit(op, partner, static_cast<std::int32_t>(device));
      cursor_[device] += paired ? 2 : 1;
    }
    return true;
  }

  bool has_inputs(const Op& op, std::size_t device) {
    Tensor tensor;
    if (!lowering_.input_of(op, tensor)) return true;
    const std::size_t number = lowering_.number(tensor);
    if (maker_node_[number] != kNotYet) return true;
    waits_for_[device] = number;
    return false;
  }

  // False when the op comes twice, or before what it needs on its own stage.
  bool mark_done(const Op& op) {
    unsigned char& state = done_[lowering_.number(op)];
    unsigned char before = 0;
    unsigned char adds = 0;
    switch (op.kind) {
      case OpKind::kForward:
        adds = kForwardDone;
        break;
      case OpKind::kBackward:
        before = kForwardDone, adds = kInputGradDone | kWeightGradDone;
        break;
      case OpKind::kInputGrad:
        before = kForwardDone, adds = kInputGradDone;
        break;
      case OpKind::kWeightGrad:
        before = kForwardDone | kInputGradDone, adds = kWeightGradDone;
        break;
    }
    if (state != before) return false;
    state = static_cast<unsigned char>(state | adds);
    return true;
  }

  void emit(const Op& op, const Op* partner, std::int32_t device) {
    const auto node = static_cast<std::int32_t>(program_.nodes.size());
    program_.nodes.push_back({-1, -1, lowering_.cell(program_, op, partner), device});
    program_.ops.push_back(op);
    add_input(op, node);
    if (partner != nullptr) {
      program_.partners.push_back(*partner);
      add_input(*partner, node);
      publish(*partner, node);
    }
    publish(op, node);
  }

  void add_input(const Op& op, std::int32_t node) {
    Tensor tensor;
    if (!lowering_.input_of(op, tensor)) return;
    const std::int32_t channel = lowering_.channel(tensor);
    const auto& way = program_.channels[static_cast<std::size_t>(channel)];
    if (way.from_device == way.to_device) return;  // the row's own order already says so
    const std::int32_t input = maker_node_[lowering_.number(tensor)];
    auto& target = program_.nodes[static_cast<std::size_t>(node)];
    if (target.input < 0) {
      target.input = input;
      target.channel = channel;
    } else {
      program_.second_inputs.push_back({node, input, channel});
    }
  }

  void publish(const Op& op, std::int32_t node) {
    Tensor tensor;
    if (!lowering_.output_of(op, tensor)) return;
    const std::size_t number = lowering_.number(tensor);
    maker_node_[number] = node;
    const auto user = static_cast<std::size_t>(lowering_.user(tensor));
    if (waits_for_[user] != number) return;
    waits_for_[user] = kNothing;
    if (user != static_cast<std::size_t>(program_.nodes[static_cast<std::size_t>(node)].device)) {
      runnable_.push_back(user);
    }
  }

  [[nodiscard]] bool all_complete() const {
    for (const unsigned char state : done_) {
      if (state != kAllDone) return false;
    }
    return true;
  }

  const Schedule& schedule_;
  Lowering lowering_;
  Program program_;
  std::vector<std::int32_t> maker_node_;  // by tensor
  std::vector<unsigned char> done_;       // by (stage, piece)
  std::vector<std::size_t> cursor_;       // by device
  std::vector<std::size_t> waits_for_;    // by device: number of the missing tensor
  std::vector<std::size_t> runnable_;
};

}  // namespace

std::variant<Program, Deadlock> lower(const Schedule& schedule, P2p p2p) {
  switch (p2p) {
    case P2p::kOverlapped:
      break;
    case P2p::kBlocking:
      return lower_blocking(schedule);
    case P2p::kCoupled:
      return lower_coupled(schedule);
  }
  return OverlappedLowering(schedule).run();
}

}  // namespace debubble
