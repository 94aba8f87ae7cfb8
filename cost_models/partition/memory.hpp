// The cut that minds memory: the fastest whose stages fit their devices.
//
// Where a device has one stage, under 1F1B, the first stage holds as many microbatches as there are stages, the last
// one: a cut that balances time may not fit the first device while the last has room.
#pragma once

#include <cstddef>
#include <vector>

#include "cost_models/partition/held_counts.hpp"
#include "cost_models/partition/partition.hpp"

namespace debubble {

// A stage made of consecutive layers: what it takes in time, what it takes in memory all the time, and for each piece.
struct RangeCost {
  Nanoseconds time = 0;
  Bytes states = 0;   // weights, gradients and optimizer, other versions of the weights included
  Bytes buffers = 0;  // the largest of a device's stages counts
  Bytes activation = 0;
  Bytes weight_grad = 0;
  Bytes checkpoint = 0;
  Bytes workspace = 0;
};

// Of layers begin to end, end not included.
class RangeCosts {
 public:
  // `from[b][n]`: of n + 1 layers from layer b on.
  explicit RangeCosts(std::vector<std::vector<RangeCost>> from) : from_(std::move(from)) {}
  [[nodiscard]] int layers() const { return static_cast<int>(from_.size()); }
  [[nodiscard]] const RangeCost& operator()(int begin, int end) const {
    return from_[static_cast<std::size_t>(begin)][static_cast<std::size_t>(end - begin - 1)];
  }

 private:
  std::vector<std::vector<RangeCost>> from_;
};

struct MemoryCutJob {
  std::vector<const RangeCosts*> by_stage;  // all of as many layers
  std::vector<DeviceHolds> devices;
  std::vector<Bytes> rooms;  // by device
  std::vector<int> start;    // the cut that balances time, layers per stage
};

// `start` where that fits. Else the cut into non-empty stages whose slowest stage is the fastest of all that fit, of
// several such cuts one with the least sum of squared stage times; where none fits, one that lacks least on the device
// that lacks most. Where each device holds one stage (of one replica), this is exact, in time O(stages * layers^2).
// Where devices hold several, the result is sound but may not be the best: it fits if it says so, and lacks no more
// than `start`; it is found from `start` and from exact cuts with the devices' memory dealt to their stages, by moving
// single layers.
[[nodiscard]] LayerCut memory_partition(const MemoryCutJob& job);

}  // namespace debubble
