// Files of measured kernel efficiency, `debubble.efficiency/1` (docs/models.md): which share of the peak a matrix
// product or a fused attention of exactly that shape reached, and what passes over memory took there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cost_models/transformer/kernel_time.hpp"

namespace debubble {

struct EfficiencyTable {
  std::string hardware;  // name of the preset
  std::string device;    // that was measured
  std::string source;
  std::vector<MeasuredShape> shapes;
  MeasuredPasses passes;
};

// Throws InputError with everything that is wrong.
[[nodiscard]] EfficiencyTable read_efficiency(std::string_view text, const std::string& name);

}  // namespace debubble
