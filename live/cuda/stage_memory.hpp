// StageMemory: what one microbatch holds on a stage, by how long it is held, and where in an arena all microbatches of
// a device's row find room.
//
//     F ......... B or I ......... W
//     |until backward|                      kept for the input gradient only
//     |until weight grad ............|      kept for both
//              |held until weight ...|      made by the input gradient, needed by the weight gradient
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "live/cuda/arena.hpp"
#include "sim/core/op.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/units.hpp"

namespace debubble::live {

inline constexpr std::size_t kRegions = 3;
enum class Region : std::uint8_t { kUntilBackward, kUntilWeightGrad, kHeld };

// Of one piece on one stage. `counted` sizes include the inputs that arrive from other stages in buffers of their own.
struct StageFootprint {
  std::array<Bytes, kRegions> regions{};  // in the arena
  Bytes activation = 0;                   // counted from the start of F to the end of B or I
  Bytes weight_grad_held = 0;             // counted from the end of I to the end of W
};

struct RowMemory {
  // By (stage, piece): offset of each region.
  std::map<std::pair<std::int32_t, std::int32_t>, std::array<Bytes, kRegions>> places;
  Bytes extent = 0;           // of the arena
  Bytes high_water = 0;       // most bytes live in it at once
  Bytes peak_activation = 0;  // most counted at once, activations and what is held
};

// Walks one device's row. Members of an overlapped pair are live together.
[[nodiscard]] RowMemory plan_row_memory(const std::vector<Op>& row, const std::vector<StageFootprint>& stages);

}  // namespace debubble::live
