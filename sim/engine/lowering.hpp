// What the lowerings share: numbering of channels and cells, and who needs and feeds whom.
// Internal to sim/engine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/piece_share.hpp"
#include "sim/core/schedule.hpp"
#include "sim/engine/program.hpp"

namespace debubble {

// A tensor in flight between two stages: the activation of (stage, piece), or the gradient of that activation.
struct Tensor {
  bool gradient = false;
  std::int32_t stage = 0;  // the stage whose output it is; a gradient belongs to the same tensor, made one stage later
  std::int32_t piece = 0;
};

class Lowering {
 public:
  // How much a schedule's cells may differ: kPlain looks at the schedule's fields only, kFeatures also at its rows.
  enum class Scan { kPlain, kFeatures };
  explicit Lowering(const Schedule& schedule, Scan scan = Scan::kPlain);

  // The tensor an op takes from the neighbouring stage; false when it takes none (first F, last B or I, any W), or is
  // no part of that exchange (a shard's S: see shard_channel).
  [[nodiscard]] bool input_of(const Op& op, Tensor& tensor) const {
    if (!is_pipelined(op.kind)) return false;
    const bool gradient = makes_input_gradient(op.kind);
    tensor = {gradient, gradient ? op.stage : op.stage - 1, op.microbatch};
    return source_stage(op.kind, op.stage, stages_) >= 0;
  }
  // The tensor an op makes for the neighbouring stage; false when it makes none.
  [[nodiscard]] bool output_of(const Op& op, Tensor& tensor) const {
    if (!is_pipelined(op.kind)) return false;
    const bool gradient = makes_input_gradient(op.kind);
    tensor = {gradient, gradient ? op.stage - 1 : op.stage, op.microbatch};
    return target_stage(op.kind, op.stage, stages_) >= 0;
  }
  // Members of an overlapped pair run together, so neither may need what the other makes.
  [[nodiscard]] bool depend_on_each_other(const Op& a, const Op& b) const;

  [[nodiscard]] std::int32_t maker(const Tensor& t) const { return device(t, t.gradient ? t.stage + 1 : t.stage); }
  [[nodiscard]] std::int32_t user(const Tensor& t) const { return device(t, t.gradient ? t.stage : t.stage + 1); }

  // Dense numbers for tensors, activations first: index into arrays of tensors() entries.
  [[nodiscard]] std::size_t tensors() const { return 2 * gradient_offset_; }
  [[nodiscard]] std::size_t number(const Tensor& t) const {
    return (t.gradient ? gradient_offset_ : 0) + static_cast<std::size_t>(t.stage) * static_cast<std::size_t>(pieces_) +
           static_cast<std::size_t>(t.piece);
  }
  // Dense numbers for (stage, piece).
  [[nodiscard]] std::size_t number(const Op& op) const {
    return static_cast<std::size_t>(op.stage) * static_cast<std::size_t>(pieces_) +
           static_cast<std::size_t>(op.microbatch);
  }

  [[nodiscard]] std::int32_t channel(const Tensor& t) const {
    const int replica_index = at(schedule_.replica_of, t.piece);
    const int index = ((t.gradient ? schedule_.placement.replicas() : 0) + replica_index) * stages_ + t.stage;
    return plain_ ? index : shares_.class_of(t.piece) * channels_per_class() + index;
  }
  // By which the last stage's output reaches a device's shard of the vocabulary.
  [[nodiscard]] std::int32_t shard_channel(const Op& op) const {
    return shares_.classes() * channels_per_class() + shares_.class_of(op.microbatch) * schedule_.devices + op.stage;
  }

  // Index in program.cells of one op's cell. Cells of single ops are ordered by kind, replica and stage.
  [[nodiscard]] std::uint32_t cell(const Op& op) const {
    const std::uint32_t index =
        (static_cast<std::uint32_t>(op.kind) * static_cast<std::uint32_t>(schedule_.placement.replicas()) +
         static_cast<std::uint32_t>(replica(op))) *
            static_cast<std::uint32_t>(stages_) +
        static_cast<std::uint32_t>(op.stage);
    return plain_ ? index : feature_cell(op, index);
  }
  [[nodiscard]] bool is_recomputed(const Op& op) const { return !recomputed_.empty() && recomputed_[number(op)]; }
  // The same for an overlapped pair, whose cell is made when it first appears.
  std::uint32_t pair_cell(Program& program, const Op& op, const Op& partner);

  // A program with its tables filled and no nodes yet, but room for them.
  [[nodiscard]] Program start(P2p p2p) const;

 private:
  [[nodiscard]] int replica(const Op& op) const { return at(schedule_.replica_of, op.microbatch); }
  [[nodiscard]] std::int32_t device(const Tensor& t, int stage) const {
    return schedule_.placement.device_of(at(schedule_.replica_of, t.piece), stage);
  }

  // Whole blocks of cells for each class of pieces, once more for those that are recomputed; then those of S and T.
  [[nodiscard]] std::uint32_t feature_cell(const Op& op, std::uint32_t index) const;
  [[nodiscard]] std::uint32_t cells_in_block() const {
    return static_cast<std::uint32_t>(kStageKinds * schedule_.placement.replicas() * stages_);
  }
  [[nodiscard]] std::int32_t channels_per_class() const { return 2 * schedule_.placement.replicas() * stages_; }
  void find_recomputed();
  void add_channels(Program& program) const;
  void add_cells(Program& program) const;
  void add_shards(Program& program) const;
  // How the input of that op arrives from another device; -1 when there is none or it stays on the device.
  [[nodiscard]] std::int32_t input_channel(const Program& program, OpKind kind, int replica, int stage) const;

  // Nodes are numbered in 31 bits, with one to spare; held modes add at most one transfer per op.
  static constexpr std::size_t kMostNodes = std::size_t{1} << 29;
  static constexpr int kStageKinds = static_cast<int>(OpKind::kRecompute) + 1;

  const Schedule& schedule_;
  int stages_;
  int pieces_;  // all pieces of all microbatches
  std::size_t gradient_offset_;
  bool plain_;                    // no op differs from another of its kind, replica and stage
  PieceShares shares_;            // not plain only
  bool has_shards_ = false;       // rows hold S and T
  std::vector<bool> recomputed_;  // by (stage, piece); empty: none is
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> pair_cells_;  // by the cells of the two ops, and in_sequence
};

// Throws InputError with everything that is wrong with the schedule, or returns its deadlock. Called when lowering got
// stuck; throws std::logic_error when nothing is wrong after all.
[[nodiscard]] Deadlock explain_stuck(const Schedule& schedule);
// The first half of that: throws, or returns when nothing is wrong with the rows.
void refuse_problems(const Schedule& schedule);

// Schedules with more than F, B, I and W of equal pieces (lower_features.cpp), overlapped transfers.
[[nodiscard]] std::variant<Program, Deadlock> lower_features(const Schedule& schedule);

// The modes in which transfers are nodes (lower_held.cpp, lower_placed.cpp).
[[nodiscard]] std::variant<Program, Deadlock> lower_blocking(const Schedule& schedule);
// Late or joined.
[[nodiscard]] std::variant<Program, Deadlock> lower_posted(const Schedule& schedule, P2p p2p);
// Coupled or rendezvous.
[[nodiscard]] std::variant<Program, Deadlock> lower_ordered(const Schedule& schedule, P2p p2p);

}  // namespace debubble
