// Megatron-LM's arguments that say in which formats numbers are kept and multiplied, as debubble's flags.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "formats/megatron/arguments.hpp"

namespace debubble {

struct MegatronNumberFormats {
  std::vector<std::pair<std::string, std::string>> flags;
  // DeepSpeed's BF16_Optimizer, which takes over below ZeRO-1, shards its state all the same, and keeps 16-bit
  // gradients beside its 32-bit sums.
  bool deepspeed_bf16 = false;
};

// What cannot be said exactly becomes a finding of the arguments.
[[nodiscard]] MegatronNumberFormats number_formats(MegatronArguments& arguments);

}  // namespace debubble
