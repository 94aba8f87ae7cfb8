// Lowering of schedules with more than F, B, I and W of equal pieces: recomputation, unequal pieces, shards of the
// vocabulary, copies. Slower than the plain one, and it checks everything first: the order of cells is a replay's.
//
//     copies overlap compute        device 0  F0  F1  F2 ...  F5  B0     the copy back of F0 may start when F5 begins
//                                   copies    .  out0 out1 ..   back0    (`after`), and B0 waits for its end
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "sim/engine/lowering.hpp"
#include "sim/rows/op_index.hpp"
#include "sim/rows/row_replay.hpp"

namespace debubble {

namespace {

using Wait = Program::ExtraInput::Wait;

class FeatureLowering {
 public:
  explicit FeatureLowering(const Schedule& schedule)
      : schedule_(schedule),
        ops_(schedule),
        lowering_(schedule, Lowering::Scan::kFeatures),
        program_(lowering_.start(P2p::kOverlapped)),
        node_of_(at(ops_.size()), kNone),
        returned_(schedule.copies.empty() ? 0 : at(ops_.size()), kNone),
        next_copy_(schedule.copies.size(), 0) {}

  std::variant<Program, Deadlock> run() {
    RowReplay replay(ops_);
    replay.run([&](std::int32_t begin, std::int32_t end) { emit_cell(begin, end); });
    if (auto deadlock = replay.deadlock()) return *deadlock;
    return std::move(program_);
  }

 private:
  static constexpr std::int32_t kNone = -1;
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  void emit_cell(std::int32_t begin, std::int32_t end) {
    const Op& op = ops_.op(begin);
    const bool paired = end - begin == 2;
    const auto node = add_node(paired ? lowering_.pair_cell(program_, op, ops_.op(begin + 1)) : lowering_.cell(op));
    for (std::int32_t id = begin; id < end; ++id) take_feeder(node, id);
    for (std::int32_t id = begin; id < end; ++id) take_gathered(node, id);
    for (std::int32_t id = begin; id < end; ++id) take_copy(node, id);
    for (std::int32_t id = begin; id < end; ++id) node_of_[at(id)] = node;
    if (!schedule_.copies.empty()) advance_copies(ops_.device(begin));
  }

  std::int32_t add_node(std::uint32_t cell) {
    program_.nodes.push_back({kNone, cell});
    return static_cast<std::int32_t>(program_.nodes.size()) - 1;
  }

  void add_input(std::int32_t node, std::int32_t input, std::int32_t what, Wait wait) {
    program_.extra_inputs.push_back({node, input, what, wait});
    program_.reach = std::max(program_.reach, node - input);
  }

  // What another device sends: the first of a cell's inputs is kept in the node itself.
  void take_feeder(std::int32_t node, std::int32_t id) {
    const Op& op = ops_.op(id);
    const std::int32_t feeder = ops_.feeder(op);
    if (feeder < 0 || ops_.device(feeder) == ops_.device(id)) return;
    const std::int32_t maker = node_of_[at(feeder)];
    Program::Node& target = program_.nodes[at(node)];
    if (target.input == kNone) {
      target.input = maker;
      program_.reach = std::max(program_.reach, node - maker);
    } else {
      add_input(node, maker, channel_to(op), Wait::kArrival);
    }
  }

  [[nodiscard]] std::int32_t channel_to(const Op& op) const {
    Tensor tensor;
    return lowering_.input_of(op, tensor) ? lowering_.channel(tensor) : lowering_.shard_channel(op);
  }

  void take_gathered(std::int32_t node, std::int32_t id) {
    const Op& op = ops_.op(id);
    const bool after_gradients = ops_.gathers(op) == OpKind::kVocabularyGradient;
    const std::int32_t barrier = op.microbatch + (after_gradients ? schedule_.total_pieces() : 0);
    for (const std::int32_t shard : ops_.gathered(op)) add_input(node, node_of_[at(shard)], barrier, Wait::kGathered);
  }

  // R, B and I wait for their activation's return, unless an earlier op has.
  void take_copy(std::int32_t node, std::int32_t id) {
    const Op& op = ops_.op(id);
    if (!needs(op.kind, OpKind::kForward) || returned_.empty()) return;
    std::int32_t& copy = returned_[at(ops_.find(OpKind::kForward, op.stage, op.microbatch))];
    if (copy != kNone) add_input(node, copy, kNone, Wait::kEnd);
    copy = kNone;
  }

  // Emits the device's copies up to the first that waits for a cell which has not been emitted.
  void advance_copies(std::int32_t device) {
    const auto& lane = schedule_.copies[at(device)];
    for (std::size_t& next = next_copy_[at(device)]; next < lane.size(); ++next) {
      const Copy& copy = lane[next];
      const std::int32_t forward = ops_.find(OpKind::kForward, copy.stage, copy.microbatch);
      const bool leaves = copy.way == Copy::Way::kOut;
      const std::int32_t awaited = leaves ? forward : copy.after < 0 ? kNone : ops_.row_begin(device) + copy.after;
      if (awaited != kNone && node_of_[at(awaited)] == kNone) return;
      const std::int32_t node = add_node(copy_cell(ops_.op(forward), device, copy.way));
      if (awaited != kNone) add_input(node, node_of_[at(awaited)], kNone, leaves ? Wait::kEnd : Wait::kBegin);
      program_.copies.push_back({node, device, copy.peer});
      if (!leaves) returned_[at(forward)] = node;
    }
  }

  std::uint32_t copy_cell(const Op& forward, std::int32_t device, Copy::Way way) {
    const auto next = static_cast<std::uint32_t>(program_.cells.size());
    const std::uint32_t base = lowering_.cell(forward);
    const auto [found, is_new] = copy_cells_.try_emplace({base, way == Copy::Way::kOut ? 0U : 1U}, next);
    if (is_new) {
      Program::Cell cell = program_.cells[base];
      cell.device = device + schedule_.devices;
      cell.input_channel = -1;
      cell.is_copy = true;
      cell.way = way;
      program_.cells.push_back(cell);
    }
    return found->second;
  }

  const Schedule& schedule_;
  OpIndex ops_;
  Lowering lowering_;
  Program program_;
  std::vector<std::int32_t> node_of_;   // by op
  std::vector<std::int32_t> returned_;  // by F: the node of its activation's copy back, until an op waits for it
  std::vector<std::size_t> next_copy_;  // by device
  std::map<std::array<std::uint32_t, 2>, std::uint32_t> copy_cells_;  // by the F's cell and the direction
};

}  // namespace

std::variant<Program, Deadlock> lower_features(const Schedule& schedule) {
  refuse_problems(schedule);
  return FeatureLowering(schedule).run();
}

}  // namespace debubble
