// Interference: devices that share a GPU slow each other down, the more of them work at once (StageCosts::at_work).
// Internal to sim/engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/stage_costs.hpp"
#include "sim/engine/program.hpp"

namespace debubble {

class Interference {
 public:
  Interference(const Program& program, const StageCosts& costs);

  [[nodiscard]] bool any() const { return !factors_.empty(); }
  // What an op of the cell takes while so many devices work, its own included, over what it takes while all do.
  [[nodiscard]] double factor(std::size_t cell, std::int32_t at_work) const {
    return factors_[static_cast<std::size_t>(at_work - 1) * cells_ + cell];
  }

 private:
  std::size_t cells_ = 0;
  std::vector<double> factors_;  // by number of devices at work, then cell
};

}  // namespace debubble
