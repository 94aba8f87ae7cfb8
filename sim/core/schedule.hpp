// Schedule: for every device the order of its ops; Placement: which device holds which stage. No times in either.
//
//     1F1B, 2 devices, 3 microbatches            rows[0]  0F0 0F1 0B0 0F2 0B1 0B2
//                                                rows[1]  1F0 1B0 1F1 1B1 1F2 1B2
//
// A device runs its row strictly in order. A Schedule is complete when every microbatch runs forward once and
// completely backward once on every stage of its replica; `find_problems` (sim/core/check.hpp) says so for input that
// we did not make.
#pragma once

#include <cstddef>
#include <cstdint>
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

// Stage s on device s mod devices: the loop that every one-directional schedule uses.
[[nodiscard]] Placement loop_placement(int devices, int stages);

struct Schedule {
  std::string name;
  int devices = 0;
  int stages = 0;        // of one replica
  int chunks = 1;        // stages per device and replica
  int microbatches = 0;  // m: what the user asked for
  // Pieces a microbatch is cut into (Chimera's backward halving: 2). Ops count pieces: their numbers run from 0 to
  // microbatches * pieces - 1, and each costs and holds 1/pieces of a microbatch.
  int pieces = 1;
  Placement placement;
  std::vector<std::int32_t> replica_of;                     // one entry per piece
  std::vector<std::vector<Op>> rows;                        // one row per device
  std::vector<std::pair<std::string, std::string>> params;  // the schedule's own parameters, as used
  std::vector<std::string> notes;  // what a person should know, e.g. that a framework would refuse this input

  [[nodiscard]] int total_pieces() const { return microbatches * pieces; }
  [[nodiscard]] std::size_t total_ops() const;
};

}  // namespace debubble
