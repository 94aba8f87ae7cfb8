// Schedule: for every device the order of its ops; Placement: which device holds which stage. No times in either.
//
//     1F1B, 2 devices, 3 microbatches            rows[0]  0F0 0F1 0B0 0F2 0B1 0B2
//                                                rows[1]  1F0 1B0 1F1 1B1 1F2 1B2
//
// A device runs its row strictly in order. A Schedule is complete when every microbatch runs forward once and
// completely backward once on every stage of its replica; `find_problems` (sim/rows/check.hpp) says so for input that
// we did not make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/op.hpp"

namespace debubble {

class Placement {
 public:
  Placement() = default;
  // `device` holds replicas x stages entries, replica-major.
  Placement(int replicas, int stages, std::vector<std::int32_t> device)
      : replicas_(replicas), stages_(stages), device_(std::move(device)) {}

  [[nodiscard]] int replicas() const { return replicas_; }
  [[nodiscard]] int stages() const { return stages_; }
  [[nodiscard]] std::int32_t device_of(int replica, int stage) const {
    return device_[static_cast<std::size_t>(replica) * static_cast<std::size_t>(stages_) +
                   static_cast<std::size_t>(stage)];
  }
  // False when the table does not hold replicas x stages entries; then `device_of` must not be called.
  [[nodiscard]] bool well_formed() const {
    return replicas_ >= 0 && stages_ >= 0 &&
           device_.size() == static_cast<std::size_t>(replicas_) * static_cast<std::size_t>(stages_);
  }
  friend bool operator==(const Placement&, const Placement&) = default;

 private:
  int replicas_ = 0;
  int stages_ = 0;
  std::vector<std::int32_t> device_;
};

// Whether an earlier replica has that stage on the same device: where replicas share weights, those count once.
[[nodiscard]] bool holds_before(const Placement& placement, int replica, int stage);

// Stage s on device s mod devices: the loop that every one-directional schedule uses.
[[nodiscard]] Placement loop_placement(int devices, int stages);

// The zig-zag: stage s on device s for s < devices, then back 2*devices-1-s, and so on: device 0 of two chunks holds
// the first and the last stage.
[[nodiscard]] Placement zigzag_placement(int devices, int stages);

// One activation leaving a device's memory or coming back, on the device's copy lane. Copies of a device run one at a
// time in their order, overlapping compute. An outgoing copy starts when its F has ended; the memory is free at its
// end. A returning one takes its memory when it starts, which is not before the device's cell at row position `after`
// begins; the B, I or R of its microbatch waits for its end.
struct Copy {
  enum class Way : std::uint8_t { kOut, kBack };
  Way way = Way::kOut;
  std::int32_t stage = 0;
  std::int32_t microbatch = 0;  // a piece, like an op's
  std::int32_t peer = -1;       // the device that keeps it meanwhile (BPipe); -1: the host
  std::int32_t after = -1;      // position in the device's row of the op (first of its cell); -1: none

  friend bool operator==(const Copy&, const Copy&) = default;
};

// How a schedule without a flush treats weights. It runs as a stream: an iteration's end is no barrier.
struct Asynchrony {
  enum class Versions : std::uint8_t {
    kLatest,     // F and B read whatever is newest
    kStashed,    // B reads what its F read: one copy per version in flight
    kPerBatch,   // all microbatches of an update read the version before the last (2BW): two copies
    kPredicted,  // F reads a prediction of the weights at the time of the update
  };
  Versions versions = Versions::kLatest;
  int update_every = 1;  // backward passes of a stage per optimizer step
  int extra_copies = 0;  // weight-sized buffers in addition to the versions: a predicted copy, PipeMare's correction
  bool stash_predicted = false;  // kPredicted: B reuses the prediction of its F, so predictions are kept like versions
  // kPredicted, by stage: how many updates ahead of the weights it reads an F (and a B) predicts. Empty: up to the
  // update that will apply the microbatch's gradient.
  std::vector<std::int32_t> forward_ahead{};
  std::vector<std::int32_t> backward_ahead{};

  friend bool operator==(const Asynchrony&, const Asynchrony&) = default;
};

struct Schedule {
  std::string name;
  int devices = 0;
  int stages = 0;        // of one replica
  int chunks = 1;        // stages per device and replica
  int microbatches = 0;  // m: what the user asked for
  // Pieces a microbatch is cut into (Chimera's backward halving: 2). Ops count pieces: their numbers run from 0 to
  // microbatches * pieces - 1, and each costs and holds 1/pieces of a microbatch.
  int pieces = 1;
  // True where the pieces are slices of the sequence, first tokens first: a stage runs the slices of a microbatch
  // forward in order and backward in reverse order.
  bool sliced = false;
  // What each piece of a microbatch costs and holds, relative to the others; `pieces` entries, or empty: all alike.
  std::vector<std::int64_t> piece_shares;
  // True where the members of a pair run side by side on two engines: without a duration of its own, the pair lasts as
  // long as the longer member, not as their sum.
  bool pairs_run_side_by_side = false;
  // True where replicas are only paths through the same weights (PipeDream's replicated stages): what several of them
  // put on one device counts once.
  bool replicas_share_weights = false;
  // Barriers of the output layer of a microbatch, where rows hold S and T (else 0): after all S the gradient of the
  // last stage's output is known (1), or only after all T (2).
  int vocabulary_barriers = 0;
  std::optional<Asynchrony> asynchrony;  // absent: every iteration ends with a flush
  Placement placement;
  std::vector<std::int32_t> replica_of;  // one entry per piece
  std::vector<std::vector<Op>> rows;     // one row per device
  // By device, then position in its row: the position (of a cell's first op, at most the op's own) before which the
  // receive of the op's input from another device is posted, where transfers are late. Empty: PyTorch's own places
  // (sim/rows/posted_receives.hpp).
  std::vector<std::vector<std::int32_t>> receives;
  std::vector<std::vector<Copy>> copies;                    // by device, or empty: nothing is moved away
  std::vector<std::pair<std::string, std::string>> params;  // the schedule's own parameters, as used
  std::vector<std::string> notes;  // what a person should know, e.g. that a framework would refuse this input

  [[nodiscard]] int total_pieces() const { return microbatches * pieces; }
  [[nodiscard]] std::size_t total_ops() const;
};

// Whether gradients of the weights are ops of their own (W).
[[nodiscard]] bool has_weight_grads(const Schedule& schedule);

}  // namespace debubble
