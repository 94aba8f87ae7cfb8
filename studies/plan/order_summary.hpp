// OrderSummary: what the bounds of a run need to know of its order: how often each device runs what, and what it holds
// when it holds most. Made once for all runs of an order, whatever their costs.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/op.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

// Cells of a device that cost the same.
struct CellCount {
  OpKind kind = OpKind::kForward;
  std::int32_t stage = 0;
  bool paired = false;  // then with this one:
  OpKind partner_kind = OpKind::kForward;
  std::int32_t partner_stage = 0;
  std::int64_t count = 0;
};

// What a device holds while one of its ops runs, in pieces of a microbatch.
struct HeldMoment {
  struct Stage {
    std::int32_t stage = 0;
    std::int64_t activations = 0;   // forward, and not yet backward
    std::int64_t weight_grads = 0;  // between I and W
  };
  std::vector<Stage> stages;
  std::int32_t running = -1;  // the stage whose op runs; -1: none is known
};

struct HeldStage {
  std::int32_t stage = 0;
  bool states = true;  // weights, gradients and optimizer of its own; false: those of another replica on the device
  std::int32_t replica = 0;
};

struct DeviceSummary {
  std::vector<HeldStage> stages;
  std::vector<CellCount> cells;
  std::vector<HeldMoment> moments;  // those with most activations, and with most of both kinds
};

struct OrderSummary {
  int microbatches = 0;
  int pieces = 1;
  int replicas = 1;
  bool even_pieces = true;
  bool split_backward = false;
  bool side_by_side = false;  // pairs last as long as the longer member
  bool has_pairs = false;
  bool planned = false;  // by costs: others may order, and split, the same ops in another way
  std::vector<DeviceSummary> by_device;
};

// Where activations leave the device meanwhile, or are made again, no moments are told, but those of stages from
// `first_held` on, which stay in any order of its kind; of earlier ones nothing is then counted as held. `may_split`:
// with more microbatches the order may split backwards that it leaves whole with these.
[[nodiscard]] OrderSummary summarise(const Schedule& schedule, bool may_split = false, std::int32_t first_held = 0);

}  // namespace debubble
