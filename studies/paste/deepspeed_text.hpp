// DeepSpeed's configuration of keys by path.
#pragma once

#include <string>
#include <vector>

#include "studies/paste/paste.hpp"

namespace debubble {

// {"zero_optimization.stage", {"1"}} becomes {"zero_optimization": {"stage": 1}}: a value is JSON already.
[[nodiscard]] std::string deepspeed_json(const std::vector<PastedFlag>& keys);

}  // namespace debubble
