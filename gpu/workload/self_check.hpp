// Are the workload's numbers right on this device? Every layer's forward, input-gradient and weight-gradient pass, and
// a small model of all of them, against a reference in float64 (reference.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "gpu/workload/device.hpp"

namespace debubble {

struct NumberCheck {
  std::string what;      // "gpt block, tp 2: qkv.weight_grad"
  double error = 0;      // largest, relative to the root mean square of the right numbers
  double tolerance = 0;  // follows from the data type
  bool ok = false;
};

// GPT and LLaMA shapes (grouped heads, gated activation), whole and as a half of a tensor-parallel pair. About a
// second on a GPU. `stop_at_failure` leaves out the layers after one that failed. Throws what WorkDevice throws.
[[nodiscard]] std::vector<NumberCheck> check_workload(WorkDevice& device, DataType type, bool stop_at_failure = false);

[[nodiscard]] bool all_ok(std::span<const NumberCheck> checks);

// The comparison that it uses: not a number anywhere is an infinite error; where all right numbers are zero the error
// is absolute.
[[nodiscard]] double largest_error(const std::vector<double>& found, const std::vector<double>& right);

}  // namespace debubble
