// HostRange: one range of a thread as a profiler of the host reports it, with its end known.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/units.hpp"

namespace debubble {

struct HostRange {
  std::string name;   // "aten::mm", "debubble.layer:blocks.3", "autograd::engine::evaluate_function: MmBackward0"
  std::string sizes;  // dimensions of the inputs, "[[8, 512], [512, 64]]"; empty: not recorded
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::int64_t sequence = -1;        // autograd sequence number; -1: none
  std::uint32_t thread = 0;          // PyTorch's own number, from 1
  std::uint32_t forward_thread = 0;  // of the forward op of that number; 0: not known
};

}  // namespace debubble
