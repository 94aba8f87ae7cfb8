// MemoryUse: what the forward of each layer allocates and keeps, from allocation records.
//
//     bytes above entry
//        peak ->    /\   .             kept      = net at the end of the forward: for backward, and the output
//                  /  \_/ \____ net    workspace = peak - net
//        0     ___/
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "profiler/attribution/instances.hpp"
#include "profiler/attribution/slot.hpp"
#include "sim/core/units.hpp"

namespace debubble::attribution {

class MemoryUse {
 public:
  struct Use {
    std::uint32_t instance = kNoInstance;
    Bytes net = 0;
    Bytes peak = 0;
  };

  // An allocation (> 0) or release (< 0) inside this slot; only forward work of a layer counts.
  void add(const Slot& slot, const Instances& instances, Bytes bytes) {
    if (!slot.in_layer() || slot.phase != Phase::kForward) return;
    const std::uint32_t layer = instances[slot.instance].layer;
    if (newest_.size() <= layer) newest_.resize(layer + 1, kNone);
    std::size_t& index = newest_[layer];
    if (index == kNone || uses_[index].instance != slot.instance) {
      index = uses_.size();
      uses_.push_back({slot.instance, 0, 0});
    }
    Use& use = uses_[index];
    if (__builtin_add_overflow(use.net, bytes, &use.net)) use.net = 0;  // a damaged record
    use.peak = std::max(use.peak, use.net);
  }

  // Executions in order of their first allocation.
  [[nodiscard]] const std::vector<Use>& uses() const { return uses_; }
  void clear() {
    uses_.clear();
    newest_.clear();
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<Use> uses_;
  std::vector<std::size_t> newest_;  // by layer, index into uses_
};

}  // namespace debubble::attribution
