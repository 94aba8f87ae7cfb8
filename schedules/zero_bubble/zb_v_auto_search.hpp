// The search of zb-v-auto: the V scheduler of the zero-bubble paper's section 6 on plain numbers.
//
// Device d holds stage d (chunk 0) and stage 2p-1-d (chunk 1), so a microbatch goes down the devices, up, down again
// backward, and up. A greedy walk: a warm-up as deep as memory allows, then 2m rounds in which every device runs one I
// and at most one F; W of both chunks fill the holes in the order in which they became due. Each walk is repeated with
// what it idled as the idle time that a device may have, as long as that helps; two choices (whether a W also goes into
// holes that are too short for it, before an F and before an I) make four such searches.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/op.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// One microbatch on one chunk.
struct VChunk {
  Nanoseconds forward = 0;
  Nanoseconds input_grad = 0;
  Nanoseconds weight_grad = 0;
  Bytes activation = 0;
  Bytes held = 0;
};

struct VDevice {
  VChunk chunks[2];       // stages d and 2p-1-d
  Nanoseconds hops[2]{};  // of chunk 0 (stage d to d+1) and of chunk 1 (stage 2p-2-d to 2p-1-d): to and from device d+1
  Bytes limit = 0;

  [[nodiscard]] Nanoseconds work() const {
    Nanoseconds sum = 0;
    for (const VChunk& chunk : chunks) sum += chunk.forward + chunk.input_grad + chunk.weight_grad;
    return sum;
  }
};

struct VOp {
  OpKind kind = OpKind::kForward;
  std::int32_t chunk = 0;
  std::int32_t microbatch = 0;
};

struct VPlan {
  Nanoseconds span = 0;
  std::vector<std::vector<VOp>> orders;  // by device
};

// What a device must hold for one microbatch alone: both activations, or what is left of them while W wait. A limit
// below that cannot work; from there on there always is a plan.
[[nodiscard]] Bytes least_memory(const VDevice& device);

// The best walk of each pair of choices, one at least, the shortest first. Where memory runs out in all of them, walks
// that start a microbatch on a device only when it can also finish there.
[[nodiscard]] std::vector<VPlan> search_v_plans(const std::vector<VDevice>& devices, int microbatches);

}  // namespace debubble
